//go:build !race

package search_test

import (
	"fmt"
	"testing"

	"github.com/goatnote-inc/pawl/internal/tune/search"
	"github.com/goatnote-inc/pawl/internal/tune/space"
)

// A proposal has to be cheap beside an evaluation: 20 ms at 10,000 points and 200 ms at
// a million, at the end of 200 evaluations.
func BenchmarkProposal(b *testing.B) {
	for _, digits := range []int{4, 6} {
		b.Run(fmt.Sprintf("1e%d", digits), func(b *testing.B) {
			s := cube(b, digits)
			strategy := made(b, "auto", s, search.Options{Seed: 1})
			tell := func(p int) {
				sum := 1.0
				for k, v := range s.Point(p) {
					sum += float64(k+1) * float64((int(v)-3)*(int(v)-3))
				}
				strategy.Tell(search.Outcome{Point: p, Value: sum, Failed: p%17 == 0})
			}
			for b.Loop() {
				b.StopTimer()
				strategy = made(b, "auto", s, search.Options{Seed: 1})
				b.StartTimer()
				for range 200 {
					tell(strategy.Ask(1)[0])
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/200, "us/proposal")
		})
	}
}

func cube(t testing.TB, digits int) *space.Space {
	t.Helper()
	var d space.Definition
	for k := range digits {
		p := space.Parameter{Name: fmt.Sprintf("p%d", k)}
		for v := range 10 {
			p.Values = append(p.Values, v)
		}
		d.Parameters = append(d.Parameters, p)
	}
	problem, err := space.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	s, err := problem.Space(space.MaxPoints, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
