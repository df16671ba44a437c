package expr

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// What a bound condition says is what the expression says, for every value.
func TestBoundMeansTheSame(t *testing.T) {
	values := map[string][]any{
		"a": {1, 2, 3, 16, 32, 0}, "b": {1.5, -2, 7, 64}, "s": {"fp16", "fp32", "bf16"}, "f": {true, false},
	}
	names := []string{"a", "b", "s", "f"}
	leaf := rapid.SampledFrom([]string{
		"a < b", "a % 3 == 0", "b / a >= 2", "s == 'fp16'", "s != 'other'", "f", "not f", "sizeof(s) * a <= 32",
		"ceildiv(b, a) > 1", "max(a, b, 3) == 3", "(f ? a : b) > 2", "32 <= a * b <= 1024", "-a ** 2 < +b", "abs(b) == 2",
		"f == (a > 2)", "min(a, 2) == 1 or log2(a) > 3",
	})
	rapid.Check(t, func(t *rapid.T) {
		source := leaf.Draw(t, "first")
		for range rapid.IntRange(0, 3).Draw(t, "more") {
			source = "(" + source + ")" + rapid.SampledFrom([]string{" and ", " or ", " == ", " && ", " || "}).Draw(t, "op") + "(" + leaf.Draw(t, "next") + ")"
		}
		e, err := Compile(source)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		l := NewLayout()
		vars, slots := map[string]any{}, make([]float64, len(names))
		for i, n := range names {
			codes, err := l.Add(n, values[n])
			if err != nil {
				t.Fatal(err)
			}
			at := rapid.IntRange(0, len(codes)-1).Draw(t, n)
			vars[n], slots[i] = values[n][at], codes[at]
		}
		want, err := e.Bool(vars)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		b, err := e.Bind(l)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		if got := b.Holds(slots); got != want {
			t.Fatalf("%s with %v: bound says %v, the expression %v", source, vars, got, want)
		}
		all := true
		for _, part := range e.Conjuncts() {
			bound, err := part.Bind(l)
			if err != nil {
				t.Fatal(err)
			}
			all = all && bound.Holds(slots)
		}
		if all != want {
			t.Fatalf("%s with %v: the conjuncts say %v, the expression %v", source, vars, all, want)
		}
	})
}

func TestConjuncts(t *testing.T) {
	e, err := Compile("a > 1 and (b < 2 or a < 3) && 1 <= c <= 4")
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, part := range e.Conjuncts() {
		got = append(got, len(part.Variables()))
	}
	if diff := cmp.Diff([]int{1, 2, 1, 1}, got); diff != "" {
		t.Errorf("variables of the conjuncts (-want +got):\n%s", diff)
	}
}

func TestBindRefuses(t *testing.T) {
	for source, want := range map[string]string{
		"a":                "expected true or false",
		"x > 1":            `unknown variable "x"`,
		"s > 1":            "expects a number",
		"s == 1":           "cannot compare text with a number",
		"(f ? s : a) == a": "different types: text and a number",
		"sizeof(t) == 2":   `sizeof: unknown type "nonsense"`,
		"sizeof(a) == 2":   "expects text",
		"a and f":          "expects true or false",
	} {
		e, err := Compile(source)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		l := NewLayout()
		for name, v := range map[string][]any{"a": {1, 2}, "s": {"fp16"}, "f": {true}, "t": {"fp16", "nonsense"}} {
			if _, err := l.Add(name, v); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := e.Bind(l); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", source, err, want)
		}
	}
}

func TestLayoutRefuses(t *testing.T) {
	l := NewLayout()
	for name, v := range map[string][]any{"none": {}, "mixed": {1, "a"}, "list": {[]int{1}}} {
		if _, err := l.Add(name, v); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestRemainderIsMod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Float64(), rapid.Map(rapid.IntRange(-100, 100), func(i int) float64 { return float64(i) }))
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		got, want := remainder(a, b), math.Mod(a, b)
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("%g %% %g = %g, want %g", a, b, got, want)
		}
	})
}
