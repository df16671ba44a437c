package search

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/tune/space"
)

func someAxes() []axis {
	return []axis{
		{width: 5, squares: [][]float64{squares([]float64{0, 1, 2, 3, 4}), squares([]float64{4, 5, 4, 6, 4})}},
		{parameter: 1, width: 2},
		{parameter: 2, width: 3, squares: [][]float64{squares([]float64{0, 1, 2})}},
	}
}

func drawPoints(t *rapid.T, axes []axis, n int) [][]uint16 {
	points := make([][]uint16, n)
	for i := range points {
		points[i] = make([]uint16, len(axes))
		for k, a := range axes {
			points[i][k] = uint16(rapid.IntRange(0, a.width-1).Draw(t, "value"))
		}
	}
	return points
}

// The factor that grew by a row at a time is the factor of the covariance, for any
// weights: so the kernel is positive definite, too.
func TestFactorIsOfTheCovariance(t *testing.T) {
	axes := someAxes()
	rapid.Check(t, func(t *rapid.T) {
		w, _ := prior(axes)
		for i := range w {
			w[i] += rapid.Float64Range(-3, 3).Draw(t, "weight")
		}
		g := gp{k: newKernel(axes, w), noise: w.noise() + 1e-4}
		points := drawPoints(t, axes, rapid.IntRange(1, 12).Draw(t, "points"))
		for _, p := range points {
			g.add(p)
		}
		for i, a := range points {
			rows := g.k.of(a, nil)
			for j, b := range points[:i+1] {
				want := common(rows, b)
				if i == j {
					want += g.noise
				}
				if got := dot(g.rows[i][:j+1], g.rows[j]); math.Abs(got-want) > 1e-7 {
					t.Fatalf("covariance of %v and %v: %g, want %g", a, b, got, want)
				}
			}
		}
		y := make([]float64, len(points))
		for i := range y {
			y[i] = float64(i%3) - 1
		}
		// unwhiten(whiten(y)) solves the covariance: multiplied back it is y.
		a := g.unwhiten(g.whiten(y))
		for i, p := range points {
			sum := g.noise * a[i]
			rows := g.k.of(p, nil)
			for j, q := range points {
				sum += a[j] * common(rows, q)
			}
			if math.Abs(sum-y[i]) > 1e-4 {
				t.Fatalf("value %d: %g, want %g", i, sum, y[i])
			}
		}
	})
}

// A candidate that was in the pool while points came has the row of one that comes last.
func TestPoolGrows(t *testing.T) {
	axes := someAxes()
	rapid.Check(t, func(t *rapid.T) {
		w, _ := prior(axes)
		g := gp{k: newKernel(axes, w), noise: w.noise()}
		points := drawPoints(t, axes, 8)
		early, late := pool{in: map[int]bool{}}, pool{in: map[int]bool{}}
		candidate := drawPoints(t, axes, 1)[0]
		g.add(points[0])
		early.put(&g, 7, candidate)
		for _, p := range points[1:] {
			early.grow(&g, g.add(p))
		}
		late.put(&g, 7, candidate)
		for j := range early.rows[0] {
			if math.Abs(early.rows[0][j]-late.rows[0][j]) > 1e-9 {
				t.Fatalf("row %v, want %v", early.rows[0], late.rows[0])
			}
		}
		if math.Abs(early.explained[0]-late.explained[0]) > 1e-9 {
			t.Fatalf("explained %g, want %g", early.explained[0], late.explained[0])
		}
	})
}

// The fit finds out which axis matters, and its short cuts change nothing.
func TestFitFindsWhatMatters(t *testing.T) {
	axes := someAxes()
	rng := rand.New(rand.NewPCG(1, 1))
	var points [][]uint16
	var y, level []float64
	for range 40 {
		p := []uint16{uint16(rng.IntN(5)), uint16(rng.IntN(2)), uint16(rng.IntN(3))}
		points = append(points, p)
		y = append(y, math.Sin(float64(p[0])*2)+0.001*rng.NormFloat64())
		level = append(level, 1)
	}
	start, spread := prior(axes)
	f := newFitter(axes, start, spread, points, y, level)
	w := f.fit(start, 8)
	after := f.likelihood(w) // with the tables as the fit left them
	f.k = newKernel(axes, w)
	if fresh := f.likelihood(w); math.Abs(fresh-after) > 1e-9 {
		t.Errorf("likelihood %g with the tables of the fit, %g with new ones", after, fresh)
	}
	f.k = newKernel(axes, start)
	if before := f.likelihood(start); after <= before {
		t.Errorf("likelihood %g after the fit, %g before", after, before)
	}
	k := newKernel(axes, w)
	if matters, not := k.tables[0][1], k.tables[1][1]; matters > not-0.1 {
		t.Errorf("neighbours on the axis that matters have %.2f in common, on one that does not %.2f", matters, not)
	}
}

func TestLogImprovement(t *testing.T) {
	last := math.Inf(-1)
	for u := -40.0; u < 10; u += 0.01 {
		v := logImprovement(u)
		if v < last || math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("at %g: %g after %g", u, v, last)
		}
		last = v
	}
	if got, want := logImprovement(0), math.Log(1/math.Sqrt(2*math.Pi)); math.Abs(got-want) > 1e-12 {
		t.Errorf("at 0: %g, want %g", got, want)
	}
}

func TestTwos(t *testing.T) {
	for _, c := range []struct {
		values []any
		want   []float64
	}{
		{[]any{16, 32, 48, 64}, []float64{4, 5, 4, 6}},
		{[]any{1, 2, 4, 8}, nil},    // the rank says it
		{[]any{0, 1, 2}, nil},       // a choice, not a count
		{[]any{0.5, 1.5, 2.5}, nil}, // no whole numbers
	} {
		got := twosOf(parameter(c.values))
		if len(got) != len(c.want) {
			t.Errorf("%v: %v, want %v", c.values, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%v: %v, want %v", c.values, got, c.want)
			}
		}
	}
}

func parameter(values []any) space.Parameter { return space.Parameter{Name: "p", Values: values} }
