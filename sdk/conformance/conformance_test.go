package conformance_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/goatnote-inc/pawl/sdk/conformance"
)

var command = flag.String("harness", "", "test this command instead of the SDKs of this repository; it runs in a shell")

func TestHarnesses(t *testing.T) {
	if *command != "" {
		conformance.Test(t, conformance.Harness{Command: []string{"sh", "-c", *command}})
		return
	}
	t.Run("C", func(t *testing.T) {
		conformance.Test(t, conformance.Harness{Command: []string{compile(t, "../cpp/conformance.c")}})
	})
	t.Run("Python", func(t *testing.T) {
		python, err := exec.LookPath("python3")
		if err != nil {
			t.Skip("there is no python3 here")
		}
		program, err := filepath.Abs("../python/conformance_harness.py")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{program, "../python/pawl_harness.py"} { // read, so that the go command knows what the result depends on
			if _, err := os.ReadFile(file); err != nil {
				t.Skip(err)
			}
		}
		conformance.Test(t, conformance.Harness{Command: []string{python, program}})
	})
}

func compile(t *testing.T, source string) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("there is no C compiler here: cc is not in PATH")
	}
	if _, err := os.ReadFile("../cpp/pawl.h"); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "harness")
	if out, err := exec.CommandContext(t.Context(), cc, "-O2", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("compiling %s: %v\n%s", source, err, out)
	}
	return program
}
