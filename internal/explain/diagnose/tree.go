package diagnose

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// tree is the top of the rules: the classes of kernels, and what a profile must
// contain for the rules below to apply.
type tree struct {
	classes []branch
	parts   []part
}

// branch is a class with its condition. The first one that holds counts.
type branch struct {
	class Bottleneck
	when  formula
	says  []sentenceRule
}

// part is something that a profile should contain.
type part struct {
	when  formula  // condition under which it is expected
	needs []string // quantities; any of them is enough
	says  string
}

func readTree(file string, data []byte) (*tree, error) {
	r := newReader(file)
	root := r.parse(data)
	if root == nil {
		return nil, r.Err()
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
	return t, r.Err()
}

// classify returns what limits a kernel, and the sentence that explains it.
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
	return Unknown, "the profile does not show what limits the kernel" + timesOf(v)
}

// timesOf describes what a profile without counters contains: how long a launch takes.
func timesOf(v values) string {
	at, ok := v.get("time_ns")
	if !ok {
		return ""
	}
	says := ", only that a launch takes " + inWords(at, "ns")
	queued, known := v.get("queued_ns")
	submit, also := v.get("submit_ns")
	if known || also {
		says += " after " + inWords(queued+submit, "ns") + " of waiting to start"
	}
	return says
}

// missing lists what the profile could contain but does not.
func (t *tree) missing(v values) []string {
	if _, amd := v.get("registers_scalar"); amd {
		if _, counted := v.get("busiest_pct"); counted {
			return nil // the parts below are sections of ncu
		}
	}
	var list []string
	for _, p := range t.parts {
		there := slices.ContainsFunc(p.needs, func(name string) bool { _, ok := v[name]; return ok })
		if !there && p.when.applies(v) {
			list = append(list, p.says)
		}
	}
	return list
}
