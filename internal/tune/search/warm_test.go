package search

import (
	"testing"

	"github.com/goatnote-inc/pawl/internal/tune/space"
)

// A search with a source begins with the source's best. After twenty evaluations another begins
// that knows nothing; when it has found something better, all is known to it.
func TestWarmBeginsAnew(t *testing.T) {
	ranks := func(n int) (list []any) {
		for i := range n {
			list = append(list, float64(i+1))
		}
		return list
	}
	problem, err := space.Compile(space.Definition{Parameters: []space.Parameter{{Name: "a", Values: ranks(20)}, {Name: "b", Values: ranks(20)}}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := problem.Space(space.MaxPoints, nil)
	if err != nil {
		t.Fatal(err)
	}
	time := func(p int) float64 { v := s.Point(p); return 2 + square(float64(v[0])-12) + square(float64(v[1])-7) }
	var source []Outcome
	best := 0
	for p := 0; p < s.Len(); p += 13 {
		source = append(source, Outcome{Point: p, Value: time(p)})
		if time(p) < time(best) {
			best = p
		}
	}
	w := NewWarm(s, Options{Seed: 6, Source: source})
	evaluate := func(value func(int) float64) int {
		p := w.Ask(1)[0]
		w.Tell(Outcome{Point: p, Value: value(p)})
		return p
	}
	if first := evaluate(time); first != best {
		t.Errorf("the first is %d, the best of the source %d", first, best)
	}
	for range guidedEvaluations - 1 {
		evaluate(time)
	}
	slow := func(p int) float64 { return 1000 + time(p) }
	for range 6 {
		if p := evaluate(slow); !w.asked[p] {
			t.Errorf("%d was not asked for by the search that knows nothing", p)
		}
	}
	if n := len(w.blind.known); n != 6 || w.joined {
		t.Errorf("after %d of its own it knows %d, joined %v", 6, n, w.joined)
	}
	evaluate(func(int) float64 { return 1 })
	if n := len(w.blind.known); n != guidedEvaluations+7 || !w.joined {
		t.Errorf("after something better it knows %d of %d, joined %v", n, guidedEvaluations+7, w.joined)
	}
	if short := NewWarm(s, Options{Source: source, Evaluations: 30}); short.follow < 30 {
		t.Errorf("a search of 30 follows its source for %d", short.follow)
	}
}
