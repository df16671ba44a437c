package suite_test

import (
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

func TestRedefines(t *testing.T) {
	const text = `version: 1
harness: {command: ./h}
build: {command: make}
policy: {slower: 3%}
benchmarks:
  sum: {matrix: {N: [1, 2]}, flops: N}
  max: {matrix: {N: [4]}, flops: N}
`
	parse := func(text string) *suite.Suite {
		t.Helper()
		s, err := suite.Parse("pawl.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, test := range []struct{ name, old, new, changed, cases, missing string }{
		{"nothing", "", "", "", "", ""},
		{"spelling", "policy: {slower: 3%}", "policy:\n  slower: 3% # as before", "", "", ""},
		{"its build", "make", "make -j2", "", "", ""},
		{"its name", "version: 1", "version: 1\nname: x", "", "", ""},
		{"a quarantine, which only the base's is", "version: 1", "version: 1\nquarantine: [{case: sum, owner: me, until: 2026-01-31, reason: x}]", "", "", ""},
		{"what is done about a verdict", "version: 1", "version: 1\ngate: {mode: advise}", "gate", "", ""},
		{"where baselines lie", "version: 1", "version: 1\nbaseline: {keep: file}", "baseline", "", ""},
		{"a looser policy", "3%", "30%", "policy", "", ""},
		{"another harness", "./h", "./h --fast", "harness", "", ""},
		{"the level of trust", "version: 1", "version: 1\ntrust: self-timed", "trust", "", ""},
		{"less work declared", "N: [4]}, flops: N", "N: [4]}, flops: 2*N", "benchmarks.max.flops", "max/N4", ""},
		{"one case more", "N: [1, 2]", "N: [1, 2, 3]", "", "", ""},
		{"one case less", "N: [1, 2]", "N: [2]", "", "", "sum/N1"},
		{"a benchmark less", "  max: {matrix: {N: [4]}, flops: N}\n", "", "", "", "max/N4"},
		{"a benchmark more", "  max:", "  min: {matrix: {N: [9]}}\n  max:", "", "", ""},
		{"samples of one benchmark", "N: [1, 2]}, flops", "N: [1, 2]}, samples: 3, flops", "benchmarks.sum.samples", "sum/N1 sum/N2", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			changed := strings.Replace(text, test.old, test.new, 1)
			r := parse(changed).RedefinitionOf(parse(text))
			var missing []string
			for _, c := range r.Missing {
				missing = append(missing, c.Name())
			}
			got := []string{strings.Join(r.Changed, " "), strings.Join(r.Cases, " "), strings.Join(missing, " ")}
			if got[0] != test.changed || got[1] != test.cases || got[2] != test.missing {
				t.Errorf("changed %q, cases %q, missing %q", got[0], got[1], got[2])
			}
		})
	}
}
