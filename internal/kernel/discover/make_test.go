package discover

import (
	"strings"
	"testing"
	"testing/fstest"
)

// What builds bench/harness.c, as a Makefile may say it.
func TestMake(t *testing.T) {
	for _, tt := range []struct {
		name, makefile string
		command        string // empty: the Makefile does not say
		program        string
	}{
		{"prerequisite", "harness: harness.c\n\tcc $<", "make -C bench harness", "bench/harness"},
		{"another name", "prog: harness.c", "make -C bench prog", "bench/prog"},
		{"harness is preferred", "prog: harness.c\nharness: harness.c", "make -C bench harness", "bench/harness"},
		{"object", "prog: a.o harness.o", "make -C bench prog", "bench/prog"},
		{"object elsewhere", "prog: obj/harness.o", "make -C bench prog", "bench/prog"},
		{"not the object itself", "harness.o: harness.c", "", ""},
		{"not the list of dependencies", "harness.d: harness.c", "", ""},
		{"only in the recipe", "prog:\n\tcc -o $@ harness.c", "make -C bench prog", "bench/prog"},
		{"another output", "prog:\n\tcc harness.c -o bin/it", "make -C bench prog", "bench/bin/it"},
		{"recipe on the line", "prog: ; cc -o prog harness.c", "make -C bench prog", "bench/prog"},
		{"phony that compiles", ".PHONY: all\nall:\n\tcc -o run harness.c", "make -C bench all", "bench/run"},
		{"phony that does not", ".PHONY: lint\nlint: harness.c\n\tlint harness.c", "", ""},
		{"compiles an object", "all:\n\tcc -c -o harness.o harness.c", "", ""},
		{"only cleans", "clean:\n\trm -f harness.o harness.c~", "", ""},
		{"variable", "P = prog\nS := harness.c\n$(P): $(S)", "make -C bench prog", "bench/prog"},
		{"braces", "P = prog\n${P}: harness.c", "make -C bench prog", "bench/prog"},
		{"default value", "P = prog\nP ?= other\n$(P): harness.c", "make -C bench prog", "bench/prog"},
		{"added value", "S = a.c\nS += harness.c\nprog: $(S)", "make -C bench prog", "bench/prog"},
		{"suffixes", "S = a.c harness.c\nprog: $(S:.c=.o)", "make -C bench prog", "bench/prog"},
		{"patsubst", "S = harness.c\nO = $(patsubst %.c,obj/%.o,$(S))\nprog: $(O)", "make -C bench prog", "bench/prog"},
		{"continued line", "S = a.c \\\n  harness.c\nprog: $(S)", "make -C bench prog", "bench/prog"},
		{"pattern", "%: %.c\n\tcc -o $@ $<", "make -C bench harness", "bench/harness"},
		{"pattern of another language", "%: %.cu", "", ""},
		{"order only", "prog: harness.c | bin", "make -C bench prog", "bench/prog"},
		{"variable of a target", "harness.c: CFLAGS = -O3", "", ""},
		{"comment", "# prog: harness.c", "", ""},
		{"a call we do not know", "prog: $(shell find . -name '*.c')", "", ""},
		{"a dot before", "./prog: ./harness.c", "make -C bench ./prog", "bench/prog"},
		{"a name for the shell", "$(shell,x);rm: harness.c", "", ""},
		{"a name with a space is two", "a b: harness.c", "make -C bench a", "bench/a"},
		{"windows line ends", "prog: harness.c\r\n\tcc\r\n", "make -C bench prog", "bench/prog"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tree, err := walk(fstest.MapFS{
				"bench/Makefile":  {Data: []byte(tt.makefile)},
				"bench/harness.c": {Data: []byte("int main(void) {}")},
			})
			if err != nil {
				t.Fatal(err)
			}
			f, _ := tree.get("bench/harness.c")
			r, ok := tree.fromMake("bench", f)
			if ok != (tt.command != "") || r.command != tt.command || r.program != tt.program {
				t.Errorf("%q builds %q, want %q and %q", r.command, r.program, tt.command, tt.program)
			}
		})
	}
}

// Variables that grow without end, or name each other, end nevertheless.
func TestMakeIsBounded(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("A0 = harness.c harness.c\n")
	for i := 1; i < 60; i++ {
		bomb.WriteString("A" + strings.Repeat("x", i) + " = $(A" + strings.Repeat("x", i-1) + ")$(A" + strings.Repeat("x", i-1) + ")\n")
	}
	bomb.WriteString("A = y\nprog: $(A" + strings.Repeat("x", 59) + ")\nloop: $(L)\nL = $(L) $(L)\n")
	for name, text := range map[string]string{
		"doubling":      bomb.String(),
		"many rules":    strings.Repeat("a: $(B)\nB = $(C) $(C)\nC = harness.c\n", 20_000),
		"long recipe":   "a:\n" + strings.Repeat("\techo\n", 80_000),
		"long line":     "a: " + strings.Repeat("\\\nb ", 100_000),
		"open brackets": "a: " + strings.Repeat("$(", 200_000),
	} {
		m := parseMake(text)
		for _, r := range m.rules {
			for _, target := range m.words(r.targets) {
				m.program(r, target, "harness.c")
			}
			if n := len(strings.Join(m.words(r.prerequisites), " ")); n > 2*maxExpanded {
				t.Errorf("%s: a text grew to %d bytes", name, n)
			}
		}
		if len(m.rules) > maxRules {
			t.Errorf("%s: %d rules", name, len(m.rules))
		}
	}
}
