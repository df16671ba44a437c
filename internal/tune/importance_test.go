package tune

import (
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/tune/replay"
	"github.com/goatnote-inc/pawl/internal/tune/search"
	"github.com/goatnote-inc/pawl/internal/tune/space"
)

// searched evaluates points of a space with a known function, half of them drawn from all
// and half near the best, as a search does.
func searched(h Header, n int, rng *rand.Rand, f func(p map[string]any) float64) []Evaluation {
	var list []Evaluation
	seen := map[string]bool{}
	best := map[string]any{}
	least := math.Inf(1)
	for len(list) < n {
		point := map[string]any{}
		for _, p := range h.Space.Parameters {
			point[p.Name] = p.Values[rng.IntN(len(p.Values))]
			if v, known := best[p.Name]; known && len(list)%2 == 1 && rng.IntN(3) > 0 {
				point[p.Name] = v
			}
		}
		if seen[Key(point)] {
			continue
		}
		seen[Key(point)] = true
		e := Evaluation{N: len(list), Point: point}
		e.Measured([]float64{1e6 * math.Exp(f(point)+0.01*rng.NormFloat64())}, false)
		if e.Value < least {
			least, best = e.Value, point
		}
		list = append(list, e)
	}
	return list
}

func fourParameters() Header {
	h := Header{Format: Format, Case: "k"}
	for _, name := range []string{"A", "B", "C", "D"} {
		h.Space.Parameters = append(h.Space.Parameters, space.Parameter{Name: name, Values: []any{1.0, 2.0, 4.0, 8.0, 16.0}, Default: 1.0})
	}
	return h
}

// shares of a function that is known: the variance of each part over all points.
func TestImportanceOfKnownFunctions(t *testing.T) {
	testrun.SkipRace(t)
	rank := func(v any) float64 { return math.Log2(v.(float64)) - 2 } // -2 to 2, variance 2
	for _, test := range []struct {
		name  string
		f     func(p map[string]any) float64
		want  map[string]float64 // shares
		pairs map[string]float64
	}{
		{"alone", func(p map[string]any) float64 { return 0.4*rank(p["A"]) + 0.2*rank(p["B"]) }, map[string]float64{"A": 0.8, "B": 0.2}, nil},
		{"a valley", func(p map[string]any) float64 { return 0.2 * rank(p["B"]) * rank(p["B"]) }, map[string]float64{"B": 1}, nil},
		{"together", func(p map[string]any) float64 { return 0.3*rank(p["C"]) + 0.15*rank(p["A"])*rank(p["B"]) }, map[string]float64{"C": 2. / 3}, map[string]float64{"A B": 1. / 3}},
	} {
		h := fourParameters()
		for seed := range uint64(2) {
			list := searched(h, 200, rand.New(rand.NewPCG(seed, 1)), test.f)
			got := NewImportance(h, list, seed)
			if got.Unknown != "" || got.Fit < 0.8 {
				t.Errorf("%s: unknown %q, fit %.2f", test.name, got.Unknown, got.Fit)
			}
			for _, e := range got.Effects {
				if want := test.want[e.Name]; math.Abs(e.Share-want) > 0.12 {
					t.Errorf("%s, seed %d: share of %s is %.3f, want %.3f", test.name, seed, e.Name, e.Share, want)
				}
				if e.Low > e.Share || e.High < e.Share || e.Low < 0 {
					t.Errorf("%s: %+v", test.name, e)
				}
			}
			found := map[string]float64{}
			for _, p := range got.Pairs {
				found[p.A+" "+p.B] = p.Share
			}
			for name, share := range found {
				if want := test.pairs[name]; share > want+0.08 {
					t.Errorf("%s, seed %d: share of %s is %.3f, want %.3f", test.name, seed, name, share, want)
				}
			}
			for name, want := range test.pairs {
				if found[name] < want-0.12 {
					t.Errorf("%s, seed %d: share of %s is %.3f, want %.3f", test.name, seed, name, found[name], want)
				}
			}
		}
	}
}

// A parameter that constraints tie to an important one is not credited with what that does.
func TestImportanceUnderConstraints(t *testing.T) {
	h := fourParameters()
	h.Space.Constraints = []string{"A * B <= 16", "A * B >= 2"}
	f := func(p map[string]any) float64 { return 0.5 * math.Log2(p["A"].(float64)) }
	var list []Evaluation
	for _, e := range searched(h, 400, rand.New(rand.NewPCG(7, 1)), f) {
		if ab := e.Point["A"].(float64) * e.Point["B"].(float64); ab <= 16 && ab >= 2 {
			list = append(list, e)
		}
	}
	got := NewImportance(h, list, 1)
	if got.Effects[0].Name != "A" || got.Effects[0].Share < 0.85 || got.Effects[1].Share > 0.1 {
		t.Errorf("A should have everything: %+v", got.Effects)
	}
	if e := got.Effects[0]; e.Best != 1.0 || e.Worst != 16.0 || math.Abs(e.Spread-math.Exp(2)) > 1.5 {
		t.Errorf("best %v, worst %v, spread %.2f, want 1, 16, %.2f", e.Best, e.Worst, e.Spread, math.Exp(2))
	}
}

func TestImportanceUnknown(t *testing.T) {
	h := fourParameters()
	noise := func(map[string]any) float64 { return 0 }
	rng := rand.New(rand.NewPCG(3, 1))
	for name, list := range map[string][]Evaluation{
		"none":    nil,
		"few":     searched(h, 12, rng, noise),
		"noise":   searched(h, 100, rng, noise),
		"failed":  {{Status: CompileError, Point: map[string]any{"A": 1.0}}},
		"strange": {{Status: OK, Value: 1, Samples: []float64{1}, Point: map[string]any{"A": 3.0}}},
	} {
		if got := NewImportance(h, list, 1); got.Unknown == "" || len(got.Effects) > 0 {
			t.Errorf("%s: %+v, want it to be unknown", name, got)
		}
	}
	h.Space.Constraints = []string{"A < 0"}
	if got := NewImportance(h, nil, 1); got.Unknown == "" {
		t.Error("an empty space is not unknown")
	}
}

func TestImportanceIsDeterministic(t *testing.T) {
	h := fourParameters()
	list := searched(h, 60, rand.New(rand.NewPCG(1, 1)), func(p map[string]any) float64 { return p["A"].(float64) })
	if diff := cmp.Diff(NewImportance(h, list, 5), NewImportance(h, list, 5)); diff != "" {
		t.Error(diff)
	}
}

// From 200 evaluations of a search comes the ranking that the whole space has.
func TestImportanceOfRecordedSpaces(t *testing.T) {
	testrun.SkipRace(t)
	data := os.Getenv("PAWL_DATA")
	if data == "" {
		t.Skip("PAWL_DATA is not set: no recorded spaces")
	}
	names, seeds := []string{"pnpoly_rtx3090"}, uint64(1)
	if os.Getenv("PAWL_LAB") != "" { // all of them take a minute with the race detector
		names, seeds = append(names, "convolution_a100", "convolution_mi250x", "convbat_rtx3090"), 3
	}
	for _, name := range names {
		rec, err := replay.Open(filepath.Join(data, "tuning-spaces", name+".csv.gz"))
		if err != nil {
			t.Fatal(err)
		}
		truth := recordedTruth(rec)
		for seed := range seeds {
			s, err := search.New("genetic", rec.Space, search.Options{Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			list := recordedSearch(rec, replay.Run(rec, s, replay.Plan{Evaluations: 200}, seed))
			got := importanceOver(rec.Space, list, rand.New(rand.NewPCG(seed, 0)))
			if got.Unknown != "" {
				t.Fatalf("%s, seed %d: %s", name, seed, got.Unknown)
			}
			for i, a := range got.Effects {
				for _, b := range got.Effects[i+1:] {
					if truth[b.Name]-truth[a.Name] > 0.15 {
						t.Errorf("%s, seed %d: %s stands before %s, and in truth %.2f and %.2f are theirs", name, seed, a.Name, b.Name, truth[a.Name], truth[b.Name])
					}
				}
			}
			if first := got.Effects[0].Name; truth[first] != slices.Max(slices.Collect(maps.Values(truth))) {
				t.Errorf("%s, seed %d: %s is first, the truth is %v", name, seed, first, truth)
			}
		}
	}
}

// recordedTruth is the total of each parameter, divided from the recorded times themselves.
func recordedTruth(rec *replay.Recording) map[string]float64 {
	t := newTable(rec.Space)
	whole := &table{levels: t.levels, ordered: t.ordered}
	var y []float64
	for i, row := range rec.Rows {
		if !row.Failed() {
			whole.rows, y = append(whole.rows, t.row(i)...), append(y, math.Log(row.Time))
			whole.n++
		}
	}
	d := whole.divide(y)
	truth := map[string]float64{}
	for k, p := range rec.Space.Parameters() {
		truth[p.Name] = d.main[k]
		for j := range rec.Space.Parameters() {
			truth[p.Name] += d.pair[pairKey(k, j)]
		}
	}
	return truth
}

func recordedSearch(rec *replay.Recording, trace replay.Trace) []Evaluation {
	var list []Evaluation
	for i, step := range trace {
		e := Evaluation{N: i, Point: rec.Space.Config(step.Outcome.Point), Status: CompileError}
		if !step.Outcome.Failed {
			e.Measured([]float64{step.Outcome.Value * 1e6}, false)
		}
		list = append(list, e)
	}
	return list
}
