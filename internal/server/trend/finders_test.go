package trend_test

import (
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/internal/server/trend"
	"github.com/goatnote-inc/pawl/stats"
)

// finder looks at a history after every point.
type finder struct {
	name string
	read func(values []float64) account
}

var finders = []finder{{"pawl", pawl}, {"Otava", otava}, {"PELT", pelt}}

func pawl(values []float64) account {
	var a account
	trend.Follow(values, func(n int, events []trend.Event) {
		list := make([]told, len(events))
		for i, e := range events {
			list[i] = told{e.Kind, e.First, e.Last, e.After > e.Before}
		}
		a.hear(n, list)
	})
	return a
}

// otava is Apache Otava's rule: E-divisive in windows of 50 with Student's t test, p < 0.001. The changes
// must be of at least 2 %, as for pawl.
func otava(values []float64) account {
	var a account
	grows := stats.NewIncremental(stats.ChangeFinder{LikeOtava: true, MinMagnitude: 0.02})
	for n, v := range values {
		grows.Add(v)
		var list []told
		for _, c := range grows.Points() {
			list = append(list, told{trend.Step, c.Index, c.Index, c.After > c.Before})
		}
		a.hear(n+1, list)
	}
	return a
}

// pelt is PELT (Killick, Fearnhead and Eckley 2012) for changes of the mean of normal noise: levels of at
// least two points, at a price of 3 log n a change. It is told the noise of the whole history, which it
// could not know at the time, and passes over changes of less than 2 %.
func pelt(values []float64) account {
	n := len(values)
	y := make([]float64, n)
	sum, squares := make([]float64, n+1), make([]float64, n+1)
	for i, v := range values {
		y[i] = math.Log(v / values[0])
		sum[i+1], squares[i+1] = sum[i]+y[i], squares[i]+y[i]*y[i]
	}
	variance := max(spread(y)*spread(y), 1e-8)
	price := 3 * math.Log(float64(n)) * variance
	cost := func(from, to int) float64 {
		s := sum[to] - sum[from]
		return squares[to] - squares[from] - s*s/float64(to-from)
	}
	const shortest = 2
	best, last := make([]float64, n+1), make([]int, n+1)
	best[0] = -price
	starts := []int{0}
	var a account
	for t := 1; t <= n; t++ {
		if t < shortest {
			a.hear(t, nil)
			continue
		}
		best[t] = math.Inf(1)
		for _, s := range starts {
			if c := best[s] + cost(s, t) + price; c < best[t] {
				best[t], last[t] = c, s
			}
		}
		starts = slices.DeleteFunc(starts, func(s int) bool { return best[s]+cost(s, t) > best[t] })
		if s := t + 1 - shortest; s >= shortest {
			starts = append(starts, s)
		}
		var list []told
		for to := t; last[to] > 0; to = last[to] {
			at, from := last[to], last[last[to]]
			change := (sum[to]-sum[at])/float64(to-at) - (sum[at]-sum[from])/float64(at-from)
			if math.Abs(change) >= math.Log(1.02) {
				list = append(list, told{trend.Step, at, at, change > 0})
			}
		}
		a.hear(t, list)
	}
	return a
}

// spread returns the standard deviation of one value, from the median difference of neighbors.
func spread(y []float64) float64 {
	d := make([]float64, len(y)-1)
	for i := range d {
		d[i] = math.Abs(y[i+1] - y[i])
	}
	slices.Sort(d)
	return 1.4826 / math.Sqrt2 * d[len(d)/2]
}
