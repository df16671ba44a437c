package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// Summary describes the measurements of one case of a run on every side.
type Summary struct {
	Name   string
	Metric string // empty for time
	Unit   string
	Better measure.Better
	Timer  measure.Timer
	Sides  []SideSummary // in the order of the run's implementations
}

// SideSummary describes the samples of one side of a case, over all rounds that count.
type SideSummary struct {
	Implementation string
	Rounds         int
	Samples        int
	P50, P95, P99  float64 // of all samples
	CV             float64 // median over the rounds, because drift between rounds is not noise within one
	GFLOPS, GBs    float64 // from the declared work and the median; 0 when not declared
	Error          string  // why there is no data
	Note           string  // the harness's note on how it measured
	Unsteady       int     // rounds in which the kernel never settled
	NoSamples      bool    // the source kept only a summary

	// Ratio compares this side with the reference side: the geometric mean of the ratios of
	// round medians, with the lowest and highest round. 0 without a reference side.
	Ratio, RatioLow, RatioHigh float64
}

// Summarize describes every case of a run. Ratios are relative to the base if there is one,
// else to the candidate.
func Summarize(run *measure.Run) []Summary {
	dropped := map[int]bool{}
	for _, r := range run.Rounds {
		dropped[r.Index] = r.Dropped != ""
	}
	against := referenceSide(run)
	var list []Summary
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
			list = append(list, Summary{Name: c.Name(), Metric: c.Metric, Unit: c.Unit, Better: c.Better, Timer: c.Timer})
		}
		s := summariseSide(c, dropped)
		if c.Implementation != against {
			s.compare(roundMedians(c, dropped), reference[c.Name()])
		}
		list[i].Sides = append(list[i].Sides, s)
	}
	for _, s := range list {
		slices.SortStableFunc(s.Sides, func(a, b SideSummary) int {
			return implementationIndex(run, a.Implementation) - implementationIndex(run, b.Implementation)
		})
	}
	return list
}

// referenceSide returns the side that the others are compared with.
func referenceSide(run *measure.Run) string {
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

func summariseSide(c measure.Case, dropped map[int]bool) SideSummary {
	s := SideSummary{Implementation: c.Implementation, NoSamples: c.NoSamples}
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

func (s *SideSummary) compare(own, reference map[int]float64) {
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
