package diagnose

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// tree is the top of the rules: which class a kernel is of, and what a profile has to
// hold so that the rules below can speak.
type tree struct {
	classes []branch
	parts   []part
}

// branch is a class and when a kernel is of it. The first one that holds counts.
type branch struct {
	class Bottleneck
	when  formula
	says  []saying
}

// part is something that a profile should show.
type part struct {
	when  formula  // it could be expected
	needs []string // quantities; any of them shows that it is there
	says  string
}

func readTree(file string, data []byte) (*tree, error) {
	r := &reader{file: file}
	root := r.parse(data)
	if root == nil {
		return nil, r.errs.err()
	}
	t := &tree{}
	r.mapping(root, "the tree", map[string]func(*yaml.Node){
		"classes": func(n *yaml.Node) {
			r.list(n, func(n *yaml.Node) {
				var b branch
				r.mapping(n, "a class", map[string]func(*yaml.Node){
					"class": func(n *yaml.Node) { b.class = r.class(n) },
					"when":  func(n *yaml.Node) { b.when = r.formula(n, "when", condition) },
					"says":  func(n *yaml.Node) { b.says = r.sayings(n) },
				})
				t.classes = append(t.classes, b)
			})
		},
		"parts": func(n *yaml.Node) {
			r.list(n, func(n *yaml.Node) {
				var p part
				r.mapping(n, "a part", map[string]func(*yaml.Node){
					"when":  func(n *yaml.Node) { p.when = r.formula(n, "when", condition) },
					"needs": func(n *yaml.Node) { r.list(n, func(n *yaml.Node) { p.needs = append(p.needs, r.clue(n).quantity) }) },
					"says":  func(n *yaml.Node) { p.says = r.short(n, "says") },
				})
				t.parts = append(t.parts, p)
			})
		},
	})
	return t, r.errs.err()
}

// classify says what a kernel is bound by, and how one sees it.
func (t *tree) classify(v values) (Bottleneck, string) {
	for _, b := range t.classes {
		if yes, _ := b.when.holds(v); !yes {
			continue
		}
		for _, s := range b.says {
			if text, ok := s.text.fill(v); ok && s.when.applies(v) {
				return b.class, text
			}
		}
	}
	return Unknown, "what limits the kernel is not in the profile" + timesOf(v)
}

// timesOf says what a profile without counters has: how long a launch takes.
func timesOf(v values) string {
	at, ok := v.get("time_ns")
	if !ok {
		return ""
	}
	says := ", only that a launch takes " + inWords(at, "ns")
	queued, known := v.get("queued_ns")
	submit, also := v.get("submit_ns")
	if known || also {
		says += " after " + inWords(queued+submit, "ns") + " on its way"
	}
	return says
}

// missing lists what the profile does not hold and could.
func (t *tree) missing(v values) []string {
	var list []string
	for _, p := range t.parts {
		there := slices.ContainsFunc(p.needs, func(name string) bool { _, ok := v[name]; return ok })
		if !there && p.when.applies(v) {
			list = append(list, p.says)
		}
	}
	return list
}
