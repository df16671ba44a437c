package alert_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/server/alert"
)

// A backlog of one to three series, scanned in one transaction or in several, gives the events, groups and states
// that a scan after every report gives. Half of the backlogs arrive out of order.
func TestScan_BacklogEqualsScanAfterEveryReport(t *testing.T) {
	events, anew := 0, 0
	for n := range testrun.Times(10, 60) {
		r := rand.New(rand.NewPCG(uint64(n), 11))
		reports := backlog(r, 1+r.IntN(3), 50+r.IntN(250))
		if n%2 == 1 { // each arrives up to five places late
			order := map[int64]int{}
			for i, x := range reports {
				order[x.id] = i + r.IntN(6)
			}
			slices.SortStableFunc(reports, func(a, b result) int { return order[a.id] - order[b.id] })
		}
		each, once, parts := newPaper(), newPaper(), newPaper()
		each.most, parts.most = 1, 1+r.IntN(20)
		for _, x := range reports {
			each.add(x)
			anew += look(t, each).Anew
			once.add(x)
			parts.add(x)
		}
		if l := look(t, once); l.Reports != len(reports) || l.Series != len(once.series) {
			t.Fatalf("backlog %d of %d reports: want one transaction, got %+v", n, len(reports), l)
		}
		look(t, parts)
		for name, p := range map[string]*paper{"once": once, "parts": parts} {
			if diff := gocmp.Diff(each.told(), p.told()); diff != "" {
				t.Fatalf("backlog %d (-each +%s):\n%s", n, name, diff)
			}
			if diff := gocmp.Diff(each.states(), p.states()); diff != "" {
				t.Fatalf("states of backlog %d (-each +%s):\n%s", n, name, diff)
			}
		}
		events += len(once.events)
	}
	t.Logf("%d events; %d scans after a report started again", events, anew)
	if events == 0 || anew == 0 {
		t.Error("the backlogs have no events, or no late reports")
	}
}

// backlog returns reports of a few series that step and drift, in the order of their commits.
func backlog(r *rand.Rand, series, commits int) []result {
	level, slope := make([]float64, series), make([]float64, series)
	var list []result
	for c := range commits {
		values := map[int64]float64{}
		for s := range series {
			switch r.IntN(80) {
			case 0:
				level[s] += 0.3 * (r.Float64() - 0.5)
			case 1:
				slope[s] = 0.004 * (r.Float64() - 0.5)
			case 2:
				slope[s] = 0
			}
			level[s] += slope[s]
			values[int64(s+1)] = 1000 * math.Exp(level[s]+0.01*r.NormFloat64())
		}
		list = append(list, result{id: int64(c + 1), bed: 1, at: start.Add(time.Duration(c) * time.Hour), values: values})
	}
	return list
}

// states returns what is stored of each series.
func (p *paper) states() map[int64]alert.SeriesState {
	all := map[int64]alert.SeriesState{}
	for id, s := range p.series {
		all[id] = s.known
	}
	return all
}
