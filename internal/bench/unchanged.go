package bench

import (
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/internal/build"
)

// unchanged returns an error if a build output or a harness file of a side is not what was built. All
// are read: a process can set the times of a file back, and one that is mapped into memory changes
// without its times being set at once.
func (r *run) unchanged() error {
	for _, s := range r.sides {
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
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if file != "" {
			return fmt.Errorf("%s: %s changed since it was built: something writes into %s while it is measured; look for a build or a harness that leaves its own folder", s.name, file, s.tree())
		}
	}
	return nil
}
