package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/stats"
)

// timings are samples as a device timer gives them: whole steps, with ties, now
// and then all equal or with a wild one. The step is a power of two, so that shifting and
// scaling them by such keeps every digit.
func timings(t *rapid.T, name string, least, most int) []float64 {
	step := math.Ldexp(1, rapid.IntRange(-12, 3).Draw(t, name+" step"))
	spread := rapid.SampledFrom([]int{0, 1, 3, 40, 5000}).Draw(t, name+" spread")
	counts := rapid.SliceOfN(rapid.IntRange(6000, 6000+spread), least, most).Draw(t, name)
	x := make([]float64, len(counts))
	for i, c := range counts {
		x[i] = float64(c) * step
	}
	return x
}

// times is every value times a factor, moved by a shift.
func times(x []float64, factor, shift float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = v*factor + shift
	}
	return y
}

// rounded is what a timer of step q reads.
func rounded(x []float64, q float64) []float64 {
	if q == 0 {
		return x
	}
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = math.Round(v/q) * q
	}
	return y
}

func normals(rng *rand.Rand, n int, mean, sd float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = mean + sd*rng.NormFloat64()
	}
	return x
}

// Nothing that is handed in is changed, and nothing that is a valid set of timings
// gives anything but numbers.
func TestInputsAreKeptAndAnswersAreNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := timings(t, "x", 1, 40), timings(t, "y", 1, 40)
		quantum := rapid.SampledFrom([]float64{0, 0.25, 8}).Draw(t, "quantum")
		beforeX, beforeY := slices.Clone(x), slices.Clone(y)
		for name, v := range everything(x, y, quantum) {
			if math.IsNaN(v) {
				t.Errorf("%s is NaN", name)
			}
		}
		if !slices.Equal(x, beforeX) || !slices.Equal(y, beforeY) {
			t.Fatal("the caller's slices were changed")
		}
	})
}

// everything is each answer that two sets of timings give, by name.
func everything(x, y []float64, quantum float64) map[string]float64 {
	short := min(len(x), len(y))
	all := map[string]float64{
		"median": stats.Median(x), "quantile": stats.Quantile(x, 0.99), "mean": stats.Mean(x), "mad": stats.MAD(x),
		"cliff":           stats.Cliff(x, y),
		"mann-whitney U":  stats.MannWhitney(x, y, stats.TwoSided).Statistic,
		"mann-whitney P":  stats.MannWhitney(x, y, stats.Less).P,
		"autocorrelation": stats.Autocorrelation(x, 1),
		"effective size":  stats.EffectiveSize(x),
	}
	if len(x) > 1 {
		all["sd"], all["cv"] = stats.StdDev(x), stats.CV(x)
	}
	interval := func(name string, i stats.Interval) { all[name+" low"], all[name+" high"] = i.Low, i.High }
	few := stats.Bootstrap{Resamples: 20}
	interval("median interval", stats.MedianInterval(x, 0.95, quantum))
	interval("bootstrap", few.Median(x))
	interval("rounds", few.Rounds([][]float64{x, y}, func(r [][]float64) float64 { return stats.Median(r[0]) }))
	interval("ratio", stats.MedianRatio(x, y, 0.95, quantum).Interval)
	interval("drawn ratio", few.MedianRatio(x, y).Interval)
	interval("drawn paired ratio", few.PairedRatio([][]float64{x, x}, [][]float64{y, x}).Interval)
	d := make([]float64, short)
	for i := range d {
		d[i] = x[i] - y[i]
	}
	all["wilcoxon"], all["exact wilcoxon"] = stats.Wilcoxon(d, stats.TwoSided).P, stats.WilcoxonExact(d, stats.TwoSided).P
	if p, err := stats.NewPaired(x[:short], y[:short], quantum); err == nil {
		all["mean log ratio"], all["t"] = p.Mean, p.T(math.Log(1.03))
		all["above"], all["below"] = p.Above(0), p.Below(math.Log(1.03))
		interval("paired", p.Interval(0.999))
		interval("paired ratio", p.Ratio(0.95).Interval)
	} else {
		all["paired"] = math.NaN()
	}
	for _, m := range stats.Modes(x, quantum) {
		all["mode"], all["mode share"] = m.At, m.Share
	}
	for _, q := range stats.QValues(x) {
		all["q"] = q
	}
	for _, c := range (stats.ChangeFinder{Window: 10, MaxP: 0.2, Quantum: quantum}).Find(x) {
		all["change P"], all["change"] = c.P, c.Magnitude()
	}
	return all
}
