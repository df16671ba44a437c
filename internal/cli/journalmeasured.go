package cli

import (
	"cmp"
	"context"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/shell"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
	"github.com/goatnote-inc/pawl/stats"
)

// measuredFromRecord returns the content of a record for the journal: times, and wrong results found while
// measuring.
func measuredFromRecord(ctx context.Context, file string, e *entry) (*journal.Measured, *journal.Checked, error) {
	run, err := measure.Load(file)
	if err != nil {
		return nil, nil, err
	}
	session := e.writer.Session()
	m := &journal.Measured{Run: run.ID, Path: fromTop(e.root, file), Digest: run.Digest, Trust: string(run.Trust)}
	m.Cases = measuredCases(run, cmp.Or(session.Reference, firstReference(run)))
	if !slices.ContainsFunc(run.Implementations, func(i measure.Implementation) bool { return i.Name == measure.Base }) {
		return m, wrongCases(run, m.Cases), nil
	}
	policy := ratchet.Default()
	if s := e.source.suite; s != nil {
		policy = s.JudgePolicy()
	}
	one := []*measure.Run{run}
	evidence := slices.DeleteFunc(ratchet.Gather(one, one, measure.Base, measure.Candidate), func(e ratchet.Evidence) bool {
		return e.Unchanged == measure.Skipped // the journal is about what was measured
	})
	judged := ratchet.Judge(policy.ForPlan(run.Plan), evidence)
	m.Verdict = string(judged.Verdict)
	addVerdicts(m, judged)
	m.BaseBefore = baseIsLastMeasured(ctx, run, e)
	return m, wrongCases(run, m.Cases), nil
}

// fromTop returns a path relative to the top of the repository; unchanged if it lies outside.
func fromTop(root, file string) string {
	abs, err := filepath.Abs(file)
	if err != nil {
		return file
	}
	rel, err := filepath.Rel(topOf(root), abs)
	if err != nil || strings.HasPrefix(rel, "..") {
		return file
	}
	return filepath.ToSlash(rel)
}

// firstReference returns the first implementation that is neither candidate nor base.
func firstReference(run *measure.Run) string {
	for _, i := range run.Implementations {
		if i.Name != measure.Candidate && i.Name != measure.Base {
			return i.Name
		}
	}
	return ""
}

// measuredCases returns the times of all cases, the least work first.
func measuredCases(run *measure.Run, reference string) []journal.MeasuredCase {
	var list []journal.MeasuredCase
	for i := range run.Cases {
		c := &run.Cases[i]
		if c.Unit != "ns" || c.Metric != "" && c.Metric != measure.MetricTime {
			continue
		}
		at := slices.IndexFunc(list, func(m journal.MeasuredCase) bool { return m.Case == c.Name() })
		if at < 0 {
			at = len(list)
			list = append(list, journal.MeasuredCase{Case: c.Name(), Work: cmp.Or(c.Flops, c.Bytes)})
		}
		if isWrong(c) {
			continue // a wrong result has no speed, even if not every round was compared
		}
		median, spread := timesOf(run, c)
		switch c.Implementation {
		case measure.Candidate:
			list[at].Candidate, list[at].Spread = median, spread
		case measure.Base:
			list[at].Base = median
		case reference:
			list[at].Reference = median
		}
	}
	slices.SortStableFunc(list, func(a, b journal.MeasuredCase) int { return cmp.Compare(a.Work, b.Work) })
	return list
}

// isWrong reports whether a result of the case was compared and found wrong.
func isWrong(c *measure.Case) bool {
	return slices.ContainsFunc(c.Rounds, func(r measure.CaseRound) bool { return strings.HasPrefix(r.Error, trial.WrongResult) })
}

// wrongCases returns the wrong results of the candidate that were found in timed runs. order lists cases
// from the smallest to the largest. It is nil if none is wrong: one right result of a config says little
// about others.
func wrongCases(run *measure.Run, order []journal.MeasuredCase) *journal.Checked {
	wrong := map[string]bool{}
	for i := range run.Cases {
		if c := &run.Cases[i]; c.Implementation == measure.Candidate && isWrong(c) {
			wrong[c.Name()] = true
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	checked := &journal.Checked{Points: len(order), Failed: len(wrong)}
	for i, c := range order {
		if i == 0 {
			checked.Smallest, checked.SmallestOK = c.Case, !wrong[c.Case]
		}
		if wrong[c.Case] && checked.FirstBad == "" {
			checked.FirstBad = c.Case
		}
	}
	return checked
}

// timesOf returns the median of the rounds' medians, and the standard error of its logarithm, estimated
// from the differences between rounds. Each is 0 if unknown.
func timesOf(run *measure.Run, c *measure.Case) (median, spread float64) {
	var medians []float64
	for _, r := range c.Rounds {
		if r.Error == "" && len(r.Samples) > 0 && !dropped(run, r.Round) {
			if m := stats.Median(r.Samples); m > 0 {
				medians = append(medians, m)
			}
		}
	}
	if len(medians) == 0 {
		if c.Summary != nil {
			return c.Summary.Median, 0
		}
		return 0, 0
	}
	median = stats.Median(medians)
	var sum float64
	for _, m := range medians {
		d := math.Log(m / median)
		sum += d * d
	}
	if n := float64(len(medians)); n > 1 {
		spread = math.Sqrt(sum / (n - 1) / n)
	}
	return median, spread
}

// dropped reports whether a round was dropped and does not count.
func dropped(run *measure.Run, index int) bool {
	return slices.ContainsFunc(run.Rounds, func(r measure.Round) bool { return r.Index == index && r.Dropped != "" })
}

// addVerdicts adds verdicts and gains to the cases.
func addVerdicts(m *journal.Measured, judged ratchet.Result) {
	for _, j := range judged.Cases {
		at := slices.IndexFunc(m.Cases, func(c journal.MeasuredCase) bool { return c.Case == j.Name })
		if at < 0 {
			continue
		}
		c := &m.Cases[at]
		c.Verdict = string(j.Verdict)
		if f := j.Facts; f != nil && f.Change > -1 {
			gain := -math.Log1p(f.Change)
			c.Gain = &gain
			if i := f.Interval; i != nil && i.Low > -1 && i.High > i.Low {
				c.Error = (math.Log1p(i.High) - math.Log1p(i.Low)) / (2 * 1.96)
			}
		}
	}
}

// baseIsLastMeasured reports whether the base of a run is the source that was measured before. If so, the gain
// is that of the change alone.
func baseIsLastMeasured(ctx context.Context, run *measure.Run, e *entry) bool {
	kept, ok := e.writer.Kept()
	i := slices.IndexFunc(run.Implementations, func(i measure.Implementation) bool { return i.Name == measure.Base })
	if !ok || len(kept.Files) == 0 || i < 0 || run.Implementations[i].Commit == "" {
		return false
	}
	commit, top := run.Implementations[i].Commit, topOf(e.root)
	for path, digest := range kept.Files {
		text, err := shell.GitOutput(ctx, top, "show", commit+":"+path)
		if err != nil || journal.Digest([]byte(text)) != digest {
			return false
		}
	}
	was, err := shell.GitOutput(ctx, e.root, "show", commit+":./"+filepath.Base(e.writer.Session().Suite))
	if err != nil {
		return false
	}
	s, err := suite.Parse("pawl.yaml", []byte(was))
	return err == nil && maps.Equal(kept.Parameters, parametersOf(s)) && maps.Equal(kept.Flags, flagsOf(s))
}
