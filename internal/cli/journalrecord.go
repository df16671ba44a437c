package cli

import (
	"github.com/goatnote-inc/pawl/internal/cli/decide"
	"github.com/goatnote-inc/pawl/internal/doctor"
	"github.com/goatnote-inc/pawl/internal/judge/preflight"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/tune"
)

// Record adds the facts of a command's result.
func (s *journalFacts) Record(result any) {
	switch r := result.(type) {
	case doctor.Report:
		s.recordDoctor(r)
	case preflight.Report:
		s.recordPreflight(r)
	case decide.Fuzzed:
		s.recordFuzz(r.Answer, r.Benchmarks)
	case runner.Explanation:
		s.recordDiagnosis(r.Case, *r.After, *r.Diagnosis)
	case *tune.Report:
		s.recordTuning(r)
	}
}
