package bench

import (
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/internal/build"
	"github.com/goatnote-inc/pawl/measure"
)

// unchanged returns an error if a build output or a harness file of a side, or a launcher, is not
// what was built. All are read: a process can set the times of a file back, and one that is mapped
// into memory changes without its times being set at once.
func (r *run) unchanged(s side) error {
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

// same returns an error if one of the files below dir has another content. Sides of one folder may
// build the same file in turn: the last has it.
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
