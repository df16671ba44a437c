package diagnose

import (
	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// Rule is one piece of knowledge: when it applies, what it says and what to do. It is read from a
// file; docs/reference/rules.md describes the format.
type Rule struct {
	ID    string
	Class Bottleneck
	Title string
	// Explains names the findings that this one causes. If both apply, the cause comes first. The
	// first name is the rule's place in the tree.
	Explains []string
	Fixes    []FixRule

	when     formula // condition to apply
	unless   formula // exception from when
	intended formula // the finding is probably on purpose
	share    formula // share of the runtime, as estimated by pawl
	says     []sentenceRule
	evidence []evidenceRule
	tool     []toolRule
	tests    []vector
	at       strictyaml.Position
}

// FixRule is a fix as written in a rule.
type FixRule struct {
	Do      string
	Example string
	Watch   string

	do   template
	when formula // condition to apply; empty for always
	gain formula
}

// Holds returns the first of its conditions that is true for the facts, which must come from Seen.All.
func (r *Rule) Holds(facts profile.Facts) (condition string, ok bool) {
	v := values{}
	for name, x := range facts {
		v[name] = x
	}
	for _, e := range r.when {
		if yes, err := e.Bool(v); err == nil && yes {
			return e.String(), true
		}
	}
	return "", false
}

// sentenceRule is a sentence with a condition. The first one counts whose condition holds and whose
// quantities were all measured.
type sentenceRule struct {
	when formula
	text template
}

// evidenceRule is a quantity that supports a finding, with its limit.
type evidenceRule struct {
	quantity string
	compare  string
	limit    formula // empty for none
}

// vector is a test of a rule: facts, and the expected outcome.
type vector struct {
	name   string
	device string // name of a card or an architecture; empty for none
	facts  map[string]float64
	want   outcome
	at     strictyaml.Position
}

// outcome is the result of a rule for a profile.
type outcome string

const (
	silent   outcome = "silent"
	speaks   outcome = "speaks"
	intended outcome = "intended" // it applies, but the finding is not a problem
)
