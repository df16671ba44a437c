package vendor

import (
	"slices"

	"github.com/goatnote-inc/pawl/gpu"
)

// Processes returns what look found: the processes on a GPU that are not pawl's, and its own.
//
// A process that this machine does not show has since ended, like a harness at the end of a round, or is in another
// container. A second look decides which.
func Processes(look func() (foreign, own []gpu.Process)) (foreign, own []gpu.Process) {
	foreign, own = look()
	if slices.ContainsFunc(foreign, func(p gpu.Process) bool { return p.Name == "" }) {
		return look()
	}
	return foreign, own
}
