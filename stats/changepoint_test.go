package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/stats"
)

// MongoDB's own values for one of its series.
func TestQValuesAreMongoDBs(t *testing.T) {
	var series, want []float64
	data(t, "history/mongodb_robust_series.json", &series)
	data(t, "history/mongodb_robust_series_expected.json", &want)
	got := stats.QValues(series)
	if len(got) != len(want) || len(got) < 100 {
		t.Fatalf("%d values, want %d", len(got), len(want))
	}
	for i := range got {
		near(t, "q", got[i], want[i], 1e-10)
	}
}

// history is a series that jumps between levels, with noise, read from a timer.
func history(t *rapid.T) []float64 {
	var x []float64
	for range rapid.IntRange(0, 5).Draw(t, "levels") {
		level := rapid.IntRange(90, 110).Draw(t, "level")
		for _, off := range rapid.SliceOfN(rapid.IntRange(-3, 3), 1, 30).Draw(t, "noise") {
			x = append(x, float64(level)+float64(off)/2)
		}
	}
	return x
}

func finder(t *rapid.T) stats.ChangeFinder {
	return stats.ChangeFinder{
		Window:       rapid.SampledFrom([]int{0, 2, 3, 7, 10, 20}).Draw(t, "window"),
		MaxP:         rapid.SampledFrom([]float64{0, 0.01, 0.2, 0.9}).Draw(t, "max p"),
		MinMagnitude: rapid.SampledFrom([]float64{0, 0.03}).Draw(t, "min magnitude"),
		Quantum:      rapid.SampledFrom([]float64{0, 0.5}).Draw(t, "quantum"),
		LikeOtava:    rapid.Bool().Draw(t, "like Otava"),
	}
}

// A series that grows has at every moment the points of the whole series so far.
func TestIncrementalIsTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, f := history(t), finder(t)
		grows := stats.NewIncremental(f)
		for at := 0; at < len(x); {
			next := min(at+rapid.IntRange(1, 9).Draw(t, "values"), len(x))
			grows.Add(x[at:next]...)
			at = next
			if diff := cmp.Diff(f.Find(x[:at]), grows.Points(), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("after %d values (-whole +incremental):\n%s", at, diff)
			}
		}
	})
}

func TestChangePointProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, f := history(t), finder(t)
		before := slices.Clone(x)
		points := f.Find(x)
		if !slices.Equal(x, before) {
			t.Fatal("the caller's slice was changed")
		}
		last := 0
		for i, p := range points {
			if p.Index <= last || p.Index >= len(x) {
				t.Fatalf("point %d of %v in %d values", i, points, len(x))
			}
			end := len(x)
			if i+1 < len(points) {
				end = points[i+1].Index
			}
			maxP := f.MaxP
			if maxP == 0 {
				maxP = 0.001
			}
			if !(p.P >= 0 && p.P < maxP) || p.Magnitude() <= f.MinMagnitude {
				t.Fatalf("%+v with %+v", p, f)
			}
			if !f.LikeOtava && (math.Abs(p.Before-stats.Mean(x[last:p.Index])) > 1e-9 || math.Abs(p.After-stats.Mean(x[p.Index:end])) > 1e-9) {
				t.Fatalf("%+v does not tell the levels of %v", p, x)
			}
			last = p.Index
		}
		f.Quantum *= 4
		scaled := f.Find(times(x, 4, 0))
		f.Quantum /= 4
		if len(scaled) != len(points) {
			t.Fatalf("in another unit %v, was %v", scaled, points)
		}
		for i := range points {
			if scaled[i].Index != points[i].Index {
				t.Fatalf("in another unit %v, was %v", scaled, points)
			}
		}
	})
}

func TestQValuesProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := history(t)
		q := stats.QValues(x)
		if len(q) != len(x) || len(q) > 0 && q[0] != 0 {
			t.Fatalf("%d values of q for %d", len(q), len(x))
		}
		moved := stats.QValues(times(x, 2, 1000))
		slices.Reverse(x)
		backwards := stats.QValues(x)
		for i := 1; i < len(q); i++ {
			if math.Abs(moved[i]-2*q[i]) > 1e-7 {
				t.Fatalf("scaled and shifted %v, was %v", moved[i], q[i])
			}
			if got := backwards[len(x)-i]; math.Abs(got-q[i]) > 1e-7 {
				t.Fatalf("backwards %v, was %v", got, q[i])
			}
		}
	})
}

// A step of a few standard deviations is found where it is; noise alone and one wild
// value are hardly ever taken for one.
func TestStepsAreFound(t *testing.T) {
	const tries = 200
	rng := rand.New(rand.NewPCG(12, 1))
	found, alarms, spikes := 0, 0, 0
	for range tries {
		quiet := normals(rng, 100, 100, 1)
		if len(stats.ChangeFinder{}.Find(quiet)) > 0 {
			alarms++
		}
		spike := slices.Clone(quiet)
		spike[60] += 30
		if len(stats.ChangeFinder{MinMagnitude: 0.03}.Find(spike)) > 0 {
			spikes++
		}
		step := slices.Clone(quiet)
		for i := 60; i < len(step); i++ {
			step[i] += 4
		}
		points := stats.ChangeFinder{MinMagnitude: 0.02}.Find(step)
		if slices.ContainsFunc(points, func(p stats.ChangePoint) bool { return p.Index >= 59 && p.Index <= 61 }) {
			found++
		}
	}
	t.Logf("of %d series: steps found %d, alarms without %d, spikes taken for steps %d", tries, found, alarms, spikes)
	if found < tries*95/100 {
		t.Errorf("%d of %d steps were found", found, tries)
	}
	if alarms > tries*10/100 {
		t.Errorf("%d of %d series without a step have one", alarms, tries)
	}
	if spikes > tries*5/100 {
		t.Errorf("%d of %d wild values are taken for a step", spikes, tries)
	}
}

// One step of the timer is not a change of level, if the step is known.
func TestChangePointsKnowTheTimer(t *testing.T) {
	x := append(slices.Repeat([]float64{61}, 5), 62)
	if got := (stats.ChangeFinder{}).Find(x); len(got) != 1 || got[0].Index != 5 || got[0].P != 0 {
		t.Errorf("without a step of the timer: %v, want what Otava says", got)
	}
	if got := (stats.ChangeFinder{Quantum: 1}).Find(x); len(got) != 0 {
		t.Errorf("with it: %v", got)
	}
	long := append(slices.Repeat([]float64{61}, 20), slices.Repeat([]float64{65}, 20)...)
	if got := (stats.ChangeFinder{Quantum: 1}).Find(long); len(got) != 1 || got[0].Index != 20 {
		t.Errorf("four steps: %v", got)
	}
}

func TestChangePointsOfLittle(t *testing.T) {
	for name, x := range map[string][]float64{
		"nothing": nil, "one": {1}, "two": {1, 2}, "constant": slices.Repeat([]float64{0.1}, 120),
		"not a number": {1, math.NaN(), 3, 4, 5}, "infinite": {1, math.Inf(1), 3, 4, 5},
	} {
		if got := (stats.ChangeFinder{}).Find(x); len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
		if got := stats.NewIncremental(stats.ChangeFinder{}).Points(); len(got) != 0 {
			t.Errorf("an empty series: %v", got)
		}
	}
	if got := (stats.ChangePoint{Before: 0, After: 0}).Magnitude(); got != 0 {
		t.Errorf("from nothing to nothing: %v", got)
	}
	near(t, "magnitude, slower", stats.ChangePoint{Before: 100, After: 110}.Magnitude(), 0.1, 1e-12)
	near(t, "magnitude, faster", stats.ChangePoint{Before: 110, After: 100}.Magnitude(), 0.1, 1e-12)
}

// Real histories: the incremental way and the whole agree on them too.
func TestChangePointsOfRealHistories(t *testing.T) {
	var long []float64
	data(t, "history/mongodb_long_series.json", &long)
	var tiger []struct {
		Metrics []struct {
			Name  string
			Value float64
		}
	}
	data(t, "history/tigerbeetle.json", &tiger)
	series := map[string][]float64{"mongodb": long}
	for _, run := range tiger {
		for _, m := range run.Metrics {
			series[m.Name] = append(series[m.Name], m.Value)
		}
	}
	for name, x := range series {
		f := stats.ChangeFinder{MinMagnitude: 0.05}
		whole := f.Find(x)
		grows := stats.NewIncremental(f)
		for _, v := range x {
			grows.Add(v)
		}
		if diff := cmp.Diff(whole, grows.Points()); diff != "" {
			t.Errorf("%s (-whole +incremental):\n%s", name, diff)
		}
		t.Logf("%s: %d points in %d values", name, len(whole), len(x))
		if len(whole) == 0 {
			t.Errorf("%s: no change in %d values, which is known to have some", name, len(x))
		}
	}
}
