// Package codediff compares the machine code of two builds, function by function, by the digests in
// their records. It must not know how code is read, nor start a process: a server shows records too.
package codediff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/measure"
)

// Data is the name for data shared by all functions: constants, tables, initial values.
const Data = "(data)"

// Changes holds how the machine code of two builds differs, by function.
type Changes struct {
	Same    []string `json:"same,omitempty"`
	Changed []string `json:"changed,omitempty"`
	New     []string `json:"new,omitempty"`
	Removed []string `json:"gone,omitempty"`
}

// Compare compares two builds. A function that is compiled for several architectures is the same if
// its code is the same for all of them.
func Compare(before, after []measure.CodeDigest) Changes {
	old, now := byName(before), byName(after)
	var c Changes
	for name, digest := range now {
		switch had, ok := old[name]; {
		case !ok:
			c.New = append(c.New, name)
		case had == digest:
			c.Same = append(c.Same, name)
		default:
			c.Changed = append(c.Changed, name)
		}
	}
	for name := range old {
		if _, ok := now[name]; !ok {
			c.Removed = append(c.Removed, name)
		}
	}
	for _, list := range []*[]string{&c.Same, &c.Changed, &c.New, &c.Removed} {
		slices.Sort(*list)
	}
	return c
}

// byName joins the digests of each function, one per architecture.
func byName(code []measure.CodeDigest) map[string]string {
	sorted := slices.SortedFunc(slices.Values(code), func(a, b measure.CodeDigest) int {
		return cmp.Or(strings.Compare(a.Arch, b.Arch), strings.Compare(a.Digest, b.Digest))
	})
	m := map[string]string{}
	for _, d := range sorted {
		m[d.Kernel] += d.Arch + " " + d.Digest + "\n"
	}
	return m
}

// Any reports whether anything differs.
func (c Changes) Any() bool { return len(c.Changed)+len(c.New)+len(c.Removed) > 0 }

// String describes the differences on one line; empty if there is nothing to compare.
func (c Changes) String() string {
	if !c.Any() {
		if len(c.Same) == 0 {
			return ""
		}
		return fmt.Sprintf("no function changed: all %d have identical machine code", len(c.Same))
	}
	var parts []string
	say := func(names []string, what string) {
		if len(names) > 0 {
			parts = append(parts, list(names)+" "+what)
		}
	}
	say(c.Changed, "changed")
	say(c.New, plural(c.New, "is", "are")+" new")
	say(c.Removed, plural(c.Removed, "is", "are")+" gone")
	text := strings.Join(parts, "; ")
	if len(c.Same) == 0 {
		return text
	}
	if max(len(c.Changed), len(c.New), len(c.Removed)) <= shown { // with many changes, the word would be pointless
		text = "only " + text
	}
	return fmt.Sprintf("%s; %d %s identical machine code", text, len(c.Same), plural(c.Same, "other has", "others have"))
}

// shown is the maximum number of names in a sentence.
const shown = 4

// list formats names, kernels first: a compiler flag also changes the functions of pawl.h, which are
// of no interest.
func list(names []string) string {
	names = slices.SortedStableFunc(slices.Values(names), func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	if i := slices.Index(names, Data); i >= 0 {
		names[i] = "literal constants"
	}
	if more := len(names) - shown; more > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), more)
	}
	return strings.Join(names, ", ")
}

func rank(name string) int {
	switch {
	case name == Data:
		return 1
	case strings.HasPrefix(name, "pawl_"), strings.HasPrefix(name, "pawli_"):
		return 2
	default:
		return 0
	}
}

func plural(names []string, one, many string) string {
	if len(names) == 1 {
		return one
	}
	return many
}
