package suite

import (
	"bytes"
	"slices"

	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
)

// The keys of its own suite that a change may edit without changing how it is measured: how it
// is built, its name, where baselines are kept, which cases exist, and what happens after a
// verdict, because there the base's setting applies.
var (
	freeKeys          = []string{"version", "name", "extends", "build", "baseline", "gate", "quarantine", "implementations", "benchmarks"}
	freeBenchmarkKeys = []string{"matrix", "include", "exclude", "implementations", "tune"}
)

// answerKeys are the free keys that need no --accept. They exclude baseline and gate: where
// baselines are kept and what a verdict causes matter as much as a limit does.
var answerKeys = slices.DeleteFunc(slices.Clone(freeKeys), func(key string) bool { return key == "baseline" || key == "gate" })

// Redefinition holds how one suite differs from another in cases that both have, and which
// cases are missing.
type Redefinition struct {
	Changed []string // keys: "policy", "benchmarks.attention.check"
	Cases   []string // names of the affected cases; empty means all
	Missing []Case   // the base's candidate cases that no longer exist
}

// RedefinitionOf compares a suite with the base's. A change to what is measured, or how, changes the
// question and not only the answer.
func (s *Suite) RedefinitionOf(base *Suite) Redefinition {
	var r Redefinition
	r.Changed = otherKeys(base.root, s.root, "", answerKeys)
	r.Changed = append(r.Changed, s.changedReferences(base)...)
	all := len(r.Changed) > 0
	for _, name := range s.doc.Benchmarks.names() {
		was, is := benchmarkNode(base.root, name), benchmarkNode(s.root, name)
		if was == nil || is == nil {
			continue
		}
		if keys := otherKeys(was, is, "benchmarks."+name+".", freeBenchmarkKeys); len(keys) > 0 {
			r.Changed = append(r.Changed, keys...)
			r.Cases = append(r.Cases, s.caseNames(name)...)
		}
	}
	if all {
		r.Cases = nil
	}
	if !s.NeedsHarness() && !base.NeedsHarness() {
		r.Missing = s.missingCases(base)
	}
	return r
}

// changedReferences returns the implementations that a check of the base compares results with
// and that differ from the base's.
func (s *Suite) changedReferences(base *Suite) []string {
	was, is := base.implementationsNode(), s.implementationsNode()
	var list []string
	for _, b := range base.Benchmarks {
		if b.Check == nil || b.Check.Implementation == "" {
			continue
		}
		name := b.Check.Implementation
		if key := "implementations." + name; !bytes.Equal(written(was, name), written(is, name)) && !slices.Contains(list, key) {
			list = append(list, key)
		}
	}
	return list
}

func (s *Suite) implementationsNode() *strictyaml.Node {
	if n := s.root.Get("implementations"); n != nil {
		return n
	}
	return &strictyaml.Node{Kind: strictyaml.Map}
}

func benchmarkNode(root *strictyaml.Node, name string) *strictyaml.Node {
	if list := root.Get("benchmarks"); list != nil && list.Kind == strictyaml.Map {
		return list.Get(name)
	}
	return nil
}

// otherKeys returns the keys of two mappings whose values differ, except those in free.
func otherKeys(was, is *strictyaml.Node, prefix string, free []string) []string {
	var keys, list []string
	for _, n := range []*strictyaml.Node{is, was} {
		for _, k := range n.Keys {
			if !slices.Contains(keys, k.Text) {
				keys = append(keys, k.Text)
			}
		}
	}
	for _, k := range keys {
		if !slices.Contains(free, k) && !bytes.Equal(written(was, k), written(is, k)) {
			list = append(list, prefix+k)
		}
	}
	return list
}

func written(n *strictyaml.Node, key string) []byte {
	v := n.Get(key)
	if v == nil {
		return nil
	}
	return v.Append(nil)
}

func (s *Suite) caseNames(benchmark string) []string {
	var names []string
	for _, c := range s.cases {
		if c.Benchmark == benchmark && c.Implementation == Candidate {
			names = append(names, c.Name())
		}
	}
	return names
}

// missingCases returns the candidate's cases that the base has and the suite does not.
func (s *Suite) missingCases(base *Suite) []Case {
	have := map[string]bool{}
	for _, c := range s.cases {
		have[c.Name()] = true
	}
	var list []Case
	for _, c := range base.cases {
		if c.Implementation == Candidate && !have[c.Name()] {
			list = append(list, c)
		}
	}
	return list
}

// Terms returns, as one text, how the cases of a benchmark are measured and judged; an empty
// name means all benchmarks. A different text is a different question.
func (s *Suite) Terms(benchmark string) string { return s.terms(benchmark, freeKeys) }

// Question returns the part of Terms that decides what a time means. It leaves out the harness,
// which belongs to the recipe, the device, which belongs to the testbed, and what only judges
// times: a stored time stays comparable when a limit or a budget changes.
func (s *Suite) Question(benchmark string) string {
	return s.terms(benchmark, slices.Concat(freeKeys, []string{"harness", "device", "policy", "budget", "preflight", "metrics"}))
}

// terms formats the root without the keys in free, and one benchmark or all of them.
func (s *Suite) terms(benchmark string, free []string) string {
	var text []byte
	add := func(n *strictyaml.Node, free []string) {
		keys := make([]string, 0, len(n.Keys))
		for _, k := range n.Keys {
			if !slices.Contains(free, k.Text) {
				keys = append(keys, k.Text)
			}
		}
		slices.Sort(keys)
		for _, k := range keys {
			text = append(text, k+"\n"...)
			text = append(text, written(n, k)...)
		}
	}
	add(s.root, free)
	for _, name := range s.doc.Benchmarks.names() {
		if b := benchmarkNode(s.root, name); b != nil && b.Kind == strictyaml.Map && (benchmark == "" || benchmark == name) {
			text = append(text, "benchmark "+name+"\n"...)
			add(b, freeBenchmarkKeys)
		}
	}
	return string(text)
}
