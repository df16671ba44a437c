package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/profile"
)

// shareName is how the fixes of a rule call the share of its finding.
const shareName = "share"

// Who estimated a share.
const (
	basisTool = "the tool"
	basisPawl = "pawl"
)

// Diagnose says what one launch shows.
func (rs *RuleSet) Diagnose(s Seen) Diagnosis {
	v := s.values()
	var list []found
	for _, r := range rs.rules {
		if f, ok := r.look(v, s.Launch.Rules); ok {
			list = append(list, f)
		}
	}
	list = rank(list)
	class, how := rs.tree.classify(v)
	d := Diagnosis{
		Kernel: s.Launch.Kernel, Bottleneck: class,
		Sentence: whole(how, list), Lines: lines(how, list),
		Findings: make([]Finding, len(list)), Missing: rs.tree.missing(v),
	}
	for i, f := range list {
		d.Findings[i] = f.Finding
	}
	return d
}

// look asks one rule. Where the profile lacks what its condition needs, the tool's own
// rule speaks for it.
func (x *Rule) look(v values, rules []profile.Rule) (found, bool) {
	theirs, estimate, told := x.ofTool(rules)
	yes, decided := x.when.holds(v)
	if !yes && (decided || !told || estimate < firmShare) {
		return found{}, false
	}
	if out, _ := x.unless.holds(v); out {
		return found{}, false
	}
	f := found{rule: x, Finding: Finding{Rule: x.ID, Title: x.Title, Class: x.Class}}
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

// say is the first of the rule's sentences that fits; what the tool says where none does.
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

// advise lists the fixes that apply, by what they may save; those of which nobody can
// tell keep their order behind the others. None saves more than the finding costs.
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

// mostLines bounds what stands in front of the findings.
const mostLines = 5

// lines say the class, then what was found.
func lines(how string, list []found) []string {
	all := []string{sentence(how)}
	for _, f := range list[:min(len(list), mostLines-1)] {
		line := f.Sentence
		if f.Intended {
			line = strings.TrimSuffix(line, ".") + ": intended, it seems, and no fault."
		}
		all = append(all, line)
	}
	return all
}

// whole is all of it in one sentence: the class, the first fault and its first fix.
func whole(how string, list []found) string {
	if len(list) == 0 || list[0].Intended {
		return sentence(how)
	}
	s := how + ": " + strings.TrimSuffix(list[0].clause, ".")
	if fixes := list[0].Fixes; len(fixes) > 0 {
		s += "; try first: " + strings.TrimSuffix(fixes[0].Do, ".")
	}
	return sentence(s)
}
