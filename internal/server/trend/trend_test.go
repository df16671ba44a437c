package trend_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/server/trend"
)

// series is n values around levels that begin at the given places, with normal noise.
func series(seed uint64, n int, noise float64, level func(i int) float64) []float64 {
	r := rand.New(rand.NewPCG(seed, 7))
	list := make([]float64, n)
	for i := range list {
		list[i] = level(i) * math.Exp(noise*r.NormFloat64())
	}
	return list
}

func step(at int, size float64) func(int) float64 {
	return func(i int) float64 {
		if i >= at {
			return 1000 * (1 + size)
		}
		return 1000
	}
}

// What is found does not depend on how often somebody looked in between, and a state
// survives being written down.
func TestPortionsChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		n := rapid.IntRange(0, 300).Draw(t, "points")
		level, all := 1000.0, make([]float64, n)
		for i := range all {
			switch r.IntN(40) {
			case 0:
				level *= math.Exp(0.1 * r.NormFloat64())
			case 1:
				all[i] = level * (1 + r.Float64())
				continue
			case 2:
				all[i] = 0 // a run that gave nothing
				continue
			}
			all[i] = level * math.Exp(0.01*r.NormFloat64())
		}
		var st trend.State
		var s trend.Settings
		for seen := 0; seen < n; {
			seen = min(n, seen+rapid.IntRange(1, 25).Draw(t, "more"))
			var got trend.Result
			got, st = trend.Find(all[:seen], s, st)
			want, fresh := trend.Find(all[:seen], s, trend.State{})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("after %d points (-whole +portions):\n%s", seen, diff)
			}
			if diff := cmp.Diff(fresh, st, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("state after %d points (-whole +portions):\n%s", seen, diff)
			}
		}
	})
}

func TestAStrangeStateIsLeftAside(t *testing.T) {
	p := series(1, 120, 0.01, step(60, 0.1))
	want, good := trend.Find(p, trend.Settings{}, trend.State{})
	for name, st := range map[string]func(*trend.State){
		"another version":     func(s *trend.State) { s.Version++ },
		"more points":         func(s *trend.State) { s.Points += 1000 },
		"fewer values":        func(s *trend.State) { s.Values-- },
		"a start beyond":      func(s *trend.State) { s.Start = 1 << 40 },
		"a negative start":    func(s *trend.State) { s.Start = -5 },
		"a change beyond":     func(s *trend.State) { s.Changes = []trend.Change{{First: 3, Last: 1 << 40}} },
		"changes in disorder": func(s *trend.State) { s.Changes = []trend.Change{{First: 9, Last: 9}, {First: 3, Last: 3}} },
	} {
		bad := good
		st(&bad)
		if got, _ := trend.Find(p, trend.Settings{}, bad); !cmp.Equal(want, got) {
			t.Errorf("%s: %s", name, cmp.Diff(want, got))
		}
	}
}

func TestWhatIsTold(t *testing.T) {
	type told struct {
		Kind  trend.Kind
		To    int
		Worse bool
	}
	for name, c := range map[string]struct {
		values   []float64
		settings trend.Settings
		want     []told
		two      bool
	}{
		"nothing":           {values: series(1, 200, 0.01, step(1000, 0))},
		"a step":            {values: series(2, 120, 0.01, step(60, 0.1)), want: []told{{trend.Step, 60, true}}},
		"a gain":            {values: series(3, 120, 0.01, step(60, -0.1)), want: []told{{trend.Step, 60, false}}},
		"more is better":    {values: series(3, 120, 0.01, step(60, -0.1)), settings: trend.Settings{Higher: true}, want: []told{{trend.Step, 60, true}}},
		"a short history":   {values: series(12, 18, 0.001, step(14, 0.3)), want: []told{{trend.Step, 14, true}}},
		"four points later": {values: series(4, 64, 0.005, step(60, 0.1)), want: []told{{trend.Step, 60, true}}},
		"three are few":     {values: series(4, 63, 0.005, step(60, 0.1))},
		"too small":         {values: series(5, 200, 0.002, step(100, 0.01))},
		"two of them": {values: series(6, 200, 0.01, func(i int) float64 {
			return step(60, 0.1)(i) * step(140, -0.2)(i) / 1000
		}), want: []told{{trend.Step, 60, true}, {trend.Step, 140, false}}},
		"taken back": {values: series(7, 200, 0.01, func(i int) float64 {
			return step(60, 0.1)(i) * step(80, -1.0/11)(i) / 1000
		}), want: []told{{trend.Step, 60, true}, {trend.Step, 80, false}}},
		"three on the way": {values: series(11, 120, 0.002, func(i int) float64 {
			if i >= 57 && i < 60 {
				return 1060
			}
			return step(60, 0.15)(i)
		}), want: []told{{trend.Step, 60, true}}},
		"outliers": {values: series(8, 200, 0.01, func(i int) float64 {
			if i%37 == 5 {
				return 1500
			}
			return 1000
		})},
		"a creep": {values: series(9, 300, 0.01, func(i int) float64 { return 1000 * math.Exp(0.0003*float64(i)) }), want: []told{{trend.Drift, 299, true}}},
		"two speeds": {values: series(10, 240, 0.005, func(i int) float64 {
			return 1000 + 80*float64(i/9%2)
		}), two: true},
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := trend.Find(c.values, c.settings, trend.State{})
			var got []told
			for _, e := range f.Events {
				got = append(got, told{e.Kind, e.To, e.Worse})
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s%+v", diff, f)
			}
			if f.TwoSpeeds != c.two {
				t.Errorf("two speeds: %v", f.TwoSpeeds)
			}
		})
	}
}

func TestLevelsAreKnown(t *testing.T) {
	f, _ := trend.Find(series(2, 120, 0.01, step(60, 0.1)), trend.Settings{}, trend.State{})
	if len(f.Events) != 1 {
		t.Fatalf("%+v", f)
	}
	e := f.Events[0]
	if math.Abs(e.After/e.Before-1.1) > 0.01 || e.From != 59 || e.First != 60 || e.Last != 119 || e.P > 1e-6 {
		t.Errorf("%+v", e)
	}
	if f.Noise < 0.005 || f.Noise > 0.02 {
		t.Errorf("noise %.4f of values with 0.01", f.Noise)
	}
}

func TestPointsWithoutAValueArePassedOver(t *testing.T) {
	v := series(2, 120, 0.01, step(60, 0.1))
	v[10], v[58], v[59], v[60] = 0, math.NaN(), math.Inf(1), -3
	f, _ := trend.Find(v, trend.Settings{}, trend.State{})
	if f.Passed != 4 || len(f.Events) != 1 || f.Events[0].From != 57 || f.Events[0].To != 61 {
		t.Errorf("the cause is between c57 and c61: %+v", f)
	}
}
