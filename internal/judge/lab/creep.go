package lab

import (
	"context"
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/internal/base/parallel"
	"github.com/goatnote-inc/pawl/stats"
)

// Creep is the result of simulated histories of main in which each commit is slightly slower.
type Creep struct {
	Step      float64 `json:"step"` // slowdown per commit, such as 0.005
	Commits   int     `json:"commits"`
	Histories int     `json:"histories"`
	Stopped   int     `json:"stopped"`
	Mean      float64 `json:"mean"` // mean commit at which a stopped history was stopped
	Last      int     `json:"last"`
}

// creeps simulates histories of main, with each commit measured beside the baseline. In some, every
// commit is 0.5 % slower; in the others, nothing changes.
func (l *judgeLab) creeps(ctx context.Context) error {
	pawl := paired(l.policy)
	for _, c := range []Creep{{Step: 0.005, Commits: 20}, {Commits: 200}} {
		c.Histories = l.histories
		l.Say(fmt.Sprintf("creep: %d histories of %d commits, %s each", c.Histories, c.Commits, percent(c.Step)))
		stops := make([]float64, c.Histories)
		err := parallel.Each(ctx, c.Histories, func(history int) {
			for commit := 1; commit <= c.Commits && stops[history] == 0 && ctx.Err() == nil; commit++ {
				s := NewScene(Gaussian, typical, c.Step*float64(commit))
				if pawl.Ask(s.Compare(l.Seed+2, uint64(history*c.Commits+commit))).Answer == Slower {
					stops[history] = float64(commit)
				}
			}
		})
		if err != nil {
			return err
		}
		stops = slices.DeleteFunc(stops, func(at float64) bool { return at == 0 })
		if c.Stopped = len(stops); c.Stopped > 0 {
			c.Mean, c.Last = stats.Mean(stops), int(slices.Max(stops))
		}
		l.report.Creeps = append(l.report.Creeps, c)
	}
	return nil
}

// CreepTable returns the results of the histories.
func (r *Report) CreepTable() string {
	t := newTable("a commit", "commits", "histories", "stopped", "at commit, mean", "at the latest")
	for _, c := range r.Creeps {
		at, last := "", ""
		if c.Stopped > 0 {
			at, last = fmt.Sprintf("%.1f", c.Mean), fmt.Sprint(c.Last)
		}
		t.row(percent(c.Step)+" slower", fmt.Sprint(c.Commits), thousands(c.Histories), shareOf(c.Stopped, c.Histories), at, last)
	}
	return t.String()
}

// creepClaims returns the claims about the histories.
func creepClaims(r *Report) []Claim {
	var list []Claim
	for _, c := range r.Creeps {
		rate := NewRate(c.Stopped, c.Histories)
		at := fmt.Sprintf("%d commits, %s slower each", c.Commits, percent(c.Step))
		if c.Step == 0 {
			list = append(list, Claim{Text: at + ": stopped", Limit: 0.01, Value: rate.Value, Rate: &rate, Unit: "%"})
			continue
		}
		list = append(list,
			Claim{Text: at + ": stopped", Limit: 1, Least: true, Value: rate.Value, Rate: &rate, Unit: "%"},
			Claim{Text: at + ": stopped at commit, mean", Limit: 8, Value: c.Mean, Unit: "commits"},
			Claim{Text: at + ": stopped at the latest", Limit: 14, Value: float64(c.Last), Unit: "commits"})
	}
	return list
}
