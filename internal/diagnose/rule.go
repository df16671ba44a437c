package diagnose

import "github.com/goatnote-inc/pawl/internal/profile"

// Rule is one piece of knowledge: when it speaks, what it says and what to do then.
// It is read from a file; docs/reference/rules.md describes the form.
type Rule struct {
	ID    string
	Class Bottleneck
	Title string
	// Explains names the findings that this one is the cause of. Where both speak the
	// cause stands in front. The first is its place in the tree.
	Explains []string
	Fixes    []FixRule

	when     formula // speaks
	unless   formula // does not, after all
	intended formula // speaks, and it is no fault
	share    formula // of the runtime, by pawl's own estimate
	says     []saying
	evidence []clue
	tool     []toolRule
	tests    []vector
	at       place
}

// FixRule is a fix as its rule gives it.
type FixRule struct {
	Do      string
	Example string
	Watch   string

	do   template
	when formula // it applies; empty for always
	gain formula
}

// When is the condition under which the rule speaks, as it is written.
func (r *Rule) When() string { return r.when.String() }

// Holds gives the one of its conditions that is true of the facts, which have to be those
// of Seen.All.
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

// Unless is the condition under which it is silent after all.
func (r *Rule) Unless() string { return r.unless.String() }

// Intended is the condition under which what it finds is no fault.
func (r *Rule) Intended() string { return r.intended.String() }

// Tool lists the tool's own rules that it corresponds to, by their ids.
func (r *Rule) Tool() []string {
	var ids []string
	for _, t := range r.tool {
		ids = append(ids, t.id)
	}
	return ids
}

// saying is a sentence for the values that are there: the first one counts whose
// condition holds and whose quantities were all measured.
type saying struct {
	when formula
	text template
}

// clue is a quantity that a finding rests on, and what it is read against.
type clue struct {
	quantity string
	compare  string
	limit    formula // empty for none
}

// vector is a test of a rule: facts, and what it does with them.
type vector struct {
	name   string
	device string // a card's or an architecture's name; empty for none
	facts  map[string]float64
	want   outcome
	at     place
}

// outcome is what a rule does with a profile.
type outcome string

const (
	silent   outcome = "silent"
	speaks   outcome = "speaks"
	intended outcome = "intended" // it speaks, and says that it is no fault
)
