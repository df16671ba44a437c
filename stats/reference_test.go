package stats_test

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/stats"
)

// reference is testdata/reference.json, made by reference.py beside it.
type reference struct {
	MadeWith map[string]string    `json:"made_with"`
	Samples  map[string][]float64 `json:"samples"`
	Series   map[string][]float64 `json:"series"`
	Describe []struct {
		X                                    string
		Median, P05, P95, P99, Mean, SD, MAD float64
	}
	NormalCDF      []struct{ Z, P float64 } `json:"normal_cdf"`
	NormalQuantile []struct{ P, Z float64 } `json:"normal_quantile"`
	Student        []struct{ T, DF, P float64 }
	Power          []struct {
		Shift, SD, Alpha, Power float64
		N                       int
	}
	Trimmed []struct {
		X                     string
		Share, Mean, T, Above float64
	}
	MedianLaw []struct {
		X                string
		Level, Low, High float64
	} `json:"median_law"`
	MedianDrawn []struct {
		X                string
		Level, Low, High float64
	} `json:"median_drawn"`
	Cliff []struct {
		X, Y  string
		Delta float64
	}
	MannWhitney []struct {
		X, Y, Alternative string
		U, P              float64
	} `json:"mann_whitney"`
	Differences map[string][]float64
	Wilcoxon    []struct {
		D, Alternative string
		Statistic, P   float64
	}
	Autocorrelation []struct {
		X   string
		Lag int
		R   float64
	}
	EffectiveSize []struct {
		X    string
		Size float64
	} `json:"effective_size"`
	Paired []struct {
		Base, Candidate                                    string
		Shift, Level, Mean, SD, T, Above, Below, Low, High float64
	}
	Spending []struct {
		Kind           string
		Alpha          float64
		Looks          []int
		Shares, Bounds []float64
	}
	Multiple []struct {
		P, Holm           []float64
		BenjaminiHochberg []float64 `json:"benjamini_hochberg"`
	}
	QValues []struct {
		Series string
		Q      []float64
	} `json:"q_values"`
	ChangePoints []struct {
		Series       string
		Window       int
		MaxP         float64 `json:"max_p"`
		MinMagnitude float64 `json:"min_magnitude"`
		LikeOtava    bool    `json:"like_otava"`
		Points       []struct {
			Index            int
			P, Before, After float64
		}
	} `json:"change_points"`
}

func loadReference(t *testing.T) reference {
	t.Helper()
	b, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var ref reference
	if err := json.Unmarshal(b, &ref); err != nil {
		t.Fatal(err)
	}
	return ref
}

// Tolerances are relative, or absolute below 1. What is a formula agrees to ten
// digits; what is integrated by other steps, or drawn, says so.
const closed = 1e-10

func alternative(t *testing.T, name string) stats.Alternative {
	t.Helper()
	a, ok := map[string]stats.Alternative{"two-sided": stats.TwoSided, "less": stats.Less, "greater": stats.Greater}[name]
	if !ok {
		t.Fatalf("no alternative %q", name)
	}
	return a
}

// relative holds small numbers, such as P in a far tail, to their own digits.
func relative(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%s = %.15g, want %.15g", what, got, want)
	}
}

func TestReferenceDescribe(t *testing.T) {
	ref := loadReference(t)
	for _, d := range ref.Describe {
		x := ref.Samples[d.X]
		near(t, d.X+" median", stats.Median(x), d.Median, closed)
		for i, want := range []float64{d.P05, d.P95, d.P99} {
			near(t, d.X+" quantile", stats.Quantiles(x, 0.05, 0.95, 0.99)[i], want, closed)
		}
		near(t, d.X+" mean", stats.Mean(x), d.Mean, closed)
		near(t, d.X+" sd", stats.StdDev(x), d.SD, closed)
		near(t, d.X+" cv", stats.CV(x), d.SD/d.Mean, closed)
		near(t, d.X+" mad", stats.MAD(x), d.MAD, closed)
	}
}

func TestReferenceDistributions(t *testing.T) {
	ref := loadReference(t)
	for _, d := range ref.NormalCDF {
		relative(t, "normal cdf", stats.NormalCDF(d.Z), d.P, closed)
	}
	for _, d := range ref.NormalQuantile {
		near(t, "normal quantile", stats.NormalQuantile(d.P), d.Z, closed)
	}
	for _, d := range ref.Student {
		relative(t, "t cdf", stats.TCDF(d.T, d.DF), d.P, closed)
		if d.P > 1e-12 && d.P < 1-1e-9 { // the rest is lost in p itself
			near(t, "t quantile", stats.TQuantile(d.P, d.DF), d.T, 1e-6)
		}
	}
	for _, d := range ref.Power { // integrated, here and there
		near(t, "power", stats.Power(d.Shift, d.SD, d.N, d.Alpha), d.Power, 1e-7)
	}
}

func TestReferenceMedianInterval(t *testing.T) {
	ref := loadReference(t)
	for _, d := range ref.MedianLaw { // of every resample that there is: to the last bit or so
		got := stats.MedianInterval(ref.Samples[d.X], d.Level, 0)
		near(t, d.X+" low", got.Low, d.Low, 1e-14)
		near(t, d.X+" high", got.High, d.High, 1e-14)
	}
	for _, d := range ref.MedianDrawn { // of 50,000 resamples; a gap between neighbours is about 0.025
		for name, got := range map[string]stats.Interval{
			"exact": stats.MedianInterval(ref.Samples[d.X], d.Level, 0),
			"drawn": stats.Bootstrap{Level: d.Level}.Median(ref.Samples[d.X]),
		} {
			near(t, d.X+" "+name+" low", got.Low, d.Low, 0.05/60)
			near(t, d.X+" "+name+" high", got.High, d.High, 0.05/60)
		}
	}
}

func TestReferenceTests(t *testing.T) {
	ref := loadReference(t)
	for _, d := range ref.Cliff {
		near(t, d.X+" "+d.Y+" delta", stats.Cliff(ref.Samples[d.X], ref.Samples[d.Y]), d.Delta, closed)
	}
	for _, d := range ref.MannWhitney {
		got := stats.MannWhitney(ref.Samples[d.X], ref.Samples[d.Y], alternative(t, d.Alternative))
		near(t, d.X+" "+d.Y+" "+d.Alternative+" U", got.Statistic, d.U, 0)
		relative(t, d.X+" "+d.Y+" "+d.Alternative+" P", got.P, d.P, closed)
	}
	for _, d := range ref.Wilcoxon {
		got := stats.Wilcoxon(ref.Differences[d.D], alternative(t, d.Alternative))
		near(t, d.D+" "+d.Alternative+" statistic", got.Statistic, d.Statistic, 0)
		relative(t, d.D+" "+d.Alternative+" P", got.P, d.P, closed)
	}
	for _, d := range ref.Multiple {
		for i := range d.P {
			near(t, "Holm", stats.Holm(d.P)[i], d.Holm[i], closed)
			near(t, "Benjamini-Hochberg", stats.BenjaminiHochberg(d.P)[i], d.BenjaminiHochberg[i], closed)
		}
	}
}

func TestReferenceTrimmed(t *testing.T) {
	ref := loadReference(t)
	if len(ref.Trimmed) == 0 {
		t.Fatal("the reference has no trimmed means")
	}
	for _, d := range ref.Trimmed {
		got := stats.NewTrimmed(ref.Samples[d.X], d.Share)
		near(t, d.X+" mean", got.Mean, d.Mean, closed)
		near(t, d.X+" t", (got.Mean-60)/got.SE, d.T, closed)
		relative(t, d.X+" above", stats.TCDF(-(got.Mean-60)/got.SE, got.DF()), d.Above, closed)
	}
}

func TestReferencePaired(t *testing.T) {
	ref := loadReference(t)
	for _, d := range ref.Paired {
		p, err := stats.NewPaired(ref.Samples[d.Base], ref.Samples[d.Candidate], 0)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "mean", p.Mean, d.Mean, closed)
		near(t, "sd", p.SD, d.SD, closed)
		near(t, "t", p.T(d.Shift), d.T, closed)
		relative(t, "above", p.Above(d.Shift), d.Above, closed)
		relative(t, "below", p.Below(d.Shift), d.Below, closed)
		near(t, "low", p.Interval(d.Level).Low, d.Low, closed)
		near(t, "high", p.Interval(d.Level).High, d.High, closed)
	}
}

func TestReferenceAutocorrelation(t *testing.T) {
	ref := loadReference(t)
	for _, d := range ref.Autocorrelation {
		near(t, d.X, stats.Autocorrelation(ref.Samples[d.X], d.Lag), d.R, closed)
	}
	for _, d := range ref.EffectiveSize {
		near(t, d.X, stats.EffectiveSize(ref.Samples[d.X]), d.Size, closed)
	}
}

func TestReferenceSpending(t *testing.T) {
	for _, d := range loadReference(t).Spending {
		spending := map[string]stats.Spending{
			"power 1":        stats.PowerSpending(1),
			"power 3":        stats.PowerSpending(3),
			"obrien-fleming": stats.OBrienFlemingSpending(d.Alpha),
			"pocock":         stats.PocockSpending(),
		}[d.Kind]
		shares := spending.Shares(d.Looks)
		bounds := stats.Boundaries(d.Alpha, d.Looks, shares)
		for i := range d.Looks {
			relative(t, d.Kind+" share", shares[i], d.Shares[i], closed)
			relative(t, d.Kind+" boundary", bounds[i], d.Bounds[i], 1e-7) // integrated by other steps
		}
	}
}

func TestReferenceChangePoints(t *testing.T) {
	ref := loadReference(t)
	for _, d := range ref.QValues {
		got := stats.QValues(ref.Series[d.Series])
		for i, want := range d.Q {
			near(t, d.Series+" q", got[i], want, closed)
		}
	}
	for _, d := range ref.ChangePoints {
		f := stats.ChangeFinder{Window: d.Window, MaxP: d.MaxP, MinMagnitude: d.MinMagnitude, LikeOtava: d.LikeOtava}
		got := f.Find(ref.Series[d.Series])
		if len(got) != len(d.Points) {
			t.Errorf("%s: %d points %v, want %v", d.Series, len(got), got, d.Points)
			continue
		}
		for i, want := range d.Points {
			if got[i].Index != want.Index {
				t.Errorf("%s: point %d at %d, want %d", d.Series, i, got[i].Index, want.Index)
			}
			relative(t, d.Series+" P", got[i].P, want.P, 1e-9)
			near(t, d.Series+" before", got[i].Before, want.Before, closed)
			near(t, d.Series+" after", got[i].After, want.After, closed)
		}
	}
}

// python is a Python with SciPy, or the test is skipped.
func python(t *testing.T) string {
	t.Helper()
	const path = "/usr/bin/python3"
	if err := exec.CommandContext(t.Context(), path, "-c", "import scipy.stats").Run(); err != nil {
		t.Skipf("%s has no scipy: %v", path, err)
	}
	return path
}

// The committed values are those that the committed script makes. Other versions
// may differ in last digits, and those that draw, in more: then this says nothing.
func TestReferenceIsWhatTheScriptMakes(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	out, err := exec.CommandContext(t.Context(), python(t), "testdata/reference.py").Output()
	if err != nil {
		t.Fatalf("running reference.py: %v", err)
	}
	var made any
	if err := json.Unmarshal(out, &made); err != nil {
		t.Fatal(err)
	}
	var fresh reference
	if err := json.Unmarshal(out, &fresh); err != nil {
		t.Fatal(err)
	}
	committed := loadReference(t)
	if diff := cmp.Diff(committed.MadeWith, fresh.MadeWith); diff != "" {
		t.Skipf("other versions than the committed file: %s", diff)
	}
	b, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var want any
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	// Sums may be taken in another order on another processor.
	last := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b)) })
	if diff := cmp.Diff(want, made, last); diff != "" {
		t.Errorf("reference.json is not what reference.py makes (-committed +made):\n%s", diff)
	}
}
