package runner

import (
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/measure"
)

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
