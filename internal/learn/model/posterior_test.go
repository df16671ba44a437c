package model

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// testdata/posterior.json was made once by numpy and scipy (posterior.py).
func TestPosteriorAgreesWithScipy(t *testing.T) {
	type at struct {
		Key
		Kernel   string
		Prior    float64
		Claims   map[string]float64
		Gain     float64
		Error    float64
		Expected float64
		Variance float64
	}
	var want struct {
		Scales   struct{ Fix, Slope, Class, GPU, Noise, Kernel float64 }
		Outcomes []at
		Asked    []at
		Evidence float64
	}
	b, err := os.ReadFile("testdata/posterior.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	claims := func(a at) []Claim {
		var list []Claim
		for l, g := range a.Claims {
			list = append(list, Claim{l, g})
		}
		return tame(Candidate{Claims: list}).Claims
	}
	var outcomes []Outcome
	for _, o := range want.Outcomes {
		outcomes = append(outcomes, Outcome{Key: o.Key, Kernel: o.Kernel, Gain: o.Gain, Error: o.Error, Prior: o.Prior, Claims: claims(o)})
	}
	list := cells(outcomes)
	if len(list) != len(outcomes) {
		t.Fatalf("%d cells of %d outcomes", len(list), len(outcomes))
	}
	weights := make([]float64, len(list))
	for i := range weights {
		weights[i] = 1
	}
	f := newDesign(list, false).solve(scales{want.Scales.Fix, want.Scales.Slope, want.Scales.Class, want.Scales.GPU, want.Scales.Noise, want.Scales.Kernel}, weights)
	if math.Abs(f.evidence-want.Evidence) > 1e-8 {
		t.Errorf("evidence %.12g, scipy says %.12g", f.evidence, want.Evidence)
	}
	for _, a := range want.Asked {
		g := f.guess(place{a.Key, a.Kernel}, a.Prior, claims(a))
		if math.Abs(g.mean-a.Expected) > 1e-10 || math.Abs(g.variance()-a.Variance) > 1e-10 {
			t.Errorf("%v on %s: %.12g with variance %.12g, scipy says %.12g and %.12g", a.Key, a.Kernel, g.mean, g.variance(), a.Expected, a.Variance)
		}
	}
}
