package lab

import (
	"math"
	"testing"

	"github.com/goatnote-inc/pawl/stats"
)

// differences are the logarithms of the ratios of the sides over many comparisons, one after the other.
func differences(name string, rounds int) []float64 {
	s := NewScene(Gaussian, 0.02, 0)
	for _, m := range machines {
		if m.name == name {
			m.change(&s)
		}
	}
	var list []float64
	for trial := range uint64(200) {
		c := s.Compare(5, trial)
		list = append(list, logs(medians(c, Base, rounds), medians(c, Candidate, rounds))...)
	}
	return list
}

// Every machine makes the noise that its name says.
func TestMachines(t *testing.T) {
	const rounds = 64
	lag := func(list []float64) float64 {
		var products, squares float64
		for i, v := range list {
			squares += v * v
			if i%rounds > 0 {
				products += v * list[i-1]
			}
		}
		return products / squares
	}
	far := func(list []float64, from float64) float64 {
		n := 0
		for _, v := range list {
			if math.Abs(v) > from {
				n++
			}
		}
		return float64(n) / float64(len(list))
	}
	for _, test := range []struct {
		name       string
		what       string
		of         func([]float64) float64
		want, give float64
	}{
		{"Gaussian", "spread", stats.StdDev, 0.02 * math.Sqrt2, 0.001},
		{"two speeds, by round", "spread", stats.StdDev, 0.02 * math.Sqrt2, 0.001},
		{"lognormal", "spread", stats.StdDev, 0.02 * math.Sqrt2, 0.004},
		{"the candidate spreads twice as much", "spread", stats.StdDev, 0.02 * math.Sqrt2, 0.001},
		{"Gaussian", "lag-1", lag, 0, 0.03},
		{"resembles the round before by 0.6", "lag-1", lag, 0.6, 0.05},
		{"a side's speed lasts for some rounds", "lag-1", lag, 0.75 * apartModes * apartModes, 0.05},
		{"4 % of rounds wild", "share beyond 10 %", func(l []float64) float64 { return far(l, 0.1) }, 0.04, 0.01},
		{"bursts of 30 %", "share beyond 15 %", func(l []float64) float64 { return far(l, 0.15) }, 0.25, 0.01},
		{"each side wanders", "spread at the last round over that at the first", func(l []float64) float64 {
			var early, late []float64
			for i := 0; i < len(l); i += rounds {
				early, late = append(early, l[i]), append(late, l[i+rounds-1])
			}
			return stats.StdDev(late) / stats.StdDev(early)
		}, math.Sqrt(1+64.0/16) / math.Sqrt(1+1.0/16), 0.4},
	} {
		if got := test.of(differences(test.name, rounds)); math.Abs(got-test.want) > test.give {
			t.Errorf("%s: %s %.4f, want %.4f", test.name, test.what, got, test.want)
		}
	}
}

// Cases of a suite can have noise in common.
func TestAlikeCases(t *testing.T) {
	s := NewScene(Gaussian, 0.02, 0)
	s.Alike = 0.5
	var products, squares float64
	for trial := range uint64(300) {
		cases := s.suite(3, trial, 2)
		a := logs(medians(cases[0], Base, 16), medians(cases[0], Candidate, 16))
		b := logs(medians(cases[1], Base, 16), medians(cases[1], Candidate, 16))
		for i := range a {
			products += a[i] * b[i]
			squares += (a[i]*a[i] + b[i]*b[i]) / 2
		}
	}
	if got := products / squares; math.Abs(got-0.5) > 0.05 {
		t.Errorf("two cases of a suite are alike by %.2f, want 0.5", got)
	}
}
