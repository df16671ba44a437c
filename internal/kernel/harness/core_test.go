package harness_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/goatnote-inc/pawl/internal/kernel/harness"
)

// cores returns the cores that a process may use.
func cores(t *testing.T, pid int) (set unix.CPUSet) {
	t.Helper()
	if err := unix.SchedGetaffinity(pid, &set); err != nil {
		t.Fatal(err)
	}
	return set
}

// A tree is bound with all its processes, and freed again. A process that chose its own cores keeps them.
func TestBindATree(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	freezer := new(harness.Freezer)
	defer freezer.Close()
	tree := freezer.Tree("a side")
	c := started(t, helpers["a child"], "sleep 1000", file)
	c.Tree = tree
	s, err := harness.Start(t.Context(), c, harness.Hello{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Kill()
	child, own := pidIn(t, file), cores(t, os.Getpid())
	list := harness.Cores()
	core := list[len(list)-1]
	if !tree.Bind(core) {
		t.Fatal("a tree of pawl's own processes was not bound")
	}
	if set := cores(t, child); set.Count() != 1 || !set.IsSet(core) {
		t.Errorf("the child may use %d cores, want core %d", set.Count(), core)
	}
	tree.Unbind()
	if set := cores(t, child); set != own {
		t.Errorf("the child may use %d cores after Unbind, want %d", set.Count(), own.Count())
	}
	if len(list) < 2 {
		return // there is nothing to choose
	}
	var one unix.CPUSet
	one.Set(list[0])
	if err := unix.SchedSetaffinity(child, &one); err != nil {
		t.Fatal(err)
	}
	if tree.Bind(core) || cores(t, child) != one {
		t.Error("the child's own choice was changed")
	}
}
