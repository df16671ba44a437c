package cost

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// SummaryFile and SummaryArtifact name the sum that a nightly job stores for the reports of the next
// day. Adding up takes too long to do it for each report.
const (
	SummaryFile     = "cost.json"
	SummaryArtifact = "pawl-cost"
)

// Month is the length of a month in summaries.
const Month = 30 * 24 * time.Hour

// Summary holds what runs cost in total, and what they found.
type Summary struct {
	Runs    int                `json:"runs"`
	Seconds float64            `json:"seconds"`
	Dollars float64            `json:"dollars"`
	Stages  map[string]float64 `json:"stages,omitempty"` // seconds
	First   time.Time          `json:"first,omitzero"`
	Last    time.Time          `json:"last,omitzero"`

	MonthRuns    int     `json:"month_runs"` // in the last 30 days
	MonthSeconds float64 `json:"month_seconds"`
	MonthDollars float64 `json:"month_dollars"`

	// Caught counts problems that were fixed before a later run of the same change; Found
	// counts those after which no run passed.
	Caught int `json:"caught"`
	Found  int `json:"found"`

	Unpriced int `json:"unpriced,omitempty"` // runs of suites without a price
}

// ReadSummary reads a summary that another job stored. The input is untrusted.
func ReadSummary(r io.Reader) (Summary, error) {
	return read(r, "cost summary", Summary.check)
}

func (s Summary) check() error {
	for _, n := range []int{s.Runs, s.MonthRuns, s.Caught, s.Found, s.Unpriced} {
		if n < 0 || n > maxRuns {
			return fmt.Errorf("count %d is out of range", n)
		}
	}
	for _, v := range []float64{s.Seconds, s.Dollars, s.MonthSeconds, s.MonthDollars} {
		if !(v >= 0 && v <= maxRuns*maxSeconds) {
			return errors.New("its seconds or dollars are out of range")
		}
	}
	return nil
}

const maxRuns = 1_000_000

// PerRun returns the average cost of a run with a price, in dollars.
func (s Summary) PerRun() float64 { return share(s.Dollars, s.Runs-s.Unpriced) }

// PerCaught returns the cost of all runs per regression caught, in dollars; 0 if none was caught.
func (s Summary) PerCaught() float64 { return share(s.Dollars, s.Caught) }

func share(whole float64, n int) float64 {
	if n <= 0 {
		return 0
	}
	return whole / float64(n)
}

// Summarize adds accounts up. A run that is stored twice counts once.
func Summarize(list []RunCost, now time.Time) Summary {
	list = distinct(list)
	s := Summary{Stages: map[string]float64{}}
	changes := map[string][]RunCost{}
	for _, a := range list {
		s.Runs++
		s.Seconds += a.Seconds
		s.Dollars += a.Dollars
		for stage, v := range a.Stages {
			if slices.Contains(Stages(), stage) {
				s.Stages[stage] += v
			}
		}
		if a.PricePerHour == 0 && a.Dollars == 0 {
			s.Unpriced++
		}
		if age := now.Sub(a.Time); age >= 0 && age < Month {
			s.MonthRuns++
			s.MonthSeconds += a.Seconds
			s.MonthDollars += a.Dollars
		}
		changes[a.Branch] = append(changes[a.Branch], a)
	}
	if len(list) > 0 {
		s.First, s.Last = list[0].Time, list[len(list)-1].Time
	}
	for branch, runs := range changes {
		caught, found := countCaught(branch, runs)
		s.Caught, s.Found = s.Caught+caught, s.Found+found
	}
	return s
}

// distinct returns the runs without duplicates, sorted by time.
func distinct(list []RunCost) []RunCost {
	type key struct {
		run  string
		time int64
	}
	seen := map[key]bool{}
	var out []RunCost
	for _, a := range list {
		k := key{a.Run, a.Time.UnixNano()}
		if a.Run != "" {
			k.time = 0
		}
		if !seen[k] {
			seen[k] = true
			out = append(out, a)
		}
	}
	slices.SortStableFunc(out, func(a, b RunCost) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Run, b.Run))
	})
	return out
}

// countCaught counts what the runs of one change found. Consecutive failing runs count once; a run without
// a verdict changes nothing. A fix can only be recognized if the branch is known.
func countCaught(branch string, runs []RunCost) (caught, found int) {
	open := false
	for _, a := range runs {
		switch {
		case a.failed() && branch == "":
			found++
		case a.failed():
			open = true
		case a.passed() && open:
			caught++
			open = false
		}
	}
	if open {
		found++
	}
	return caught, found
}
