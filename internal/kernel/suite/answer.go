package suite

import (
	"fmt"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
)

// WithAnswerOf returns the suite with the answer of own, another commit's suite: its recipe, its
// tunables and, if started is set, its harness. Everything else is the question and does not
// change. A benchmark that own does not have keeps its tunables.
func (s *Suite) WithAnswerOf(own *Suite, started bool) (*Suite, error) {
	root := s.root.With("build", own.root.Get("build"))
	if started {
		root = root.With("harness", own.root.Get("harness"))
	}
	if list := root.Get("benchmarks"); list != nil && list.Kind == strictyaml.Map {
		for _, k := range list.Keys {
			is, was := list.Get(k.Text), benchmarkNode(own.root, k.Text)
			if is.Kind == strictyaml.Map && was != nil && was.Kind == strictyaml.Map {
				list = list.With(k.Text, is.With("tune", was.Get("tune")))
			}
		}
		root = root.With("benchmarks", list)
	}
	p := &strictyaml.Problems{Files: s.Files}
	return resolve(root, decodeFile(root, p), s.listed, nil, p)
}

// Recipe returns the answer of a suite as one text: how an implementation is built, with which
// tunables, and how started starts it. It does not depend on the cases that another commit
// measures, so a commit has the same recipe in every comparison.
func (s *Suite) Recipe(implementation string, started *Suite) string {
	text := append([]byte("build\n"), written(s.root, "build")...)
	text = append(append(text, "harness\n"...), written(started.root, "harness")...)
	if implementation != Candidate {
		text = append(append(text, "implementation\n"...), written(s.implementationsNode(), implementation)...)
	}
	for _, name := range s.doc.Benchmarks.names() {
		if b := benchmarkNode(s.root, name); b != nil && b.Kind == strictyaml.Map && b.Get("tune") != nil {
			text = append(append(text, "tune "+name+"\n"...), written(b, "tune")...)
		}
	}
	return string(text) + s.tuned
}

// RecipeChanges describes how the recipe differs from the one in was, one phrase per key: "flags: -O3
// became -O1".
func (s *Suite) RecipeChanges(was *Suite) []string {
	var list []string
	before, now := was.root.Get("build"), s.root.Get("build")
	for _, key := range otherKeys(before, now, "", nil) {
		list = append(list, describeChange(key, plainText(before.Get(key)), plainText(now.Get(key))))
	}
	return list
}

// describeChange describes the words in which two texts differ.
func describeChange(key, was, is string) string {
	a, b := strings.Fields(was), strings.Fields(is)
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	from, to := truncate(strings.Join(a, " "), 120), truncate(strings.Join(b, " "), 120)
	switch {
	case from == "" && to == "":
		return key + ": spelled differently"
	case from == "":
		return fmt.Sprintf("%s: %s was added", key, to)
	case to == "":
		return fmt.Sprintf("%s: %s was removed", key, from)
	default:
		return fmt.Sprintf("%s: %s became %s", key, from, to)
	}
}

// plainText returns a value on one line, without YAML's punctuation.
func plainText(n *strictyaml.Node) string {
	if n == nil || n.IsNull() {
		return ""
	}
	if n.Kind == strictyaml.Scalar {
		return n.Text
	}
	parts := make([]string, len(n.Items))
	for i, item := range n.Items {
		if parts[i] = plainText(item); n.Kind == strictyaml.Map {
			parts[i] = n.Keys[i].Text + "=" + parts[i]
		}
	}
	return strings.Join(parts, " ")
}

func truncate(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}
