package server

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// patience is the limit of every wait. After a crash several sweeps may be needed, and they
// run every half minute.
const patience = 10 * time.Minute

var bin string // folder of the binaries

func TestMain(m *testing.M) {
	var err error
	if bin, err = os.MkdirTemp("", "pawl-crashes"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(bin)
	os.Exit(code)
}

var builds sync.Map // name of a command: func() error

// built is the path of a command that can be killed where it is told to.
func built(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(bin, name)
	once, _ := builds.LoadOrStore(name, sync.OnceValue(func() error {
		out, err := exec.Command("go", "build", "-tags", "failpoint", "-o", path, "../../cmd/"+name).CombinedOutput()
		if err != nil {
			return fmt.Errorf("building %s: %w\n%s", name, err, out)
		}
		return nil
	}))
	if err := once.(func() error)(); err != nil {
		t.Fatal(err)
	}
	return path
}
