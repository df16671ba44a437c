package stats_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/stats"
)

// A run as large as they get: its cases, sides, rounds and samples.
const (
	benchCases   = 100
	benchRounds  = 16
	benchSamples = 100
)

type benchCase struct{ base, candidate [][]float64 }

func benchRun() []benchCase {
	rng := rand.New(rand.NewPCG(1, 3))
	side := func() [][]float64 {
		rounds := make([][]float64, benchRounds)
		for i := range rounds {
			rounds[i] = rounded(normals(rng, benchSamples, 60+0.3*rng.NormFloat64(), 1), 1.0/32)
		}
		return rounds
	}
	run := make([]benchCase, benchCases)
	for i := range run {
		run[i] = benchCase{side(), side()}
	}
	return run
}

// analyse asks everything that a verdict and its report show of a case. Each round
// is sorted once.
func analyse(b benchCase) float64 {
	sides := [2]stats.Sorted{}
	medians := [2][]float64{}
	for i, rounds := range [][][]float64{b.base, b.candidate} {
		parts := make([]stats.Sorted, len(rounds))
		for j, r := range rounds {
			parts[j] = stats.Sort(r)
			medians[i] = append(medians[i], parts[j].Median())
		}
		sides[i] = stats.Merge(parts...)
	}
	base, candidate := sides[0], sides[1]
	p, err := stats.NewPaired(medians[0], medians[1], 1.0/32)
	if err != nil {
		return 0
	}
	d := make([]float64, len(medians[0]))
	for i := range d {
		d[i] = medians[1][i] - medians[0][i]
	}
	return p.Above(0) + p.Below(0.03) + p.Lower(0.999) + p.Ratio(0.95).High +
		candidate.Cliff(base) + candidate.MannWhitney(base, stats.TwoSided).P + stats.WilcoxonExact(d, stats.Greater).P +
		base.MedianInterval(0.95, 1.0/32).Low + candidate.MedianInterval(0.95, 1.0/32).High
}

// One operation is a whole run of 100 cases, two sides, 16 rounds and 100 samples.
func BenchmarkAnalyseRun(b *testing.B) {
	run := benchRun()
	var sum float64
	for b.Loop() {
		for _, c := range run {
			sum += analyse(c)
		}
	}
	if sum == 0 {
		b.Fatal("nothing was analysed")
	}
	if per := b.Elapsed() / time.Duration(b.N); per > 200*time.Millisecond {
		b.Logf("a run takes %v; 200 ms is the aim", per)
	}
}

func BenchmarkMedianInterval(b *testing.B) {
	for _, bench := range []struct {
		name string
		x    []float64
	}{
		{"smooth", normals(rand.New(rand.NewPCG(5, 5)), 100, 60, 1)},
		{"rounded", rounded(normals(rand.New(rand.NewPCG(5, 5)), 100, 60, 1), 1)},
		{"odd", normals(rand.New(rand.NewPCG(5, 5)), 99, 60, 1)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			for b.Loop() {
				stats.MedianInterval(bench.x, 0.95, 1)
			}
		})
	}
}

func BenchmarkTQuantile(b *testing.B) {
	for b.Loop() {
		stats.TQuantile(0.999, 15)
	}
}

func BenchmarkSort(b *testing.B) {
	x := rounded(normals(rand.New(rand.NewPCG(5, 5)), 100, 60, 1), 1.0/32)
	for b.Loop() {
		stats.Sort(x)
	}
}
