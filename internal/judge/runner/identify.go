package runner

import (
	"context"
	"os"
	"path/filepath"

	"github.com/goatnote-inc/pawl/internal/explain/codeid"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// identify adds facts from the machine code of both sides: which functions differ, and which resources
// kernels need. They only explain, so missing tools are no error: the report then says less.
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
