package client

import (
	"math"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// baselineSide is the side of a run that holds the ledger's baseline. Like the base, it is another commit.
const baselineSide = "baseline"

// points returns the results of a run: those of the candidate, and those of references, whose code is the
// same in every run and which therefore show changes of the machine.
func points(run *measure.Run, verdict *verdictFile) []Point {
	dropped := map[int]bool{}
	for _, r := range run.Rounds {
		dropped[r.Index] = r.Dropped != ""
	}
	judged := verdict.byName()
	var list []Point
	for _, c := range run.Cases {
		if c.Implementation == measure.Base || c.Implementation == baselineSide {
			continue
		}
		p, ok := point(c, dropped)
		if !ok {
			continue
		}
		if j, ok := judged[c.Name()]; ok && c.Implementation == measure.Candidate {
			p.Verdict, p.Baseline, p.Moved = j.verdict, j.baseline, j.moved
		}
		list = append(list, p)
	}
	return list
}

// point returns false for a case without a round that counts.
func point(c measure.Case, dropped map[int]bool) (Point, bool) {
	p := Point{CaseKey: c.CaseKey, Unit: c.Unit, Better: c.Better, Timer: c.Timer}
	var medians []float64
	quantum := 0.0
	for _, r := range c.Rounds {
		if r.Error != "" || dropped[r.Round] || len(r.Samples) == 0 {
			continue
		}
		medians = append(medians, stats.Median(r.Samples))
		p.Samples += len(r.Samples)
		quantum = max(quantum, r.Quantum)
	}
	if len(medians) == 0 {
		if s := c.Summary; c.NoSamples && s != nil { // computed by another tool
			p.Value = s.Median
			if s.Median == 0 {
				p.Value = s.Mean
			}
			p.Low, p.High, p.Rounds, p.Samples = p.Value, p.Value, 1, max(s.Count, 0)
			return p, finite(p.Value)
		}
		return p, false
	}
	p.Rounds = len(medians)
	p.Value = stats.Median(medians)
	p.Low, p.High = p.Value, p.Value
	if i := stats.MedianInterval(medians, 0.95, quantum); finite(i.Low) && finite(i.High) {
		p.Low, p.High = min(i.Low, p.Value), max(i.High, p.Value)
	}
	if sd := stats.StdDev(medians); len(medians) > 1 && p.Value != 0 && finite(sd) {
		p.Spread = sd / math.Abs(p.Value)
	}
	return p, finite(p.Value)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
