package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// histories are worlds of sessions: what each would have to be forecast from those before.
var histories = []struct {
	name string
	make func(r *rand.Rand, n int) []Past
}{
	{"nothing changes", func(r *rand.Rand, n int) []Past {
		return history(r, n, func(int) (float64, float64) { return 0, 0 }, 0.4, 0.15)
	}},
	{"faster each time", func(r *rand.Rand, n int) []Past {
		learns := 0.1 + 0.4*r.Float64()
		return history(r, n, func(i int) (float64, float64) {
			return -learns * math.Log(float64(i+1)), 0.1 * math.Log(float64(i+1))
		}, 0.35, 0.15)
	}},
	{"shorter by a part each time", func(r *rand.Rand, n int) []Past {
		return history(r, n, func(i int) (float64, float64) { return -0.03 * float64(i), -0.005 * float64(i) }, 0.3, 0.1)
	}},
	{"jumps", func(r *rand.Rand, n int) []Past {
		level, speed := 0.0, 0.0
		return history(r, n, func(int) (float64, float64) {
			if r.Float64() < 0.07 { // another kernel, another machine, another person
				level, speed = 0.6*r.NormFloat64(), 0.25*r.NormFloat64()
			}
			return level, speed
		}, 0.3, 0.12)
	}},
	{"one in ten is lost", func(r *rand.Rand, n int) []Past {
		return history(r, n, func(int) (float64, float64) {
			if r.Float64() < 0.1 {
				return 1.2, -0.3
			}
			return 0, 0
		}, 0.3, 0.15)
	}},
	{"wanders", func(r *rand.Rand, n int) []Past {
		level, speed := 0.0, 0.0
		return history(r, n, func(int) (float64, float64) {
			level, speed = level+0.15*r.NormFloat64(), speed+0.05*r.NormFloat64()
			return level, speed
		}, 0.3, 0.12)
	}},
}

func history(r *rand.Rand, n int, at func(int) (float64, float64), minutes, speedup float64) []Past {
	first, fast := math.Log(200)+0.5*r.NormFloat64(), math.Log(1.25)+0.2*r.NormFloat64()
	var list []Past
	for i := range n {
		a, b := at(i)
		list = append(list, Past{Minutes: math.Exp(first + a + minutes*r.NormFloat64()), Speedup: math.Exp(fast + b + speedup*r.NormFloat64())})
	}
	return list
}

func TestForecastCovers(t *testing.T) {
	const worlds, sessions = 60, 30
	for _, h := range histories {
		var minutes, speedups, asked float64
		for seed := range uint64(worlds) {
			list := h.make(rand.New(rand.NewPCG(seed, 3)), sessions)
			for i, next := range list {
				o := Forecast(list[:i])
				asked++
				if o.Minutes.Low <= next.Minutes && next.Minutes <= o.Minutes.High {
					minutes++
				}
				if o.Speedup.Low <= next.Speedup && next.Speedup <= o.Speedup.High {
					speedups++
				}
			}
		}
		t.Logf("%-28s minutes %.3f speed-up %.3f", h.name, minutes/asked, speedups/asked)
		for what, rate := range map[string]float64{"minutes": minutes / asked, "speed-up": speedups / asked} {
			if rate < 0.75 || rate > 0.85 {
				t.Errorf("%s: four of five %s should be inside, %.3f are", h.name, what, rate)
			}
		}
	}
}

func TestForecastLearns(t *testing.T) {
	none := Forecast(nil)
	if math.Abs(none.Minutes.Value-240) > 1 || math.Abs(none.Speedup.Value-1.2) > 0.001 || none.Basis != 0 {
		t.Errorf("without sessions the plan is 240 minutes to 1.2x, not %+v", none)
	}
	if none.Minutes.High/none.Minutes.Low < 4 {
		t.Errorf("without sessions nothing is known, yet minutes are %+v", none.Minutes)
	}
	var past []Past
	for range 12 {
		past = append(past, Past{Minutes: 60, Speedup: 2}, Past{Minutes: 66, Speedup: 0}, Past{Minutes: 54, Speedup: 1.9})
	}
	o := Forecast(past)
	if math.Abs(o.Minutes.Value-60) > 8 || math.Abs(o.Speedup.Value-1.95) > 0.15 || o.Basis != 36 {
		t.Errorf("sessions of an hour that double the speed forecast %+v", o)
	}
	if o.Minutes.High/o.Minutes.Low > 2 {
		t.Errorf("steady sessions should be forecast closely, not %+v", o.Minutes)
	}
	var shrinking []Past
	for i := range 20 {
		shrinking = append(shrinking, Past{Minutes: 240 / math.Sqrt(float64(i+1))})
	}
	if o := Forecast(shrinking); o.Minutes.Value > 62 {
		t.Errorf("each session was shorter, the last 54 minutes: forecast %+v", o.Minutes)
	}
}

func TestForecastOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var past []Past
		for range rapid.IntRange(0, 50).Draw(t, "sessions") {
			past = append(past, Past{Minutes: rapid.Float64().Draw(t, "minutes"), Speedup: rapid.Float64().Draw(t, "speedup")})
		}
		past = append(past, Past{math.NaN(), math.Inf(1)})
		o := Forecast(past)
		for _, r := range []Range{o.Minutes, o.Speedup} {
			if !(0 < r.Low && r.Low <= r.Value && r.Value <= r.High && !math.IsInf(r.High, 0)) {
				t.Fatalf("%+v from %v", r, past)
			}
		}
	})
}
