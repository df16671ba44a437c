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

// patience is how long anything may take on a machine that is busy.
const patience = 3 * time.Minute

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

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}
