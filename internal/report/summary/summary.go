// Package summary reduces the samples of a run to the numbers of each case and side. It must
// not judge them.
package summary

import (
	"cmp"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// Case describes the measurements of one case of a run on every side.
type Case struct {
	Name   string         `json:"name"`
	Metric string         `json:"-"` // empty for time
	Unit   string         `json:"unit"`
	Better measure.Better `json:"-"`
	Timer  measure.Timer  `json:"timer,omitempty"`
	Sides  []Side         `json:"sides"` // in the order of the run's implementations
}

// Side describes the samples of one side of a case, over all rounds that count.
type Side struct {
	Implementation string  `json:"implementation"`
	Rounds         int     `json:"rounds"`
	Samples        int     `json:"samples"`
	P50            float64 `json:"p50,omitempty"` // of all samples, like P95 and P99
	P95            float64 `json:"p95,omitempty"`
	P99            float64 `json:"p99,omitempty"`
	CV             float64 `json:"cv,omitempty"`     // median over the rounds, because drift between rounds is not noise within one
	GFLOPS         float64 `json:"gflops,omitempty"` // from the declared work and the median; 0 when not declared
	GBs            float64 `json:"gbps,omitempty"`

	// Ratio compares this side with the reference side: the geometric mean of the ratios of
	// round medians, with the lowest and highest round. 0 without a reference side.
	Ratio     float64 `json:"ratio,omitempty"`
	RatioLow  float64 `json:"ratio_low,omitempty"`
	RatioHigh float64 `json:"ratio_high,omitempty"`

	NoSamples bool   `json:"no_samples,omitempty"` // the source kept only a summary
	Error     string `json:"error,omitempty"`      // why there is no data
	Note      string `json:"-"`                    // the harness's note on how it measured
	Unsteady  int    `json:"-"`                    // rounds in which the kernel never settled
}

// Of describes every case of a run. Ratios are relative to the base if there is one,
// else to the candidate.
func Of(run *measure.Run) []Case {
	dropped := Dropped(run)
	against := ReferenceSide(run)
	list := []Case{}
	index := map[string]int{}
	reference := map[string]map[int]float64{}
	for _, c := range run.Cases {
		if c.Implementation == against {
			reference[c.Name()] = roundMedians(c, dropped)
		}
	}
	for _, c := range run.Cases {
		i, ok := index[c.Name()]
		if !ok {
			i = len(list)
			index[c.Name()] = i
			list = append(list, Case{Name: c.Name(), Metric: c.Metric, Unit: c.Unit, Better: c.Better, Timer: c.Timer})
		}
		s := newSide(c, dropped)
		if c.Implementation != against {
			s.compare(roundMedians(c, dropped), reference[c.Name()])
		}
		list[i].Sides = append(list[i].Sides, s)
	}
	for _, s := range list {
		slices.SortStableFunc(s.Sides, func(a, b Side) int {
			return implementationIndex(run, a.Implementation) - implementationIndex(run, b.Implementation)
		})
	}
	return list
}

// Dropped returns the rounds that do not count.
func Dropped(run *measure.Run) map[int]bool {
	list := map[int]bool{}
	for _, r := range run.Rounds {
		if r.Dropped != "" {
			list[r.Index] = true
		}
	}
	return list
}

// ReferenceSide returns the side that the others are compared with; empty if there is none.
func ReferenceSide(run *measure.Run) string {
	for _, name := range []string{"base", "candidate"} {
		if slices.ContainsFunc(run.Implementations, func(i measure.Implementation) bool { return i.Name == name }) {
			return name
		}
	}
	return ""
}

func implementationIndex(run *measure.Run, name string) int {
	return slices.IndexFunc(run.Implementations, func(i measure.Implementation) bool { return i.Name == name })
}

func roundMedians(c measure.Case, dropped map[int]bool) map[int]float64 {
	medians := map[int]float64{}
	for _, r := range c.Rounds {
		if !dropped[r.Round] && len(r.Samples) > 0 && r.Error == "" {
			medians[r.Round] = stats.Median(r.Samples)
		}
	}
	return medians
}

func newSide(c measure.Case, dropped map[int]bool) Side {
	s := Side{Implementation: c.Implementation, NoSamples: c.NoSamples}
	var all, cvs []float64
	for _, r := range c.Rounds {
		if dropped[r.Round] {
			continue
		}
		s.Error = cmp.Or(s.Error, r.Error)
		if len(r.Samples) == 0 || r.Error != "" {
			continue
		}
		s.Rounds++
		s.Note = cmp.Or(r.Note, s.Note)
		if r.Unsteady {
			s.Unsteady++
		}
		all = append(all, r.Samples...)
		if cv := stats.CV(r.Samples); !math.IsNaN(cv) {
			cvs = append(cvs, cv)
		}
	}
	if s.Samples = len(all); s.Samples == 0 {
		if c.Summary != nil {
			s.P50 = c.Summary.Median
			if s.P50 == 0 {
				s.P50 = c.Summary.Mean
			}
		}
		return s
	}
	q := stats.Quantiles(all, 0.5, 0.95, 0.99)
	s.P50, s.P95, s.P99 = q[0], q[1], q[2]
	if len(cvs) > 0 {
		s.CV = stats.Median(cvs)
	}
	if c.Unit == "ns" && s.P50 > 0 { // a nanosecond is 1e-9 s: per ns is G per s
		s.GFLOPS, s.GBs = c.Flops/s.P50, c.Bytes/s.P50
	}
	return s
}

func (s *Side) compare(own, reference map[int]float64) {
	var logs []float64
	for round, median := range own {
		if ref := reference[round]; ref > 0 && median > 0 { // a count may be zero: then there is no ratio
			logs = append(logs, math.Log(median/ref))
		}
	}
	if len(logs) == 0 {
		return
	}
	slices.Sort(logs) // keeps the map's order from affecting the last digit
	s.Ratio = math.Exp(stats.Mean(logs))
	s.RatioLow, s.RatioHigh = math.Exp(logs[0]), math.Exp(logs[len(logs)-1])
}
