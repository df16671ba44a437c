package claim

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/internal/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// Terms are what a change is held to. All of it is the base's, or the forge's word.
type Terms struct {
	Suite    *suite.Suite
	Policy   ratchet.Policy
	Heads    []string                 // commits that the change is
	Base     func(commit string) bool // tells whether the change may be compared with a commit
	Accepted string                   // the reason of a person who may accept; never the record's own
	// Definition is what the change's suite says otherwise than the base's, as the forge
	// shows it. What the record adds to that counts as well.
	Definition *measure.Definition
}

// Elsewhere says in what a record is not of this change, or not measured as the base
// asks; nil when nothing speaks against it. Such a record tells nothing, good or bad.
func (c Claim) Elsewhere(t Terms) []string {
	var list []string
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	candidate, base := c.side(measure.Candidate), c.side(measure.Base)
	switch {
	case candidate == nil || base == nil:
		return []string{"the record has not both sides, candidate and base"}
	case !slices.Contains(t.Heads, candidate.Commit):
		say("the candidate is commit %q, the change is %.12s", short(candidate.Commit), t.Heads[0])
	case candidate.Dirty || base.Dirty:
		say("a side was built from a tree with other changes")
	}
	if !t.Base(base.Commit) {
		say("the base is commit %q, which is not where the change began", short(base.Commit))
	}
	if want := trust(t.Suite); c.Run.Trust != want && !(c.Run.Trust == "" && want == measure.Trusted) {
		say("it was measured with trust %q, the base's suite asks for %q", short(string(c.Run.Trust)), want)
	}
	if kind := t.Suite.Device.Kind; kind != "" && c.Run.Device.Kind != kind {
		say("it was measured on a device of kind %q, the base's suite asks for %q", short(string(c.Run.Device.Kind)), kind)
	}
	return list
}

func trust(s *suite.Suite) measure.Trust {
	if s.Trust == "" {
		return measure.Trusted
	}
	return s.Trust
}

func short(s string) string { return s[:min(len(s), 12)] }

func (c Claim) side(name string) *measure.Implementation {
	i := slices.IndexFunc(c.Run.Implementations, func(im measure.Implementation) bool { return im.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Run.Implementations[i]
}

// Judge decides again, from the samples: with the base's policy, its word on which cases
// gate, and on what is better. A case that the base has cannot be new, nor left out.
func (c Claim) Judge(t Terms) (ratchet.Result, error) {
	run := *c.Run
	run.Accepted = t.Accepted
	run.Definition = both(run.Definition, t.Definition)
	known, err := t.known(&run)
	if err != nil {
		return ratchet.Result{}, err
	}
	same := []*measure.Run{&run}
	evidence := ratchet.Gather(same, same, measure.Base, measure.Candidate)
	seen, compared := map[string]bool{}, false
	for i := range evidence {
		e := &evidence[i]
		seen[e.Case.Name()] = true
		e.NoSamples = e.NoSamples || len(e.Base) == 0 && len(e.Candidate) == 0
		term, ok := known[e.Case.Name()]
		switch {
		case ok:
			term.hold(e)
		case e.Case.Metric == "" || e.Case.Metric == measure.MetricTime:
			e.Better, e.Gate = measure.Lower, true
		default: // a metric that the base does not have is watched
			e.Gate = false
		}
		compared = compared || e.HasBase && e.HasCandidate
	}
	for _, name := range t.names(known) {
		if !seen[name] {
			evidence = append(evidence, known[name].missing())
		}
	}
	result := ratchet.Judge(t.Policy, evidence)
	if !compared && result.Severity() == ratchet.Yes {
		result.Verdict, result.Sentence = ratchet.Inconclusive, "Nothing was compared: the record has no case with both sides."
	}
	return t.drift(&run, result), nil
}

// both are two definitions as one.
func both(a, b *measure.Definition) *measure.Definition {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	d := measure.Definition{Changed: slices.Concat(a.Changed, b.Changed)}
	if len(a.Cases) > 0 && len(b.Cases) > 0 { // else one of them concerns all cases
		d.Cases = slices.Concat(a.Cases, b.Cases)
	}
	slices.Sort(d.Changed)
	d.Changed = slices.Compact(d.Changed)
	return &d
}

// baselineSide is the side of a record that is the baseline's commit.
const baselineSide = "baseline"

// drift fails a change by a base that is slower than the baseline, where the base's
// suite is strict.
func (t Terms) drift(run *measure.Run, result ratchet.Result) ratchet.Result {
	if !t.Policy.Strict || result.Severity() == ratchet.No {
		return result
	}
	same := []*measure.Run{run}
	drift := ratchet.Gather(same, same, baselineSide, measure.Base)
	drift = slices.DeleteFunc(drift, func(e ratchet.Evidence) bool { return !e.HasBase || !e.HasCandidate || e.Case.Metric != "" })
	if len(drift) == 0 {
		return result
	}
	if r := ratchet.Judge(t.Policy, drift); r.Verdict == ratchet.Regression {
		result.Verdict, result.Sentence = r.Verdict, "Drift: "+r.Sentence
	}
	return result
}
