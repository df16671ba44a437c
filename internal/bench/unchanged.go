package bench

import (
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/internal/build"
)

// unchanged returns an error if a build output or a harness file of a side is not what was built. All
// are read: a process can set the times of a file back, and one that is mapped into memory changes
// without its times being set at once.
func (r *run) unchanged(s side) error {
	want := map[string][]string{}
	for _, other := range r.sides {
		if other.dir != s.dir {
			continue
		}
		// Sides of one folder may build the same file in turn: the last has it.
		for _, f := range slices.Concat(other.impl.Build.Outputs, other.impl.Harness.Files) {
			want[f.Path] = append(want[f.Path], f.Digest)
		}
	}
	file, err := build.Changed(s.dir, want)
	if err == nil && file != "" {
		err = fmt.Errorf("%s of the %s changed since it was built", file, s.name)
	}
	return err
}
