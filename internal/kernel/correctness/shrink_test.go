package correctness

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

func point(inputs string, seed uint64, pairs ...any) Point {
	p := Point{Inputs: inputs, Seed: seed}
	for i := 0; i < len(pairs); i += 2 {
		p.Params = append(p.Params, suite.Param{Name: pairs[i].(string), Value: pairs[i+1]})
	}
	return p
}

func get(p Point, name string) float64 {
	v, _ := p.Params.Get(name)
	x, _ := v.(float64)
	return x
}

func still() time.Time { return time.Time{} }

func TestShrink(t *testing.T) {
	start := point(Large, 99, "B", 32.0, "H", 8.0, "S", 512.0, "D", 64.0, "dtype", "f16", "scale", 0.5)
	for _, tt := range []struct {
		name  string
		fails func(Point) bool
		want  Point
	}{
		{"always", func(Point) bool { return true }, point(Zeros, 0, "B", 1.0, "H", 1.0, "S", 1.0, "D", 1.0, "dtype", "f16", "scale", 0.5)},
		{
			"past a tile", func(p Point) bool { return get(p, "S") > 64 },
			point(Zeros, 0, "B", 1.0, "H", 1.0, "S", 65.0, "D", 1.0, "dtype", "f16", "scale", 0.5),
		},
		{
			"a multiple of a tile", func(p Point) bool { return int(get(p, "S"))%64 == 0 },
			point(Zeros, 0, "B", 1.0, "H", 1.0, "S", 64.0, "D", 1.0, "dtype", "f16", "scale", 0.5),
		},
		{
			"the kernel knows one D only", func(p Point) bool { return get(p, "D") == 64 && get(p, "S") >= 17 },
			point(Zeros, 0, "B", 1.0, "H", 1.0, "S", 17.0, "D", 64.0, "dtype", "f16", "scale", 0.5),
		},
		{
			"two together", func(p Point) bool { return get(p, "B")*get(p, "H") >= 6 },
			point(Zeros, 0, "B", 1.0, "H", 6.0, "S", 1.0, "D", 1.0, "dtype", "f16", "scale", 0.5),
		},
		{
			"only with large values", func(p Point) bool { return p.Inputs == Large && get(p, "S") > 3 },
			point(Large, 0, "B", 1.0, "H", 1.0, "S", 4.0, "D", 1.0, "dtype", "f16", "scale", 0.5),
		},
		{
			"not with zeros", func(p Point) bool { return p.Inputs != Zeros },
			point(Constant, 0, "B", 1.0, "H", 1.0, "S", 1.0, "D", 1.0, "dtype", "f16", "scale", 0.5),
		},
		{
			"only this seed", func(p Point) bool { return p.Seed == 99 },
			point(Zeros, 99, "B", 1.0, "H", 1.0, "S", 1.0, "D", 1.0, "dtype", "f16", "scale", 0.5),
		},
		{
			"smaller with simpler contents", func(p Point) bool {
				return p.Inputs == Large && get(p, "S") >= 50 || p.Inputs == Constant && get(p, "S") >= 9
			},
			point(Constant, 0, "B", 1.0, "H", 1.0, "S", 9.0, "D", 1.0, "dtype", "f16", "scale", 0.5),
		},
		{"never again", func(Point) bool { return false }, start},
	} {
		got := Shrink(t.Context(), start, DefaultBudget, still, func(_ context.Context, p Point) bool { return tt.fails(p) })
		if diff := cmp.Diff(tt.want, got.Point); diff != "" || got.Stopped {
			t.Errorf("%s, %d evaluations, stopped %v (-want +got):\n%s", tt.name, got.Evaluations, got.Stopped, diff)
		}
	}
}

// Whatever the predicate: the answer fails, no larger than the start, the same every
// time, within the budget; and where failing is monotone no parameter can be less.
func TestShrinkProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(1, 700), 3, 3).Draw(t, "sizes")
		edge := []int{rapid.IntRange(1, sizes[0]).Draw(t, "x"), rapid.IntRange(1, sizes[1]).Draw(t, "y"), rapid.IntRange(1, sizes[2]).Draw(t, "z")}
		modulo := rapid.IntRange(1, 3).Draw(t, "modulo")
		kinds := rapid.IntRange(0, len(Distributions())-1).Draw(t, "kind")
		start := point(Infinities, rapid.Uint64().Draw(t, "seed"), "x", float64(sizes[0]), "y", float64(sizes[1]), "z", float64(sizes[2]))
		rest := sizes[0] % modulo
		fails := func(_ context.Context, p Point) bool {
			simple := 0
			for i, d := range Distributions() {
				if d == p.Inputs {
					simple = i
				}
			}
			return int(get(p, "x")) >= edge[0] && int(get(p, "x"))%modulo == rest &&
				int(get(p, "y")) >= edge[1] && int(get(p, "z")) >= edge[2] && simple >= kinds
		}
		budget := Budget{Evaluations: rapid.IntRange(0, 200).Draw(t, "budget"), Time: time.Hour}
		got := Shrink(t.Context(), start, budget, still, fails)
		if !fails(t.Context(), got.Point) {
			t.Fatalf("%v does not fail", got.Point)
		}
		if got.Evaluations > budget.Evaluations {
			t.Fatalf("%d evaluations, the budget is %d", got.Evaluations, budget.Evaluations)
		}
		for _, name := range []string{"x", "y", "z"} {
			if get(got.Point, name) > get(start, name) {
				t.Fatalf("%v grew from %v", got.Point, start)
			}
		}
		if again := Shrink(t.Context(), start, budget, still, fails); !cmp.Equal(got, again) {
			t.Fatalf("%v, then %v", got, again)
		}
		if got.Stopped {
			return
		}
		if y, z := int(get(got.Point, "y")), int(get(got.Point, "z")); y != edge[1] || z != edge[2] {
			t.Fatalf("%v, the smallest is y=%d z=%d", got.Point, edge[1], edge[2])
		}
		if x := int(get(got.Point, "x")); x-edge[0] > modulo {
			t.Fatalf("%v, x can be about %d", got.Point, edge[0])
		}
		if got.Point.Inputs != Distributions()[kinds] {
			t.Fatalf("%v, %s fails too", got.Point, Distributions()[kinds])
		}
	})
}

func TestShrinkKeepsToItsTime(t *testing.T) {
	clock := time.Time{}
	n := 0
	got := Shrink(t.Context(), point(Normal, 1, "S", 1e6), Budget{Evaluations: 1000, Time: 10 * time.Second}, func() time.Time { return clock },
		func(_ context.Context, p Point) bool {
			n++
			clock = clock.Add(3 * time.Second)
			return get(p, "S") > 1000
		})
	if !got.Stopped || n != 4 || got.Evaluations != 4 {
		t.Errorf("%+v after %d evaluations", got, n)
	}
	// An evaluation that is cut short proves nothing.
	ctx, cancel := context.WithCancel(t.Context())
	got = Shrink(ctx, point(Normal, 1, "S", 100.0), DefaultBudget, still, func(context.Context, Point) bool {
		cancel()
		return true
	})
	if !got.Stopped || get(got.Point, "S") != 100 {
		t.Errorf("%+v", got)
	}
}
