package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// shareName is the name for the share of a finding in the fixes of its rule.
const shareName = "share"

// Sources of an estimated share.
const (
	basisTool = "the tool"
	basisPawl = "pawl"
)

// Diagnose returns the diagnosis of one launch.
func (rs *RuleSet) Diagnose(s Subject) Diagnosis {
	v := s.values()
	var list []rankedFinding
	for _, r := range rs.rules {
		if f, ok := r.evaluate(v, s.Launch.Rules); ok {
			list = append(list, f)
		}
	}
	list = rank(list)
	class, how := rs.tree.classify(v)
	d := Diagnosis{
		Kernel: s.Launch.Kernel, Bottleneck: class,
		Sentence: headline(how, list), Lines: lines(how, list),
		Findings: make([]Finding, len(list)), Missing: rs.tree.missing(v),
	}
	for i, f := range list {
		d.Findings[i] = f.Finding
	}
	return d
}

// evaluate evaluates one rule. If the profile lacks values for its condition, the tool's own rule decides.
func (x *Rule) evaluate(v values, rules []profile.Rule) (rankedFinding, bool) {
	theirs, estimate, told := x.ofTool(rules)
	yes, decided := x.when.holds(v)
	if !yes && (decided || !told || estimate < firmShare) {
		return rankedFinding{}, false
	}
	if out, _ := x.unless.holds(v); out {
		return rankedFinding{}, false
	}
	f := rankedFinding{rule: x, Finding: Finding{Rule: x.ID, Title: x.Title, Class: x.Class}}
	f.Intended, _ = x.intended.holds(v)
	switch own, ok := x.share.number(v); {
	case told && estimate > 0:
		f.Share, f.Basis, f.firm = &estimate, basisTool, estimate >= firmShare
	case ok:
		own = min(max(own, 0), 1)
		f.Share, f.Basis = &own, basisPawl
	}
	f.clause = x.say(v, theirs.Text)
	f.Sentence = sentence(f.clause)
	f.Evidence = x.clues(v)
	f.Fixes = x.advise(v, f.size())
	return f, true
}

// say returns the first of the rule's sentences that fits, or else the tool's text.
func (x *Rule) say(v values, theirs string) string {
	for _, s := range x.says {
		if !s.when.applies(v) {
			continue
		}
		if text, ok := s.text.fill(v); ok {
			return text
		}
	}
	return cmp.Or(strings.TrimSpace(theirs), x.Title)
}

func (x *Rule) clues(v values) []Evidence {
	list := []Evidence{}
	for _, c := range x.evidence {
		value, ok := v.get(c.quantity)
		if !ok {
			continue
		}
		q, _ := quantity(c.quantity)
		e := Evidence{Quantity: c.quantity, About: q.About, Value: value, Unit: q.Unit}
		if limit, ok := c.limit.number(v); ok {
			e.Limit, e.Compare = limit, c.compare
		}
		list = append(list, e)
	}
	return list
}

// advise returns the fixes that apply, sorted by what they may save; those with unknown gain keep
// their order after the others. No gain exceeds the cost of the finding.
func (x *Rule) advise(v values, share float64) []Fix {
	v[shareName] = share
	defer delete(v, shareName)
	var fixes []Fix
	for i, f := range x.Fixes {
		do, ok := f.do.fill(v)
		if !ok || !f.when.applies(v) {
			continue
		}
		gain, _ := f.gain.number(v)
		fixes = append(fixes, Fix{Do: do, Example: f.Example, Watch: f.Watch, Gain: min(max(gain, 0), 1), Number: i + 1})
	}
	slices.SortStableFunc(fixes, func(a, b Fix) int { return cmp.Compare(b.Gain, a.Gain) })
	for i := range fixes {
		if share > 0 {
			fixes[i].Gain = min(fixes[i].Gain, share)
		}
	}
	return fixes
}

// maxLines is the max number of summary lines before the findings.
const maxLines = 5

// lines returns the summary: the class, then the findings.
func lines(how string, list []rankedFinding) []string {
	all := []string{sentence(how)}
	for _, f := range list[:min(len(list), maxLines-1)] {
		line := f.Sentence
		if f.Intended {
			line = strings.TrimSuffix(line, ".") + ": probably intended, not a problem."
		}
		all = append(all, line)
	}
	return all
}

// headline returns a one-sentence summary: the class, the first finding and its first fix.
func headline(how string, list []rankedFinding) string {
	if len(list) == 0 || list[0].Intended {
		return sentence(how)
	}
	s := how + ": " + strings.TrimSuffix(list[0].clause, ".")
	if fixes := list[0].Fixes; len(fixes) > 0 {
		s += "; try first: " + strings.TrimSuffix(fixes[0].Do, ".")
	}
	return sentence(s)
}
