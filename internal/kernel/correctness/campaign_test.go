package correctness

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// scaled is the kernel of these tests: out = 3*x + S, of S elements.
func scaled(p suite.Params) ([]tensor.Argument, error) {
	v, _ := p.Get("S")
	n := int(v.(float64))
	return []tensor.Argument{
		{Name: "x", Role: tensor.In, DType: tensor.F32, Shape: []int{n}},
		{Name: "S", Role: tensor.Value, DType: tensor.I32, Value: float64(n)},
		{Name: "out", Role: tensor.Out, DType: tensor.F32, Shape: []int{n}},
	}, nil
}

func formula(t testing.TB, output, source string) suite.Formula {
	t.Helper()
	x, err := expr.CompileElementwise(source)
	if err != nil {
		t.Fatal(err)
	}
	return suite.Formula{Output: output, Expr: x}
}

func reference(t testing.TB) ExpressionReference {
	t.Helper()
	return ExpressionReference{[]suite.Formula{formula(t, "out", "3 * x + S")}}
}

// kernel is a subject in this process, with a mistake of its own.
type kernel struct {
	runs    int
	mistake func(t Task, out []float64, run int) error // may change the outputs
}

func (k *kernel) Run(_ context.Context, t Task) ([]tensor.Tensor, error) {
	k.runs++
	x := tensor.Find(t.Contents.Tensors, "x")
	values := make([]float64, x.Len())
	x.Read(values, 0)
	for i := range values {
		values[i] = 3*values[i] + float64(len(values))
	}
	out := tensor.Tensor{Name: "out", DType: tensor.F32, Shape: x.Shape, Data: tensor.Poison(t.Poison, 4*len(values))}
	if k.mistake != nil {
		if err := k.mistake(t, values, k.runs); err != nil {
			return nil, err
		}
	}
	for i, v := range values {
		if v != -999 { // what a kernel forgets to write
			out.Write(i, []float64{v})
		}
	}
	return []tensor.Tensor{out}, nil
}

func plan(points ...Point) Plan {
	return Plan{
		Benchmark: "scaled", Arguments: scaled, Points: points, Deterministic: "bounded", Seed: 7, Version: "v1",
		Now: func() time.Time { return time.Unix(1e9, 0) },
	}
}

func sizes(kind string, list ...float64) []Point {
	var points []Point
	for i, n := range list {
		points = append(points, point(kind, uint64(1000+i), "S", n))
	}
	return points
}

func quiet(Event) {}

func TestCampaignPasses(t *testing.T) {
	var events []string
	r, err := Run(t.Context(), plan(sizes(Normal, 5, 64, 100)...), &kernel{}, reference(t), func(e Event) {
		events = append(events, fmt.Sprintf("%d/%d %s", e.Done, e.Total, e.Result.Status))
	})
	if err != nil || r.Passed != 3 || r.Failed != 0 || r.Skipped != 0 || r.Untried != 0 || !r.Tested() {
		t.Fatalf("%+v, %v", r, err)
	}
	if r.Repeated != Bitwise || r.RunTwice != 3 || r.Seed != 7 || len(r.Warnings) != 0 {
		t.Errorf("%+v", r)
	}
	if diff := cmp.Diff([]string{"1/3 passed", "2/3 passed", "3/3 passed"}, events); diff != "" {
		t.Error(diff)
	}
}

func TestCampaignShrinksKeepsAndReplays(t *testing.T) {
	broken := &kernel{mistake: func(_ Task, out []float64, _ int) error {
		if len(out) > 64 {
			out[64]++
		}
		return nil
	}}
	p := plan(sizes(Large, 10, 300, 400)...)
	p.Corpus = &Corpus{t.TempDir()}
	r, err := Run(t.Context(), p, broken, reference(t), quiet)
	if err != nil || r.Passed != 1 || r.Failed != 2 || len(r.Found) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	found := r.Found[0]
	if diff := cmp.Diff(point(Zeros, 0, "S", 65.0), found.Smallest.Point); diff != "" {
		t.Errorf("smallest (-want +got):\n%s", diff)
	}
	if !found.Again || found.Stopped || get(found.First.Point, "S") != 300 || found.File == "" {
		t.Errorf("%+v", found)
	}
	const reason = "out: 1 of 65 elements are off by more than the tolerance, the worst: element 64 [64] is 66, expected 65 (off by 1, allowed 0.0007345)"
	if found.Smallest.Reason != reason {
		t.Errorf("reason %q, want %q", found.Smallest.Reason, reason)
	}

	// The corpus comes first next time, and is known as such.
	replay, problems := p.Corpus.Load("scaled")
	if len(replay) != 1 || problems != nil {
		t.Fatalf("%v, %v", replay, problems)
	}
	p.Replay, p.Corpus = replay, nil
	r, err = Run(t.Context(), p, broken, reference(t), quiet)
	if err != nil || len(r.Results) != 4 || !r.Results[0].Replayed || r.Results[0].Status != Failed || get(r.Results[0].Point, "S") != 65 {
		t.Fatalf("%+v, %v", r, err)
	}
	r, err = Run(t.Context(), p, &kernel{}, reference(t), quiet)
	if err != nil || r.Passed != 4 {
		t.Errorf("repaired: %+v, %v", r, err)
	}
	// A failure whose parameters the benchmark no longer has is reported and skipped.
	p.Replay[0].Params = suite.Params{{Name: "T", Value: 1.0}}
	r, err = Run(t.Context(), p, &kernel{}, reference(t), quiet)
	if err != nil || r.Passed != 3 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "its parameters differ from those of the benchmark") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestCampaignOutcomes(t *testing.T) {
	for _, tt := range []struct {
		name    string
		mistake func(t Task, out []float64, run int) error
		change  func(*Plan)
		status  Status
		reason  string
		fault   string
		twice   Repeatability
	}{
		{name: "right", status: Passed, twice: Bitwise},
		{
			name: "unwritten tail", status: Failed, reason: "out: element 99 [99] was never written (1 of 100 elements)",
			mistake: func(_ Task, out []float64, _ int) error { out[len(out)-1] = -999; return nil },
		},
		{
			name: "NaN", status: Failed, reason: "NaN mismatch: element 3 [3] is NaN",
			mistake: func(_ Task, out []float64, _ int) error { out[min(3, len(out)-1)] = math.NaN(); return nil },
		},
		{
			name: "crash", status: Failed, reason: "boom", fault: "crashed",
			mistake: func(Task, []float64, int) error { return &FaultError{"crashed", "boom"} },
		},
		{
			name: "unsupported", status: Skipped, reason: "not supported: odd sizes",
			mistake: func(Task, []float64, int) error { return fmt.Errorf("%w: odd sizes", ErrUnsupported) },
		},
		{
			name: "a little different each time", status: Passed, twice: Bounded,
			mistake: func(_ Task, out []float64, run int) error { out[0] += 1e-5 * float64(run%2); return nil },
		},
		{
			name: "different where every bit is promised", status: Failed, twice: Bounded,
			change:  func(p *Plan) { p.Deterministic = "bitwise" },
			reason:  "two runs on the same inputs differ",
			mistake: func(_ Task, out []float64, run int) error { out[0] += 1e-5 * float64(run%2); return nil },
		},
		{
			name: "wrong the second time", status: Failed, twice: Bounded, reason: "in the second of two runs on the same inputs: out: 1 of 100",
			mistake: func(_ Task, out []float64, run int) error { out[0] += float64(1 - run%2); return nil },
		},
		{
			name: "different, and nobody asks", status: Passed, change: func(p *Plan) { p.Deterministic = "no" },
			mistake: func(_ Task, out []float64, run int) error { out[0] += float64(1 - run%2); return nil },
		},
		{name: "too large", status: Skipped, reason: "the limit is 0.0 GB", change: func(p *Plan) { p.Memory = 100 }},
		{
			name: "no such arguments", status: Skipped, reason: "argument", change: func(p *Plan) {
				p.Arguments = func(suite.Params) ([]tensor.Argument, error) { return nil, errors.New("argument: no") }
			},
		},
	} {
		p := plan(sizes(Normal, 100)...)
		if tt.change != nil {
			tt.change(&p)
		}
		r, err := Run(t.Context(), p, &kernel{mistake: tt.mistake}, reference(t), quiet)
		if err != nil || len(r.Results) != 1 {
			t.Errorf("%s: %+v, %v", tt.name, r, err)
			continue
		}
		x := r.Results[0]
		if x.Status != tt.status || !strings.Contains(x.Reason, tt.reason) || x.Fault != tt.fault || x.Repeated != tt.twice {
			t.Errorf("%s: %s, %q, %q, %q", tt.name, x.Status, x.Reason, x.Fault, x.Repeated)
		}
		if r.Tested() != (tt.status != Skipped) {
			t.Errorf("%s: tested %v", tt.name, r.Tested())
		}
	}
}

// A kernel that is wrong everywhere is shrunk once, not once for every point.
func TestEachKindIsShrunkOnce(t *testing.T) {
	k := &kernel{mistake: func(_ Task, out []float64, _ int) error {
		if len(out) == 30 {
			return &FaultError{"hung", "no answer"}
		}
		out[0]++
		return nil
	}}
	r, err := Run(t.Context(), plan(sizes(Normal, 10, 20, 30, 40, 30)...), k, reference(t), quiet)
	if err != nil || r.Failed != 5 || len(r.Found) != 2 {
		t.Errorf("%d failed, %d found, %v", r.Failed, len(r.Found), err)
	}
}

// The reference is at work on the next point while the subject has this one.
func TestCampaignWorksAhead(t *testing.T) {
	ahead := &watched{Reference: reference(t), started: make(chan float64, 10)}
	k := &kernel{mistake: func(_ Task, out []float64, _ int) error {
		if len(out) == 10 {
			for n := range ahead.started {
				if n == 20 {
					return nil
				}
			}
		}
		return nil
	}}
	p := plan(sizes(Normal, 10, 20)...)
	p.Deterministic = "no"
	if r, err := Run(t.Context(), p, k, ahead, quiet); err != nil || r.Passed != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

type watched struct {
	Reference
	started chan float64
	naive   bool // the last question
}

func (w *watched) Compute(ctx context.Context, t Task, naive bool) (Expected, error) {
	w.naive = naive
	w.started <- get(Point{Params: t.Params}, "S")
	return w.Reference.Compute(ctx, t, naive)
}

type answer struct {
	right Expected
	err   error
}

func (a answer) Compute(context.Context, Task, bool) (Expected, error) { return a.right, a.err }

func TestReferencesMustAnswer(t *testing.T) {
	for _, tt := range []struct {
		name string
		answer
		tolerance suite.Tolerance
		want      string
	}{
		{"an error", answer{err: errors.New("no such module")}, suite.Tolerance{}, "no such module"},
		{"nothing", answer{}, suite.Tolerance{}, `returns no "out"`},
		{"another shape", answer{right: Expected{Want: []tensor.Tensor{of(tensor.F64, 1, 2)}}}, suite.Tolerance{}, "with shape [2] for S3"},
		{"no naive result", answer{right: Expected{Want: []tensor.Tensor{of(tensor.F64, 1, 2, 3)}}}, suite.Tolerance{Flash: new(2.0)}, "tolerance.flash needs a naive result"},
	} {
		p := plan(sizes(Normal, 3)...)
		p.Tolerance = tt.tolerance
		k := &kernel{}
		r, err := Run(t.Context(), p, k, tt.answer, quiet)
		if err == nil || !strings.Contains(err.Error(), tt.want) || k.runs != 0 || r.Tested() || r.Untried != 1 {
			t.Errorf("%s: %v after %d runs", tt.name, err, k.runs)
		}
	}
	r, err := Run(t.Context(), plan(sizes(Normal, 3)...), &kernel{}, answer{err: fmt.Errorf("%w: D", ErrUnsupported)}, quiet)
	if err != nil || r.Skipped != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestCampaignEnds(t *testing.T) {
	stop := errors.New("somebody pressed a key")
	ctx, cancel := context.WithCancelCause(t.Context())
	k := &kernel{mistake: func(_ Task, _ []float64, run int) error {
		if run == 3 {
			cancel(stop)
			return stop
		}
		return nil
	}}
	r, err := Run(ctx, plan(sizes(Normal, 1, 2, 3, 4)...), k, reference(t), quiet)
	if !errors.Is(err, stop) || r.Passed != 1 || r.Untried != 3 {
		t.Errorf("%+v, %v", r, err)
	}

	clock := time.Unix(0, 0)
	p := plan(sizes(Normal, 1, 2, 3, 4)...)
	p.Now = func() time.Time { clock = clock.Add(time.Second); return clock }
	p.Time = 5 * time.Second
	r, err = Run(t.Context(), p, &kernel{}, reference(t), quiet)
	if err != nil || r.Passed != 1 || r.Untried != 3 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "3 of 4 points were not tried") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestWeakTestsAreTold(t *testing.T) {
	// S swamps x: with a tolerance of half a thousandth of it, anything passes.
	flat := ExpressionReference{[]suite.Formula{formula(t, "out", "5 + 0 * x")}}
	k := &kernel{mistake: func(_ Task, out []float64, _ int) error {
		for i := range out {
			out[i] = 5
		}
		return nil
	}}
	r, err := Run(t.Context(), plan(append(sizes(Normal, 8, 8), sizes(Zeros, 9)...)...), k, flat, quiet)
	if err != nil || r.Passed != 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	if len(r.Warnings) != 2 || !strings.Contains(r.Warnings[0], "nearly constant") || !strings.Contains(r.Warnings[1], "ignores its inputs") {
		t.Errorf("%q", r.Warnings)
	}
}

// What is read as well as written is not poisoned before, so nothing is said of gaps.
func TestInOutIsNotPoisoned(t *testing.T) {
	p := plan(sizes(Normal, 4)...)
	p.Arguments = func(suite.Params) ([]tensor.Argument, error) {
		return []tensor.Argument{{Name: "x", Role: tensor.InOut, DType: tensor.F32, Shape: []int{4, 2}, Strides: []int{3, 1}}}, nil
	}
	r, err := Run(t.Context(), p, doubling{}, ExpressionReference{[]suite.Formula{formula(t, "x", "2 * x")}}, quiet)
	if err != nil || r.Passed != 1 {
		t.Errorf("%+v, %v", r.Results, err)
	}
}

// doubling doubles x in place.
type doubling struct{}

func (doubling) Run(_ context.Context, t Task) ([]tensor.Tensor, error) {
	x := t.Contents.Tensors[0]
	x.Data = slices.Clone(x.Data)
	values := make([]float64, x.Len())
	x.Read(values, 0)
	for i := range values {
		values[i] *= 2
	}
	x.Write(0, values)
	return []tensor.Tensor{x}, nil
}

// TF32 travels as F32 and keeps its own tolerance.
func TestTF32(t *testing.T) {
	p := plan(sizes(Normal, 40)...)
	p.Arguments = func(params suite.Params) ([]tensor.Argument, error) {
		list, err := scaled(params)
		list[2].DType = tensor.TF32
		return list, err
	}
	k := &kernel{mistake: func(_ Task, out []float64, _ int) error {
		for i := range out {
			out[i] *= 1 + 3e-4
		}
		return nil
	}}
	if r, err := Run(t.Context(), p, k, reference(t), quiet); err != nil || r.Passed != 1 || r.Results[0].Comparisons[0].MaxULP > 1 {
		t.Errorf("%+v, %v", r.Results, err)
	}
	p.Arguments = scaled
	if r, err := Run(t.Context(), p, k, reference(t), quiet); err != nil || r.Failed != 1 {
		t.Errorf("as F32: %+v, %v", r.Results, err)
	}
}

// A naive result costs the oracle a second computation: it is asked for where it counts.
func TestNaiveIsAskedForWhereItCounts(t *testing.T) {
	for _, tt := range []struct {
		tolerance suite.Tolerance
		want      bool
	}{
		{suite.Tolerance{}, true},
		{suite.Tolerance{Atol: new(1e-3)}, false},
		{suite.Tolerance{Atol: new(1e-3), Flash: new(2.0)}, true},
	} {
		asked := &watched{Reference: reference(t), started: make(chan float64, 10)}
		p := plan(sizes(Normal, 4)...)
		p.Tolerance = tt.tolerance
		_, _ = Run(t.Context(), p, &kernel{}, asked, quiet)
		if asked.naive != tt.want {
			t.Errorf("%+v: naive %v", tt.tolerance, asked.naive)
		}
	}
	both := []tensor.Tensor{of(tensor.F64, 1), of(tensor.F32, 1)}
	both[1].Name = "out.naive"
	if r := sort(both, false); len(r.Want) != 1 || len(r.Naive) != 0 {
		t.Errorf("%+v", r)
	}
	if r := sort(both, true); len(r.Want) != 1 || len(r.Naive) != 1 || r.Naive[0].Name != "out" {
		t.Errorf("%+v", r)
	}
}

func TestNoPointIsTriedTwice(t *testing.T) {
	p := plan(sizes(Normal, 4, 5)...)
	p.Replay = []Failure{{Point: p.Points[1]}, {Point: p.Points[1]}}
	r, err := Run(t.Context(), p, &kernel{}, reference(t), quiet)
	if err != nil || r.Passed != 2 || get(r.Results[0].Point, "S") != 5 {
		t.Errorf("%+v, %v", r.Results, err)
	}
}

// Beyond the small points only a quarter of the work is done twice.
func TestRepeatingIsBounded(t *testing.T) {
	c := &campaign{Plan: Plan{Deterministic: "bounded"}}
	large := []tensor.Argument{{Shape: []int{1 << 21}}}
	var twice []bool
	for range 9 {
		twice = append(twice, c.repeats(large))
	}
	if want := []bool{false, false, false, true, false, false, false, true, false}; !slices.Equal(want, twice) {
		t.Errorf("%v", twice)
	}
	if !c.repeats([]tensor.Argument{{Shape: []int{10}}}) {
		t.Error("a small point is not run twice")
	}
	c.Deterministic = "bitwise"
	if !c.repeats(large) {
		t.Error("with bitwise a point is not run twice")
	}
}
