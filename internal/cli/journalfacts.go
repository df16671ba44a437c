package cli

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/goatnote-inc/pawl/internal/cli/decide"
	"github.com/goatnote-inc/pawl/internal/doctor"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/judge/preflight"
	"github.com/goatnote-inc/pawl/internal/kernel/correctness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/tune"
	"github.com/goatnote-inc/pawl/measure"
)

// recordDoctor records what the doctor found.
func (s *journalFacts) recordDoctor(r doctor.Report) {
	e := &journal.Environment{OK: r.Usable()}
	for _, f := range r.Findings {
		if f.State == doctor.Missing {
			e.Problems = append(e.Problems, fmt.Sprintf("%s: %s", f.Name, f.Message))
		}
	}
	s.add(func(d *journal.Did) { d.Environment = e })
}

// recordPreflight records what the kernel needs and what the device allows.
func (s *journalFacts) recordPreflight(r preflight.Report) {
	l := &journal.Limits{Device: cmp.Or(r.Target.Card, r.Target.Arch), Fits: true}
	for _, g := range r.Gates {
		switch g.Name { //nolint:exhaustive // the others have no limit to record
		case preflight.SharedMemory:
			if g.Number >= l.SharedMemory {
				l.SharedMemory, l.SharedLimit = g.Number, cmp.Or(g.Limit, l.SharedLimit)
			}
		case preflight.Duration:
			if ns := g.Number * 1e3; strings.Contains(g.Text, "by its work") && (l.Minimum == 0 || ns < l.Minimum) {
				l.Minimum = ns
			}
		}
		if g.State == preflight.Stop {
			l.Problems = append(l.Problems, fmt.Sprintf("%s: %s", g.Name, g.Text))
			l.Fits = l.Fits && g.Name != preflight.SharedMemory && g.Name != preflight.Block && g.Name != preflight.Occupancy
		}
	}
	s.add(func(d *journal.Did) { d.Limits = l })
}

// recordFuzz records the result of a search for wrong results.
func (s *journalFacts) recordFuzz(a decide.FuzzAnswer, benchmarks []suite.Benchmark) {
	c := &journal.Checked{Points: a.Passed + a.Failed, Failed: a.Failed}
	smallest, bad := math.Inf(1), math.Inf(1)
	for _, b := range a.Benchmarks {
		for _, r := range b.Results {
			if r.Status == correctness.Skipped {
				continue
			}
			size := sizeOf(r.Params)
			wrong := r.Status == correctness.Failed
			if size < smallest {
				smallest, c.Smallest, c.SmallestOK = size, b.Benchmark+"/"+suite.ConfigName(r.Params), true
			}
			if size == smallest && wrong {
				c.SmallestOK = false
			}
			addResultError(c, r)
			if wrong && size < bad {
				bad, c.FirstBad = size, b.Benchmark+"/"+suite.ConfigName(r.Params)
				c.Tiles = tilesOf(r.Params, edgesOf(benchmarks, b.Benchmark))
			}
		}
		for _, f := range b.Found { // shrunk failures
			if size := sizeOf(f.Smallest.Params); size < bad {
				bad, c.FirstBad = size, b.Benchmark+"/"+suite.ConfigName(f.Smallest.Params)
				c.Tiles = tilesOf(f.Smallest.Params, edgesOf(benchmarks, b.Benchmark))
			}
		}
		if len(b.Failures) > 0 && c.Replay == "" {
			c.Replay = strings.Join(b.Failures[0].Command, " ")
		}
	}
	if c.Points > 0 {
		s.add(func(d *journal.Did) { d.Checked = c })
	}
}

// addResultError records the largest error of a result, and whether it is not finite.
func addResultError(c *journal.Checked, r correctness.Result) {
	for _, x := range r.Comparisons {
		c.Worst = max(c.Worst, x.MaxAbs)
		c.NotFinite = c.NotFinite || !x.OK && (x.Failed == correctness.RuleNaN || x.Failed == correctness.RuleInfinity)
	}
}

// sizeOf returns the size of a config: the product of its positive numeric parameters.
func sizeOf(p suite.Params) float64 {
	size := 1.0
	for _, x := range p {
		if v, ok := number(x.Value); ok && v > 0 {
			size *= v
		}
	}
	return size
}

func number(v any) (float64, bool) {
	switch x := v.(type) {
	case float64:
		return x, true
	case int:
		return float64(x), true
	case int64:
		return float64(x), true
	default:
		return 0, false
	}
}

// edgesOf returns the tile sizes that the suite names for a benchmark, by parameter.
func edgesOf(benchmarks []suite.Benchmark, name string) map[string]int {
	for _, b := range benchmarks {
		if b.Name == name && b.Check != nil {
			return b.Check.Fuzz.Edges
		}
	}
	return nil
}

// tilesOf returns the size of a config in tiles, along the parameter with the most tiles; 0 if the suite
// names no tiles.
func tilesOf(p suite.Params, edges map[string]int) float64 {
	most := 0.0
	for name, edge := range edges {
		if v, ok := p.Get(name); ok && edge > 0 {
			if x, ok := number(v); ok {
				most = max(most, x/float64(edge))
			}
		}
	}
	return most
}

// recordDiagnosis records what a profile shows.
func (s *journalFacts) recordDiagnosis(name string, seen diagnose.Subject, d diagnose.Diagnosis) {
	p := &journal.Profiled{
		Case: cmp.Or(name, seen.Profile.Subject.Case), Tool: seen.Profile.Tool.Name, Kernel: d.Kernel, Bottleneck: string(d.Bottleneck),
		Facts: map[string]float64{},
	}
	for k, v := range seen.Facts {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			p.Facts[k] = v
		}
	}
	for _, f := range d.Findings {
		if f.Intended {
			continue
		}
		found := journal.Found{Rule: f.Rule, Class: string(f.Class)}
		if f.Share != nil {
			found.Share = *f.Share
		}
		for _, fix := range f.Fixes {
			found.Fixes = append(found.Fixes, journal.Fix{ID: journal.FixID(f.Rule, fix.Number), Gain: fix.Gain})
		}
		p.Findings = append(p.Findings, found)
	}
	s.add(func(d *journal.Did) {
		if d.Profiled == nil { // of several cases keep the first, which is the worst
			d.Profiled = p
		}
	})
}

// recordTuning records the result of a search.
func (s *journalFacts) recordTuning(r *tune.Report) {
	t := &journal.Tuned{Case: r.Header.Case, Evaluations: len(r.Evaluations)}
	t.Point = pointValues(r.Best.Point)
	if p := r.Proof; p != nil && p.Winner >= 0 && p.Winner < len(p.Finalists) {
		t.Point = pointValues(p.Finalists[p.Winner].Point)
		for _, c := range p.Finalists[p.Winner].Cases {
			if c.Case == r.Header.Case && p.Answer == tune.Faster {
				t.Speedup = c.Speedup
			}
		}
		if run, err := measure.Load(p.Record); err == nil {
			t.Run = run.ID
		}
	}
	s.add(func(d *journal.Did) { d.Tuned = t })
}

func pointValues(point map[string]any) map[string]string {
	out := map[string]string{}
	for k, v := range point {
		out[k] = fmt.Sprint(v)
	}
	return out
}
