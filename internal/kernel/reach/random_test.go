package reach_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// program is a random file of kernels, and what each of its parts is made of.
type program struct {
	kernels []kernelText
	helpers []string // bodies of functions that kernels call
	tables  [][]int
	header  string // a macro that some kernels use
	flags   []string
}

type kernelText struct {
	steps   int // work for each element
	op      string
	helper  int // that it calls; -1 for none
	table   int // that it reads; -1 for none
	literal string
	macro   bool
}

const randomKernels = 20

func newProgram(r *rand.Rand) program {
	p := program{header: "((x) * 1.5f + 1)", flags: []string{"-O2"}}
	for i := range 4 {
		p.helpers = append(p.helpers, fmt.Sprintf("for (int k = 0; k < %d; k++) x = x * 0.5f + %d;", 4+i, r.IntN(5))) // no two are the same code
		p.tables = append(p.tables, []int{r.IntN(9), r.IntN(9), r.IntN(9), r.IntN(9)})
	}
	for range randomKernels {
		k := kernelText{steps: 8 + r.IntN(8), op: []string{"+", "*", "-"}[r.IntN(3)], helper: max(-1, r.IntN(8)-4), table: max(-1, r.IntN(8)-4), literal: fmt.Sprintf("%d.%df", r.IntN(9), 1+r.IntN(9)), macro: r.IntN(4) == 0}
		p.kernels = append(p.kernels, k)
	}
	return p
}

func (p program) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#define STEP(x) %s\n", p.header)
	for i, t := range p.tables {
		fmt.Fprintf(&b, "static int table%d[4] = {%d, %d, %d, %d};\n", i, t[0], t[1], t[2], t[3])
	}
	for i, h := range p.helpers {
		fmt.Fprintf(&b, "__attribute__((noinline)) static float helper%d(float x) { %s return x; }\n", i, h)
	}
	for i, k := range p.kernels {
		fmt.Fprintf(&b, "void k%d(const float *in, float *out, int n) {\n  for (int i = 0; i < n; i++) {\n    float x = in[i];\n    for (int s = 0; s < %d; s++) x = x * 0.25f %s %s;\n", i, k.steps, k.op, k.literal)
		if k.helper >= 0 {
			fmt.Fprintf(&b, "    x += helper%d(x);\n", k.helper)
		}
		if k.table >= 0 {
			fmt.Fprintf(&b, "    x += table%d[i & 3];\n", k.table)
		}
		if k.macro {
			b.WriteString("    x = STEP(x);\n")
		}
		b.WriteString("    out[i] = x;\n  }\n}\n")
	}
	return b.String()
}

// change makes one random change, and returns what it is and the kernels whose source it changes.
func (p program) change(r *rand.Rand) (program, string, []int) {
	p.kernels, p.helpers, p.flags = slices.Clone(p.kernels), slices.Clone(p.helpers), slices.Clone(p.flags)
	p.tables = slices.Clone(p.tables)
	with := func(f func(kernelText) bool) []int {
		var list []int
		for i, k := range p.kernels {
			if f(k) {
				list = append(list, i)
			}
		}
		return list
	}
	i := r.IntN(len(p.kernels))
	j := r.IntN(len(p.helpers))
	switch r.IntN(7) {
	case 0:
		p.kernels[i].steps += 1 + r.IntN(20)
		return p, "code", []int{i}
	case 1:
		p.kernels[i].literal = fmt.Sprintf("%d.%df", 10+r.IntN(9), r.IntN(99))
		return p, "literal", []int{i}
	case 2:
		p.tables[j] = []int{10 + r.IntN(9), r.IntN(9), r.IntN(9), r.IntN(9)}
		return p, "data", with(func(k kernelText) bool { return k.table == j })
	case 3:
		p.helpers[j] = fmt.Sprintf("for (int k = 0; k < %d; k++) x = x * 0.5f + %d;", 20+r.IntN(20), r.IntN(5))
		return p, "callee", with(func(k kernelText) bool { return k.helper == j })
	case 4:
		p.header = fmt.Sprintf("((x) * 1.5f + (x) / ((x) + %d))", 1+r.IntN(9))
		return p, "header", with(func(k kernelText) bool { return k.macro })
	case 5:
		p.flags = [][]string{{"-O1"}, {"-O2", "-fno-unroll-loops", "-fwrapv"}, {"-O2", "-ffast-math"}, {"-O3"}, {"-O2", "-mavx2", "-mfma"}}[r.IntN(5)]
		return p, "flags", nil // which kernels it changes only the compiler knows
	default:
		p.kernels[i].helper = (p.kernels[i].helper+2)%5 - 1
		return p, "call", []int{i}
	}
}

// Of random changes none that reaches a kernel goes unnoticed. With PAWL_LAB, a file for the table, it is 200 changes,
// and every kernel that is taken for unchanged is timed beside the base's: none may be 5 % slower.
func TestRandomChanges(t *testing.T) {
	lab := os.Getenv("PAWL_LAB")
	changes, timer := 14, ""
	if lab != "" {
		text, err := os.ReadFile(filepath.Join("testdata", "timer.c"))
		if err != nil {
			t.Fatal(err)
		}
		changes, timer = 200, compiled(t, "timer", "timer.c", string(text), "gcc", "-O2", "-ldl")
	}
	r := rand.New(rand.NewPCG(23, 5))
	names := make([]string, randomKernels)
	for i := range names {
		names[i] = "k" + strconv.Itoa(i)
	}
	count := map[string][4]int{} // by kind of change: changes, kernels left out, kernels measured, left out and slower by 5 %
	var base program
	var path string
	var before map[string]string
	for n := range changes {
		if n%20 == 0 {
			base = newProgram(r)
			path = shared(t, base.String(), base.flags...)
			before = digests(t, path, names...)
		}
		changed, what, reached := base.change(r)
		now := shared(t, changed.String(), changed.flags...)
		after := digests(t, now, names...)
		c := count[what]
		c[0]++
		var left, measured []string
		for i, k := range names {
			if strings.HasPrefix(before[k], "unknown") {
				t.Fatalf("%s: %s", k, before[k])
			}
			if before[k] != after[k] {
				measured = append(measured, k)
				continue
			}
			left = append(left, k)
			if slices.Contains(reached, i) {
				t.Errorf("change %d (%s) reaches %s, which is left out", n, what, k)
			}
		}
		c[1], c[2] = c[1]+len(left), c[2]+len(measured)
		if lab != "" {
			slow := slower(t, timer, path, now, left)
			if c[3] += len(slow); len(slow) > 0 {
				t.Errorf("change %d (%s): %v are left out and 5 %% slower", n, what, slow)
			}
		}
		count[what] = c
	}
	var b strings.Builder
	b.WriteString("| change | changes | kernels measured | left out | of these 5 % slower |\n| --- | ---: | ---: | ---: | ---: |\n")
	for _, what := range []string{"code", "call", "callee", "literal", "data", "header", "flags"} {
		c := count[what]
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", what, c[0], c[2], c[1], c[3])
	}
	t.Log("\n" + b.String())
	if lab != "" {
		if err := os.WriteFile(lab, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if all := count["code"]; all[0] > 0 && all[1] < all[2] {
		t.Errorf("a change of one kernel has %d others measured, and %d left out", all[2], all[1])
	}
}

// timings is how often both files are timed, each time in fresh processes: where a file is loaded, and what else runs,
// makes single ones differ.
const timings = 8

// slower returns the kernels that are 5 % slower in the second file, in all timings.
func slower(t *testing.T, timer, base, now string, kernels []string) []string {
	t.Helper()
	for range timings {
		if len(kernels) == 0 {
			break
		}
		before, after := times(t, timer, base, kernels), times(t, timer, now, kernels)
		kernels = slices.DeleteFunc(slices.Clone(kernels), func(k string) bool { return after[k] <= 1.05*before[k] })
	}
	return kernels
}

// times returns the best time of each kernel of a file.
func times(t *testing.T, timer, path string, kernels []string) map[string]float64 {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), timer, slices.Concat([]string{path}, kernels)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	best := map[string]float64{}
	for line := range strings.Lines(string(out)) {
		var name string
		var ns float64
		if _, err := fmt.Sscan(line, &name, &ns); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		best[name] = ns
	}
	return best
}
