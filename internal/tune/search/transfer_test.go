package search_test

import (
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/tune/search"
)

// A source with the same taste is worth many evaluations, and one with the opposite
// taste does not ruin a search.
func TestWarmStart(t *testing.T) {
	testrun.SkipRace(t)
	s := tiles(t)
	all := make([]int, s.Len())
	for i := range all {
		all[i] = i
	}
	optimum := least(s, all)
	var good, bad []search.Outcome
	for _, p := range run(t, "auto", s, search.Options{Seed: 99}, 100) {
		o := evaluate(s, p)
		o.Value *= 7 // another device, slower in all
		good = append(good, o)
		if !o.Failed {
			o.Value = 1 / o.Value
		}
		bad = append(bad, o)
	}
	mean := func(source []search.Outcome, evaluations int) float64 {
		sum := 0.0
		for seed := range uint64(5) {
			sum += optimum / least(s, run(t, "auto", s, search.Options{Seed: seed, Source: source}, evaluations)) / 5
		}
		return sum
	}
	if warm, cold := mean(good, 8), mean(nil, 24); warm < cold {
		t.Errorf("8 evaluations with a source reach %.3f, 24 without %.3f", warm, cold)
	}
	if warm, cold := mean(bad, 60), mean(nil, 60); warm < cold-0.05 {
		t.Errorf("60 evaluations with a misleading source reach %.3f, without %.3f", warm, cold)
	}
	nothing := []search.Outcome{{Point: 3, Failed: true}}
	if got := len(run(t, "auto", s, search.Options{Source: nothing}, 10)); got != 10 {
		t.Errorf("with a source where nothing worked there were %d evaluations", got)
	}
}

// A search begins anew while evaluations are out: none is asked twice, and late outcomes find
// their points.
func TestWarmWithEvaluatorsOut(t *testing.T) {
	s := tiles(t)
	var source []search.Outcome
	for p := 0; p < s.Len(); p += 40 {
		source = append(source, evaluate(s, p))
	}
	auto, err := search.New("auto", s, search.Options{Seed: 4, Source: source})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	var out []int
	for range 10 {
		for _, p := range auto.Ask(8) {
			if seen[p] {
				t.Fatalf("%d was asked twice", p)
			}
			seen[p] = true
			out = append(out, p)
		}
		for len(out) > 5 {
			auto.Tell(evaluate(s, out[len(out)/2]))
			out = append(out[:len(out)/2], out[len(out)/2+1:]...)
		}
	}
	if len(seen) != 80 {
		t.Errorf("%d points were asked for", len(seen))
	}
}
