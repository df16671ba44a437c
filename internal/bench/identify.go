package bench

import (
	"context"
	"os"
	"path/filepath"

	"github.com/goatnote-inc/pawl/internal/build/codeid"
	"github.com/goatnote-inc/pawl/internal/suite"
)

// identify adds to what is known of the two sides what their machine code tells: which
// functions differ, and what kernels need. It explains, and decides nothing, so that a
// machine without the tools for it just knows less.
func (r *run) identify(ctx context.Context) {
	for i := range r.sides {
		s := &r.sides[i]
		if s.name != suite.Candidate && s.name != suite.Base {
			continue
		}
		log, _ := os.ReadFile(filepath.Join(filepath.Dir(r.Out), "logs", s.name+".build.log"))
		_ = codeid.Describe(ctx, s.dir, &s.impl.Build, string(log))
	}
}
