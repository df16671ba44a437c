package suite

import (
	"fmt"
	"slices"
	"strings"
)

// WithAnswerOf returns the suite with the answer of own, another commit's suite: its recipe, its
// tunables and, if started is set, its harness. Everything else is the question and does not
// change. A benchmark that own does not have keeps its tunables.
func (s *Suite) WithAnswerOf(own *Suite, started bool) (*Suite, error) {
	root := s.root.with("build", own.root.get("build"))
	if started {
		root = root.with("harness", own.root.get("harness"))
	}
	if list := root.get("benchmarks"); list != nil && list.kind == mapNode {
		for _, k := range list.keys {
			is, was := list.get(k.text), benchmarkNode(own.root, k.text)
			if is.kind == mapNode && was != nil && was.kind == mapNode {
				list = list.with(k.text, is.with("tune", was.get("tune")))
			}
		}
		root = root.with("benchmarks", list)
	}
	p := &problems{files: s.Files}
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
		if b := benchmarkNode(s.root, name); b != nil && b.kind == mapNode && b.get("tune") != nil {
			text = append(append(text, "tune "+name+"\n"...), written(b, "tune")...)
		}
	}
	return string(text) + s.tuned
}

// with returns a copy of a mapping with key set to value, or without key if value is nil.
func (n *node) with(key string, value *node) *node {
	out := *n
	out.keys, out.items = slices.Clone(n.keys), slices.Clone(n.items)
	i := slices.IndexFunc(out.keys, func(k *node) bool { return k.text == key })
	switch {
	case i >= 0 && value == nil:
		out.keys, out.items = slices.Delete(out.keys, i, i+1), slices.Delete(out.items, i, i+1)
	case i >= 0:
		out.items[i] = value
	case value != nil:
		name := *value
		name.kind, name.tag, name.text, name.keys, name.items = scalarNode, "str", key, nil, nil
		out.keys, out.items = append(out.keys, &name), append(out.items, value)
	}
	return &out
}

// RecipeChanges describes how the recipe differs from the one in was, one phrase per key: "flags: -O3
// became -O1".
func (s *Suite) RecipeChanges(was *Suite) []string {
	var list []string
	before, now := was.root.get("build"), s.root.get("build")
	for _, key := range otherKeys(before, now, "", nil) {
		list = append(list, describeChange(key, plainText(before.get(key)), plainText(now.get(key))))
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
func plainText(n *node) string {
	if n == nil || n.isNull() {
		return ""
	}
	if n.kind == scalarNode {
		return n.text
	}
	parts := make([]string, len(n.items))
	for i, item := range n.items {
		if parts[i] = plainText(item); n.kind == mapNode {
			parts[i] = n.keys[i].text + "=" + parts[i]
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
