package trial_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
)

// blocks measures five blocks of 10 ms of CPU time each. A file named broken ends the second run.
const blocks = `import os, sys, time, timeit
if os.path.exists("ran") and os.path.exists("broken"):
    sys.exit("broken")
open("ran", "w").close()

def work():
    end = time.thread_time() + 0.01
    while time.thread_time() < end:
        pass

timeit.repeat(work, number=1, repeat=5)
`

// Programs that measure with timeit take turns from the second round on.
func TestPythonTakesTurns(t *testing.T) {
	for name, tt := range map[string]struct {
		turns  bool
		broken string // the side whose second run fails
		want   int    // samples of a turn
	}{
		"turns":            {turns: true, want: 1},
		"no turns":         {},
		"a side breaks":    {turns: true, broken: "base"},
		"the other breaks": {turns: true, broken: "candidate"},
	} {
		t.Run(name, func(t *testing.T) {
			p, results := commandPlan(t, [2]string{"python3 bench.py", "python3 bench.py"}, [2]bool{})
			p.Turns, p.Cores = tt.turns, harness.Cores()
			if len(p.Cores) < 2 {
				tt.want = 0 // there is nothing to choose
			}
			for _, s := range p.Sides {
				c, _ := s.Runner.(*trial.Commands)
				c.Format, c.Record = trial.Python, true
				write(t, filepath.Join(c.Command.Dir, "bench.py"), blocks)
				if s.Name == tt.broken {
					write(t, filepath.Join(c.Command.Dir, "broken"), "")
				}
			}
			_, err := trial.Run(t.Context(), p)
			var broken *trial.SideError
			if errors.As(err, &broken) != (tt.broken != "") || broken != nil && broken.Side != tt.broken {
				t.Fatalf("broken side: %v, want %q", err, tt.broken)
			}
			if tt.broken == "" && len(*results) != 6 {
				t.Fatalf("%d results of 3 rounds and 2 sides", len(*results))
			}
			for _, r := range *results {
				want := tt.want
				if r.Round.Round == 0 {
					want = 0
				}
				if len(r.Round.Samples) != 5 || r.Round.SamplesPerTurn != want {
					t.Errorf("round %d: %d samples, %d a turn, want 5 and %d", r.Round.Round, len(r.Round.Samples), r.Round.SamplesPerTurn, want)
				}
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
