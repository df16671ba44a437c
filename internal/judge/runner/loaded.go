package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

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
