package runner

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// setupIsolation checks whether the processes of the sides can be isolated from each other. Launchers do
// not need this: they run the code of a change in an unprivileged process.
func (r *Setup) setupIsolation(ctx context.Context) error {
	if r.checked() || len(r.sides) < 2 || os.Getenv(build.SandboxVariable) == "never" {
		return nil
	}
	apart, err := build.FindIsolation(ctx)
	switch {
	case err == nil:
	case r.trust() == measure.SelfTimed:
		return err
	default:
		r.warn("apart", "each side could access the processes and files of the other: %v", err)
		return nil
	}
	r.isolation = apart
	if repo, err := build.Open(ctx, r.Dir); err == nil {
		r.locked = append(r.locked, repo.Metadata())
	}
	if dir, err := build.CacheDir(); err == nil {
		r.locked = append(r.locked, dir)
	}
	if dir, err := filepath.Abs(r.Builds); err == nil && r.Builds != "" {
		r.locked = append(r.locked, dir)
	}
	return nil
}

// isolate isolates a command of a side. Files that it could gain from changing are read-only for
// it: the trees of the other sides, git's files, and what pawl keeps for later runs.
func (r *Setup) isolate(s side, c *harness.Command) {
	if r.isolation == nil {
		return
	}
	own := []string{os.TempDir()} // may be inside a read-only tree
	locked := slices.Clone(r.locked)
	if s.root != "" {
		own = append(own, s.root)
	}
	for _, other := range r.sides {
		if other.root != "" && other.root != s.root {
			locked = append(locked, other.root)
		}
	}
	c.Confine = func(cmd *exec.Cmd) (func(), error) { return r.isolation.Confine(cmd, own, locked) }
}

// unchanged returns an error if a build output or a harness file of a side, or a launcher, differs
// from what was built. It reads all files: a process can set file times back, and writes through a
// memory mapping do not update them at once.
func (r *Setup) unchanged(s side) error {
	var files []measure.FileDigest
	for _, other := range r.sides {
		if other.dir == s.dir {
			files = slices.Concat(files, other.impl.Build.Outputs, other.impl.Harness.Files)
		}
	}
	if err := same(s.dir, files, "of the "+s.name); err != nil {
		return err
	}
	for _, l := range r.launchers {
		if err := same(l.dir, l.files, "of pawl"); err != nil {
			return err
		}
	}
	return nil
}

// same returns an error if the content of one of the files below dir differs. Sides in one folder
// may build the same file in turn: the last one's counts.
func same(dir string, files []measure.FileDigest, whose string) error {
	want := map[string][]string{}
	for _, f := range files {
		want[f.Path] = append(want[f.Path], f.Digest)
	}
	file, err := build.Changed(dir, want)
	if err == nil && file != "" {
		err = fmt.Errorf("%s %s changed since it was built", file, whose)
	}
	return err
}

// loads holds the code files that the sides loaded from their own trees.
type loads struct {
	mu    sync.Mutex
	files map[string][]string // by side, relative to its tree
}

// loaded returns a function that records a file loaded by a side, or rejects it if it belongs to
// another side. A side without a repository has no tree and needs no check.
func (r *Setup) loaded(s side) func(string) error {
	if s.root == "" {
		return nil
	}
	return func(file string) error {
		owner := r.owner(file)
		switch {
		case owner == nil || installed(owner.root, file):
			return nil
		case owner.root != s.root:
			return fmt.Errorf("%s belongs to %s, not to %s", file, owner.tree(), s.tree())
		}
		r.loads.keep(s.name, filepath.ToSlash(within(s.root, file)))
		return nil
	}
}

// owner returns the side whose tree holds a file. The innermost tree wins, because checkouts of
// commits are inside the repository.
func (r *Setup) owner(file string) *side {
	var owner *side
	for i := range r.sides {
		s := &r.sides[i]
		if s.root != "" && within(s.root, file) != "" && (owner == nil || len(s.root) > len(owner.root)) {
			owner = s
		}
	}
	return owner
}

// tree describes the tree of a side in messages.
func (s side) tree() string {
	switch s.name {
	case suite.Base, BaselineSide:
		return fmt.Sprintf("the checkout of the %s, %.12s", s.name, s.impl.Commit)
	}
	return "the working tree"
}

// installed reports whether a file was installed into a tree and is not part
// of it, as in a virtual environment.
func installed(root, file string) bool {
	for folder := range strings.SplitSeq(within(root, file), "/") {
		if slices.Contains([]string{"site-packages", "dist-packages", "node_modules"}, folder) {
			return true
		}
	}
	for dir := filepath.Dir(file); within(root, dir) != ""; dir = filepath.Dir(dir) {
		for _, mark := range []string{"pyvenv.cfg", "conda-meta"} {
			if _, err := os.Stat(filepath.Join(dir, mark)); err == nil {
				return true
			}
		}
	}
	return false
}

func (l *loads) keep(side, file string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files == nil {
		l.files = map[string][]string{}
	}
	if i, found := slices.BinarySearch(l.files[side], file); !found {
		l.files[side] = slices.Insert(l.files[side], i, file)
	}
}
