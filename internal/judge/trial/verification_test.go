package trial_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet/integrity"
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
		if in, err := tensor.Load(q.Inputs[i], 1<<20); err == nil {
			_ = tensor.Save(path, doubledIn(in))
		}
	}
}

// keep leaves what it read and what it made of it.
func (q doubted) keep() string {
	if q.Keep == nil {
		return ""
	}
	in, out := filepath.Join(q.Keep.Dir, "0-in.safetensors"), filepath.Join(q.Keep.Dir, "0-out.safetensors")
	inputs, _ := testInputs(trial.Case{}, 5)
	_ = tensor.Save(in, inputs)
	_ = tensor.Save(out, doubledIn(inputs))
	return fmt.Sprintf(`,"kept":[{"sample":0,"inputs":%q,"outputs":%q}]`, in, out)
}

// testInputs is x, of four values that depend on the seed.
func testInputs(_ trial.Case, seed uint64) ([]tensor.Tensor, error) {
	x, err := tensor.New(tensor.Argument{Name: "x", Role: tensor.In, DType: tensor.F32, Shape: []int{4}})
	x.Write(0, []float64{float64(seed % 1000), 1, 2, 3})
	return []tensor.Tensor{x}, err
}

// doubledIn is y, twice x; with another PAWL_TEST_RESULT than x, its last element is wrong.
func doubledIn(in []tensor.Tensor) []tensor.Tensor {
	y, _ := tensor.New(tensor.Argument{Name: "y", Role: tensor.Out, DType: tensor.F32, Shape: []int{4}})
	values := make([]float64, 4)
	in[0].Read(values, 0)
	for i := range values {
		values[i] *= 2
	}
	if os.Getenv("PAWL_TEST_RESULT") != "x" {
		values[3] = 0
	}
	y.Write(0, values)
	return []tensor.Tensor{y}
}

// doubtedPlan is one side that says 20 ms a run. A right result is the input twice.
func doubtedPlan(t *testing.T, says, takes, result string, score bool) (trial.Plan, *bench) {
	t.Helper()
	p, b, _ := protocolPlan(t, []string{"k"}, map[string][]string{measure.Candidate: {
		"PAWL_RUN_NS=" + says, "PAWL_TEST_TAKES_NS=" + takes, "PAWL_TEST_RESULT=" + result,
	}}, measure.Candidate)
	p.Growth, p.Turns = []int{4}, false
	s := p.Sides[0].Runner.(trial.Sessions)
	s.Doubt = &trial.Verification{
		Secret: rand.New(rand.NewPCG(1, 2)), Dir: t.TempDir(), Score: score,
		Verify: func(_ context.Context, _ trial.Case, inputs, outputs []tensor.Tensor) (string, error) {
			x, y := make([]float64, 4), make([]float64, 4)
			inputs[0].Read(x, 0)
			outputs[0].Read(y, 0)
			for i := range x {
				if y[i] != 2*x[i] {
					return fmt.Sprintf("%v of %v", y, x), nil
				}
			}
			return "", nil
		},
		Inputs: testInputs,
		Sum:    func(trial.Case, []float64, []tensor.Tensor, int, int, uint64) error { return nil },
		Draw: func(round int, c trial.Case, purpose string) [32]byte {
			return sha256.Sum256(fmt.Append(nil, round, c.Key, purpose))
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
		says, takes string
		want        string
	}{{"20000000", "1000", ""}, {"20000000", "5000000", ""}, {"1000000", "100000000", "clocks disagree"}} { // a busy machine can hide a factor of five
		p, b := doubtedPlan(t, test.says, test.takes, "x", false)
		list := rounds(t, p, b)
		for _, r := range list {
			if _, ok := integrity.Fit(r.Outside); !ok {
				t.Fatalf("readings %+v", r.Outside)
			}
		}
		if why := integrity.CheckSampleClock(list, nil); (why == "") != (test.want == "") || !strings.Contains(why, test.want) {
			t.Errorf("runs of %s ns that say %s: %q", test.takes, test.says, why)
		}
	}
}

// The first round has a result compared, and what is wrong takes the samples' place.
func TestResultsOfTimedRunsAreCompared(t *testing.T) {
	p, b := doubtedPlan(t, "20000000", "1000", "x", false)
	if list := rounds(t, p, b); list[0].Verified != 1 || list[0].Error != "" {
		t.Errorf("a right result: verified %d, %q", list[0].Verified, list[0].Error)
	}
	p, b = doubtedPlan(t, "20000000", "1000", "y", false)
	list := rounds(t, p, b)
	if !strings.Contains(list[0].Error, "wrong result in a timed run") || len(list[0].Samples) > 0 {
		t.Errorf("a wrong result: %q, %d samples", list[0].Error, len(list[0].Samples))
	}
}

// The first round after a resumption has a result compared as well: comparisons of sums need what it learns.
func TestResultsAreComparedAfterAResumption(t *testing.T) {
	p, b := doubtedPlan(t, "20000000", "1000", "x", false)
	rounds(t, p, b)
	for have := 1; have < len(b.rounds); have++ {
		q, c := doubtedPlan(t, "20000000", "1000", "x", false)
		s := q.Sides[0].Runner.(trial.Sessions)
		s.Doubt.First = have
		for _, r := range b.rounds[:have] {
			q.Past = append(q.Past, trial.PastRound{Round: r})
		}
		if list := rounds(t, q, c); len(list) != len(b.rounds)-have || list[0].Verified != 1 {
			t.Errorf("after %d rounds: %+v", have, list)
		}
	}
}

// Where a process is not believed, its samples are slopes of the clock outside and its
// results are compared, whatever it says.
func TestScore(t *testing.T) {
	p, b := doubtedPlan(t, "20000000", "3000000", "x", true)
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
	if why := integrity.CheckOutsideClock(list); why != "" {
		t.Errorf("honest runs: %s", why)
	}
	p, b = doubtedPlan(t, "20000000", "3000000", "y", true)
	p.Sides[0].Cases[0].Samples = trial.ScoreSamples
	if list = rounds(t, p, b); !strings.Contains(list[0].Error, "wrong result") {
		t.Errorf("a wrong result: %q", list[0].Error)
	}
}
