package runner

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/correctness"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
	"github.com/goatnote-inc/pawl/measure"
)

// sum adds values as a harness does, with signs that only the caller of both sides knows.
func sum(values []float64) []float64 {
	signs := rand.New(rand.NewPCG(7, 7))
	out := make([]float64, harness.SumBlocks*harness.BlockSums)
	each := (len(values) + harness.SumBlocks - 1) / harness.SumBlocks
	for i, x := range values {
		b := out[i/each*harness.BlockSums:]
		b[3]++
		sign := float64(signs.IntN(2)*2 - 1)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			b[2]++
			continue
		}
		b[0] += sign * x
		b[1] += x * x
	}
	return out
}

func TestAgree(t *testing.T) {
	const n, batch = 5000, 2
	rng := rand.New(rand.NewPCG(1, 2))
	right := make([]float64, n*batch)
	for i := range right {
		right[i] = rng.NormFloat64()
	}
	changed := func(f func(i int, x float64) float64) []float64 {
		out := make([]float64, len(right))
		for i, x := range right {
			out[i] = f(i, x)
		}
		return out
	}
	c := trial.Case{
		Key:       measure.CaseKey{Benchmark: "k", Config: "N1", Implementation: measure.Candidate},
		Arguments: []tensor.Argument{{Name: "x", Role: tensor.In, DType: tensor.F32, Shape: []int{n}}, {Name: "y", Role: tensor.Out, DType: tensor.F32, Shape: []int{n}}},
	}
	v := &verifier{slack: map[string]map[string]correctness.Slack{}}
	v.recordTolerance(c, correctness.Comparison{Output: "y", Slack: correctness.Slack{Abs: 1e-5, Rel: 1e-5}})
	for _, test := range []struct {
		name string
		got  []float64
		ok   bool
	}{
		{"the same", right, true},
		{"rounding", changed(func(_ int, x float64) float64 { return float64(float32(x)) }), true},
		{"as far off as the rules allow, everywhere", changed(func(i int, x float64) float64 { return x + 1e-5*float64(1-i%2*2) }), true},
		{"one element of 10,000 is zero", changed(func(i int, x float64) float64 { return x * float64(min(1, abs(i-4321))) }), false},
		{"one run of two is left out", changed(func(i int, x float64) float64 { return x * float64(i/n) }), false},
		{"half the precision", changed(func(_ int, x float64) float64 { return math.Round(x*256) / 256 }), false},
		{"NaN out of place", changed(func(i int, x float64) float64 { return x / float64(min(1, abs(i-99))) }), false},
		{"a constant", changed(func(int, float64) float64 { return 0.5 }), false},
	} {
		if wrong := v.agree(c, 1, sum(right), sum(test.got)); (wrong == "") != test.ok {
			t.Errorf("%s: %q", test.name, wrong)
		}
	}
	if wrong := v.agree(c, 1, sum(right), nil); wrong == "" {
		t.Error("no sums at all agree")
	}
	if wrong := v.agree(c, 2, sum(right), sum(right)); wrong == "" {
		t.Error("sums of one sample of two agree: the other was never compared")
	}
}

func abs(n int) int { return max(n, -n) }
