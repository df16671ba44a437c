package trial_test

import (
	"testing"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
)

// A side that does 17 runs for every 16 that it is counted for takes a sixteenth longer, in turns and one by one.
// Where its harness decides how many runs a sample has, that side has no samples, and the others have.
func TestPlantedSlowdown(t *testing.T) {
	for _, turns := range []bool{true, false} {
		p, b, _ := protocolPlan(t, []string{"k", "single"}, nil, "a", "b", "slowed")
		p.Turns = turns
		for i := range p.Sides {
			sessions, _ := p.Sides[i].Runner.(trial.Sessions)
			sessions.Work = trial.AllWork
			if p.Sides[i].Name == "slowed" {
				sessions.Work = trial.MoreWork
			}
			p.Sides[i].Runner = sessions
			for k := range p.Sides[i].Cases {
				p.Sides[i].Cases[k].Samples = 100
			}
		}
		if _, err := trial.Run(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		for _, r := range b.results {
			cr := r.Round
			single, slowed := r.Case.Benchmark == "single", r.Case.Implementation == "slowed"
			if single && slowed {
				if len(cr.Samples) != 0 || cr.Error != "its harness chose its own number of runs per sample: 1" {
					t.Errorf("%s: %d samples, error %q", r.Case, len(cr.Samples), cr.Error)
				}
				continue
			}
			want, batch := 2e6, 16
			if slowed {
				want *= 1 + trial.Slowdown
			}
			if single {
				batch = 1
			}
			if len(cr.Samples) != 6 || cr.Batch != batch || cr.Samples[0] != want {
				t.Errorf("turns %v, %s: %d samples of %d runs, %v; want 6 of %d, %v (%s)", turns, r.Case, len(cr.Samples), cr.Batch, cr.Samples, batch, want, cr.Error)
			}
		}
	}
}
