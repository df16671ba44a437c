package trial_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/integrity"
	"github.com/goatnote-inc/pawl/internal/tensor"
	"github.com/goatnote-inc/pawl/internal/trial"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// doubted is the part of a request by which the test's harness is looked at. Its runs
// take PAWL_TEST_TAKES_NS each, whatever its samples say.
type doubted struct {
	Iterations      int
	Inputs, Outputs []string
	Keep            *struct{ Dir string }
}

func (q doubted) run() {
	takes, _ := strconv.Atoi(os.Getenv("PAWL_TEST_TAKES_NS"))
	for began := time.Now(); time.Since(began) < time.Duration(q.Iterations*takes); { //nolint:revive // a kernel
	}
	for i, path := range q.Outputs {
		in, _ := os.ReadFile(q.Inputs[i])
		_ = os.WriteFile(path, []byte(string(in)+os.Getenv("PAWL_TEST_RESULT")), 0o600)
	}
}

// keep leaves what it read and what it made of it.
func (q doubted) keep() string {
	if q.Keep == nil {
		return ""
	}
	in, out := filepath.Join(q.Keep.Dir, "0-in.safetensors"), filepath.Join(q.Keep.Dir, "0-out.safetensors")
	_ = os.WriteFile(in, []byte("x"), 0o600)
	_ = os.WriteFile(out, []byte("x"+os.Getenv("PAWL_TEST_RESULT")), 0o600)
	return fmt.Sprintf(`,"kept":[{"sample":0,"inputs":%q,"outputs":%q}]`, in, out)
}

// doubtedPlan is one side that says 20 ms a run. A right result is the input twice.
func doubtedPlan(t *testing.T, takes, result string, score bool) (trial.Plan, *bench) {
	t.Helper()
	p, b, _ := protocolPlan(t, []string{"k"}, map[string][]string{measure.Candidate: {
		"PAWL_RUN_NS=20000000", "PAWL_TEST_TAKES_NS=" + takes, "PAWL_TEST_RESULT=" + result,
	}}, measure.Candidate)
	p.Growth, p.Turns = []int{4}, false
	s := p.Sides[0].Runner.(trial.Sessions)
	s.Doubt = &trial.Doubt{
		Secret: rand.New(rand.NewPCG(1, 2)), Dir: t.TempDir(), Score: score,
		Verify: func(_ context.Context, _ trial.Case, inputs, outputs string) (string, error) {
			in, err := os.ReadFile(inputs)
			if err != nil {
				return "", err
			}
			out, err := os.ReadFile(outputs)
			if err != nil || string(out) == string(in)+"x" {
				return "", err
			}
			return fmt.Sprintf("%q of %q", out, in), nil
		},
		Inputs: func(trial.Case, uint64) (func(uint64, string) error, error) {
			return func(seed uint64, path string) error {
				return os.WriteFile(path, []byte(strconv.FormatUint(seed, 10)), 0o600)
			}, nil
		},
	}
	p.Sides[0].Runner = s
	p.Sides[0].Cases[0].Arguments = []tensor.Argument{{Name: "y", Role: tensor.Out, DType: tensor.F32, Shape: []int{4}}}
	return p, b
}

func rounds(t *testing.T, p trial.Plan, b *bench) []measure.CaseRound {
	t.Helper()
	if _, err := trial.Run(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	var list []measure.CaseRound
	for _, r := range b.results {
		list = append(list, r.Round)
	}
	return list
}

// The clock outside sees what a run takes, not what it says.
func TestOutsideSeesWhatARunTakes(t *testing.T) {
	for _, test := range []struct {
		takes string
		want  string
	}{{"20000000", ""}, {"100000000", "clocks disagree"}, {"1000", ""}} { // a busy machine cannot hide a factor of five
		p, b := doubtedPlan(t, test.takes, "x", false)
		list := rounds(t, p, b)
		for _, r := range list {
			if _, ok := integrity.Fit(r.Outside); !ok {
				t.Fatalf("readings %+v", r.Outside)
			}
		}
		if why := integrity.Clocks(list, nil); (why == "") != (test.want == "") || !strings.Contains(why, test.want) {
			t.Errorf("runs of %s ns that say 20 ms: %q", test.takes, why)
		}
	}
}

// The first round has a result compared, and what is wrong takes the samples' place.
func TestResultsOfTimedRunsAreCompared(t *testing.T) {
	p, b := doubtedPlan(t, "1000", "x", false)
	if list := rounds(t, p, b); list[0].Verified != 1 || list[0].Error != "" {
		t.Errorf("a right result: verified %d, %q", list[0].Verified, list[0].Error)
	}
	p, b = doubtedPlan(t, "1000", "y", false)
	list := rounds(t, p, b)
	if !strings.Contains(list[0].Error, "wrong result in a timed run") || len(list[0].Samples) > 0 {
		t.Errorf("a wrong result: %q, %d samples", list[0].Error, len(list[0].Samples))
	}
}

// Where a process is not believed, its samples are slopes of the clock outside and its
// results are compared, whatever it says.
func TestScore(t *testing.T) {
	p, b := doubtedPlan(t, "3000000", "x", true)
	p.Sides[0].Cases[0].Samples = trial.ScoreSamples
	list := rounds(t, p, b)
	var slopes []float64
	for _, r := range list {
		if len(r.Samples) != trial.ScoreSamples || r.Verified != trial.ScoreSamples {
			t.Fatalf("%d samples, %d verified, %q", len(r.Samples), r.Verified, r.Error)
		}
		slopes = append(slopes, r.Samples...)
	}
	// A busy machine makes runs longer and adds noise to every slope.
	if s := stats.Median(slopes); s < 1e6 || s > 500e6 {
		t.Errorf("a run of 3 ms scores %v ns", s)
	}
	if why := integrity.Asked(list); why != "" {
		t.Errorf("honest runs: %s", why)
	}
	p, b = doubtedPlan(t, "3000000", "y", true)
	p.Sides[0].Cases[0].Samples = trial.ScoreSamples
	if list = rounds(t, p, b); !strings.Contains(list[0].Error, "wrong result") {
		t.Errorf("a wrong result: %q", list[0].Error)
	}
}
