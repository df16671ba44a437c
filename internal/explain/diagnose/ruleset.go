package diagnose

import (
	"embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"sync"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

//go:embed rules/*.yaml tree.yaml
var embedded embed.FS

// RuleSet is a set of rules for diagnosing profiles.
type RuleSet struct {
	rules []*Rule
	tree  *tree
}

// Rules returns a copy of pawl's own rules. Adding to it does not change the originals.
func Rules() *RuleSet {
	own := *builtin()
	own.rules = slices.Clone(own.rules)
	return &own
}

var builtin = sync.OnceValue(func() *RuleSet {
	rs, err := load()
	if err != nil {
		panic("diagnose: " + err.Error()) // embedded and tested
	}
	return rs
})

func load() (*RuleSet, error) {
	text, err := embedded.ReadFile("tree.yaml")
	if err != nil {
		return nil, err
	}
	rs := &RuleSet{}
	if rs.tree, err = readTree("tree.yaml", text); err != nil {
		return nil, err
	}
	files, err := embedded.ReadDir("rules")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text, err := embedded.ReadFile(path.Join("rules", f.Name()))
		if err != nil {
			return nil, err
		}
		if err := rs.Add(f.Name(), text); err != nil {
			return nil, err
		}
	}
	return rs, nil
}

// All lists the rules in the order they were added.
func (rs *RuleSet) All() []*Rule { return slices.Clone(rs.rules) }

// Find returns the rule with an ID.
func (rs *RuleSet) Find(id string) (*Rule, bool) {
	i := slices.IndexFunc(rs.rules, func(r *Rule) bool { return r.ID == id })
	if i < 0 {
		return nil, false
	}
	return rs.rules[i], true
}

// Add reads the rules of a file, such as a user's. A rule replaces another one with the same ID. If
// anything is wrong, nothing is added; the error is a strictyaml.Errors.
func (rs *RuleSet) Add(file string, data []byte) error {
	r := newReader(file)
	root := r.parse(data)
	if root == nil {
		return r.Err()
	}
	added := r.rules(root)
	for i, x := range added {
		if j := slices.IndexFunc(added, func(y *Rule) bool { return y.ID == x.ID }); j < i && x.ID != "" {
			r.AddAt(x.at, "", "the file has two rules with the id %q", x.ID)
		}
	}
	if err := r.Err(); err != nil {
		return err
	}
	for _, x := range added {
		if i := slices.IndexFunc(rs.rules, func(y *Rule) bool { return y.ID == x.ID }); i >= 0 {
			rs.rules[i] = x
		} else {
			rs.rules = append(rs.rules, x)
		}
	}
	return nil
}

// Test runs the test vectors of all rules, and checks for rules that explain findings which do not
// exist or, in a cycle, themselves. It returns all mistakes.
func (rs *RuleSet) Test() error {
	var errs strictyaml.Problems
	for _, x := range rs.rules {
		for i, t := range x.tests {
			got, err := x.try(t)
			if err == nil && got != t.want {
				err = fmt.Errorf("got %s, expected %s", got, t.want)
			}
			if err != nil {
				errs.AddAt(t.at, "", "rule %s, test %d (%s): %v", x.ID, i+1, t.name, err)
			}
		}
		for _, id := range x.Explains {
			if _, ok := rs.Find(id); !ok {
				errs.AddAt(x.at, "", "rule %s explains %s, which does not exist", x.ID, id)
			}
		}
		if rs.reaches(x, x.ID, map[string]bool{}) {
			errs.AddAt(x.at, "", "rule %s explains itself", x.ID)
		}
	}
	return errs.Err()
}

// reaches reports whether a rule explains another, directly or through others.
func (rs *RuleSet) reaches(from *Rule, to string, seen map[string]bool) bool {
	for _, id := range from.Explains {
		if id == to {
			return true
		}
		next, ok := rs.Find(id)
		if !ok || seen[id] {
			continue
		}
		seen[id] = true
		if rs.reaches(next, to, seen) {
			return true
		}
	}
	return false
}

// try returns the outcome of a rule for a vector. A finding without a sentence, for lack of a
// value, is an error: the rule and its text need different values.
func (x *Rule) try(t vector) (outcome, error) {
	s := Subject{Facts: profile.Facts(t.facts)}
	if t.device != "" {
		if err := s.on(t.device); err != nil {
			return "", err
		}
	}
	v := s.values()
	f, ok := x.evaluate(v, nil)
	switch {
	case !ok:
		return silent, nil
	case x.say(v, "") == x.Title:
		return "", errors.New("it speaks, but none of its sentences has all the values that it uses")
	case len(f.Evidence) == 0:
		return "", errors.New("it speaks without evidence")
	case f.Intended:
		return intended, nil
	default:
		return speaks, nil
	}
}

// on sets the device of a test by the name of a card or an architecture.
func (s *Subject) on(device string) error {
	if cards := gpu.FindCards(device); len(cards) > 0 {
		s.Card = &cards[0]
		return nil
	}
	if _, err := gpu.FindArch(device); err != nil {
		return fmt.Errorf("device %.40q is not a known card or architecture", device)
	}
	s.Launch.CC = device
	return nil
}
