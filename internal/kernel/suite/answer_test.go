package suite

import (
	"slices"
	"strings"
	"testing"
)

// A base measures what its change asks for, with its own recipe and defaults.
func TestAnsweredBy(t *testing.T) {
	s := parse(t, tunedSuite)
	was := parse(t, strings.NewReplacer("[64, 128, 256]", "{values: [64, 128, 256], default: 128}", "default: 2", "default: 4", "fast: [false", "quick: [false").Replace(tunedSuite))
	own, err := s.WithAnswerOf(was, false)
	if err != nil {
		t.Fatal(err)
	}
	if got := own.Benchmarks[0].Complete(Params{{"N", 4096.0}}).String(); got != "N: 4096, BLOCK: 128, UNROLL: 4, quick: false" {
		t.Error(got)
	}
	if len(own.Cases()) != len(s.Cases()) || own.Digest == s.Digest {
		t.Errorf("%d cases, want %d", len(own.Cases()), len(s.Cases()))
	}
	if same, err := s.WithAnswerOf(parse(t, tunedSuite), true); err != nil || same.Digest != s.Digest {
		t.Errorf("the same answer makes another suite: %v", err)
	}
}

// Each side of a comparison has its own build; the harness only if it is asked for.
func TestAnsweredByHasItsOwnRecipe(t *testing.T) {
	const text = `version: 1
build: {command: '%b', outputs: [%o]}
harness: {command: ./%o}
benchmarks: {sum: {matrix: {N: [1, 2]}, tune: {parameters: {B: [1, 2]}}}}
`
	fill := func(b, o string) *Suite { return parse(t, strings.NewReplacer("%b", b, "%o", o).Replace(text)) }
	is, was := fill("make fast B=${B}", "fast"), fill("make slow", "slow")
	own, err := is.WithAnswerOf(was, true)
	if err != nil {
		t.Fatal(err)
	}
	if v := own.Variants()[0]; v.Build.Command != "make slow" || !slices.Equal(v.Build.Outputs, []string{"slow"}) || v.Harness.Command != "./slow" || len(v.Cases) != 2 {
		t.Errorf("%+v", v)
	}
	if own, err = is.WithAnswerOf(was, false); err != nil || own.Variants()[0].Harness.Command != "./fast" {
		t.Errorf("%+v, %v", own, err)
	}
}

func TestRebuilt(t *testing.T) {
	for _, c := range []struct{ was, is, want string }{
		{"{command: make}", "{command: make}", ""},
		{"{command: make CFLAGS=-O3 all}", "{command: make CFLAGS=-O1 all}", "command: CFLAGS=-O3 became CFLAGS=-O1"},
		{"{command: make}", "{command: make CFLAGS=-O1}", "command: CFLAGS=-O1 was added"},
		{"{command: make, env: {CC: gcc}}", "{command: make, env: {CC: clang}}", "env: CC=gcc became CC=clang"},
		{"{command: make, outputs: [a, b]}", "{command: make, outputs: [a]}", "outputs: b was removed"},
		{"{recipe: nvcc, sources: [a.cu], target: a, flags: -O3 -lineinfo}", "{recipe: nvcc, sources: [a.cu], target: a, flags: -O1 -lineinfo}", "flags: -O3 became -O1"},
		{"{command: make}", "{recipe: cmake, target: all}", "recipe: command became cmake; target: all was added; command: make was removed"},
	} {
		suite := func(build string) *Suite {
			return parse(t, "version: 1\nbuild: "+build+"\nharness: {command: ./a}\n")
		}
		if got := strings.Join(suite(c.is).RecipeChanges(suite(c.was)), "; "); got != c.want {
			t.Errorf("%s after %s: %q, want %q", c.is, c.was, got, c.want)
		}
	}
}

// A recipe changes with the answer of a suite, a question with the rest that decides what a time means.
func TestRecipeAndQuestion(t *testing.T) {
	const text = `version: 1
build: {command: make, outputs: [h]}
harness: {command: ./h}
policy: {slower: 3%}
measure: {samples: 10}
benchmarks:
  sum: {matrix: {N: [1, 2]}, flops: N, tune: {parameters: {B: [1, 2]}}}
  max: {matrix: {N: [4]}, flops: N}
`
	is := parse(t, text)
	for _, c := range []struct {
		name, old, new   string
		recipe, question bool // whether they differ
	}{
		{"nothing", "make", "make", false, false},
		{"a comment", "make,", "make, # fast\n ", false, false},
		{"the command", "make", "make -j2", true, false},
		{"an output", "[h]", "[h, i]", true, false},
		{"the start", "./h", "./h --fast", true, false},
		{"a tunable's default", "B: [1, 2]", "B: [2, 1]", true, false},
		{"a limit", "3%", "30%", false, false},
		{"a price", "version: 1", "version: 1\ndevice: {price_per_hour: 1}", false, false},
		{"samples", "samples: 10", "samples: 20", false, true},
		{"the work of the benchmark", "N: [1, 2]}, flops: N", "N: [1, 2]}, flops: 2*N", false, true},
		{"the work of another benchmark", "N: [4]}, flops: N", "N: [4]}, flops: 2*N", false, false},
		{"one case more", "N: [1, 2]", "N: [1, 2, 3]", false, false},
		{"a benchmark more", "  max:", "  min: {matrix: {N: [9]}}\n  max:", false, false},
	} {
		was := parse(t, strings.Replace(text, c.old, c.new, 1))
		if got := is.Recipe(Candidate, is) != was.Recipe(Candidate, was); got != c.recipe {
			t.Errorf("%s: another recipe is %v, want %v", c.name, got, c.recipe)
		}
		if got := is.Question("sum") != was.Question("sum"); got != c.question {
			t.Errorf("%s: another question is %v, want %v", c.name, got, c.question)
		}
	}
	tuned, err := is.Tuned("sum", map[string]any{"B": 2.0})
	if err != nil {
		t.Fatal(err)
	}
	if tuned.Recipe(Candidate, tuned) == is.Recipe(Candidate, is) {
		t.Error("another point of a search has the same recipe")
	}
}
