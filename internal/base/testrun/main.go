package testrun

import (
	"fmt"
	"os"
	"testing"
)

// WithPawl runs the tests of a package that starts the pawl binary, and returns the exit code for TestMain. Before the
// tests it passes to use the path of the binary and a folder that is removed after them.
func WithPawl(m *testing.M, use func(pawl, dir string)) int {
	dir, err := os.MkdirTemp("", "pawl-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	pawl, err := Pawl(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	use(pawl, dir)
	return m.Run()
}
