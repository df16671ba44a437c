package expr

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var vars = map[string]any{
	"B": 32.0, "H": 8, "S": int64(512), "D": float32(64), "N": 1e6,
	"dtype": "bf16", "causal": true, "list": []int{1},
}

func TestEval(t *testing.T) {
	for _, tt := range []struct {
		source string
		want   any
	}{
		{"4*B*H*S*S*D", 4.0 * 32 * 8 * 512 * 512 * 64},
		{"2*N*N*N*N", 2e24}, // past any integer
		{"1 / 2", 0.5},
		{"7 % 4", 3.0},
		{"-7 % 4", -3.0}, // the sign of the left side, as in C
		{"2.5 % 1", 0.5},
		{"2 ** 10", 1024.0},
		{"-2 ** 2", -4.0},
		{"2 ** 3 ** 2", 512.0},
		{"1 - 2 - 3", -4.0},
		{"(1 + 2) * 3", 9.0},
		{"+B", 32.0},
		{"0x10 + 1_000", 1016.0},
		{"30.3e3", 30300.0},
		{"B >= 32 && S < 1000", true},
		{"B > 32 || !(S == 512)", false},
		{"B > 32 or not causal", false},
		{"16 <= B <= 64", true},
		{"16 <= B <= 31", false},
		{`dtype == "bf16"`, true},
		{`dtype != 'bf16'`, false},
		{`dtype == "a//b" || dtype == 'it\'s /*'`, false},
		{"causal == true", true},
		{"causal ? B : S", 32.0},
		{"B > 100 ? 1 : B > 10 ? 2 : 3", 2.0},
		{"min(B, H, S)", 8.0},
		{"max(3)", 3.0},
		{"ceil(1.2) + floor(1.8)", 3.0},
		{"ceildiv(S, 100)", 6.0},
		{"log2(S)", 9.0},
		{"abs(-3) + sqrt(9)", 6.0},
		{`sizeof("fp16")`, 2.0},
		{"2*S*sizeof(dtype)", 2048.0},
		{`sizeof("FP4")`, 0.5},
		{"causal || list > 1", true}, // the right side is not needed
	} {
		e, err := Compile(tt.source)
		if err != nil {
			t.Errorf("Compile(%q): %v", tt.source, err)
			continue
		}
		got, err := e.Eval(vars)
		if err != nil {
			t.Errorf("Eval(%q): %v", tt.source, err)
		} else if got != tt.want {
			t.Errorf("Eval(%q) = %v, want %v", tt.source, got, tt.want)
		}
		if e.String() != tt.source {
			t.Errorf("String() = %q, want %q", e, tt.source)
		}
	}
}

func TestCompileErrors(t *testing.T) {
	for _, tt := range []struct {
		source string
		pos    int
		want   string
	}{
		{"", 0, "the expression is empty"},
		{"  ", 0, "the expression is empty"},
		{"2*", 2, "the expression ends too early"},
		{"2 * * N", 4, `unexpected "*"`},
		{"(2*N", 4, "the expression ends too early"},
		{"B = 3", 2, `unexpected "=" (== compares)`},
		{"B // 2", 2, "expressions cannot contain comments (for integer division write floor(a / b))"},
		{"B /* 2 */", 2, "expressions cannot contain comments (for integer division write floor(a / b))"},
		{"dtype == '\\\\' // 2", 14, "expressions cannot contain comments (for integer division write floor(a / b))"},
		{"B N", 2, `unexpected "N"`},
		{"B ^ 2", 2, `operator "^" is not supported in expressions (write ** for a power)`},
		{"minn(1, 2)", 0, `unknown function "minn" (did you mean "min"?)`},
		{"1 + fibonacci(3)", 4, `unknown function "fibonacci" (known: abs, ceil, ceildiv, floor, log2, max, min, sizeof, sqrt)`},
		{"len(dtype)", 0, `unknown function "len" (known: abs, ceil, ceildiv, floor, log2, max, min, sizeof, sqrt)`},
		{"sum(B)", 0, `unknown function "sum" (known: abs, ceil, ceildiv, floor, log2, max, min, sizeof, sqrt)`},
		{"ceildiv(1)", 0, "ceildiv takes 2 arguments, not 1"},
		{"sqrt(1, 2)", 0, "sqrt takes 1 argument, not 2"},
		{"min()", 0, "min takes 1 to 16 arguments, not 0"},
		{"B.x", 2, "values have no members (a variable is a plain name)"},
		{"[1, 2]", 0, "lists and maps are not supported in expressions"},
		{"B in [1, 2]", 5, "lists and maps are not supported in expressions"},
		{`dtype contains "x"`, 6, `operator "contains" is not supported in expressions`},
		{"1..3", 1, `operator ".." is not supported in expressions`},
		{"let x = 1; x", 4, "this is not supported in expressions"},
		{"2 * 100000000000000000000", 4, "the number is too large (write it like 1e20)"},
		{strings.Repeat("1+", 5000), 0, "the expression has 10000 characters, the limit is 4096"},
		{strings.Repeat("1+", 1500) + "1", 0, "the expression is too long"},
	} {
		_, err := Compile(tt.source)
		e, ok := errors.AsType[*Error](err)
		if !ok {
			t.Errorf("Compile(%.30q) = %v, want %q", tt.source, err, tt.want)
			continue
		}
		if e.Error() != tt.want || e.Pos != tt.pos {
			t.Errorf("Compile(%.30q)\n got %d: %s\nwant %d: %s", tt.source, e.Pos, e, tt.pos, tt.want)
		}
	}
}

func TestEvalErrors(t *testing.T) {
	for _, tt := range []struct {
		source string
		pos    int
		want   string
	}{
		{"2*M", 2, `unknown variable "M"`},
		{"2*dtype", 2, `* expects a number, got text "bf16"`},
		{"causal + 1", 0, "+ expects a number, got true"},
		{"-dtype", 1, `- expects a number, got text "bf16"`},
		{"!B", 1, "! expects true or false, got the number 32"},
		{"B && causal", 0, "&& expects true or false, got the number 32"},
		{"causal and S", 11, "and expects true or false, got the number 512"},
		{"B ? 1 : 2", 0, "? expects true or false, got the number 32"},
		{`B == "32"`, 2, `== cannot compare the number 32 with text "32"`},
		{"max(1, dtype)", 7, `max expects a number, got text "bf16"`},
		{"sizeof(B)", 7, "sizeof expects text, got the number 32"},
		{`1 + sizeof("fp17")`, 11, `sizeof: unknown type "fp17" (did you mean "fp16"?)`},
		{"list + 1", 0, `variable "list" must be a number, text, true or false`},
	} {
		e, err := Compile(tt.source)
		if err != nil {
			t.Errorf("Compile(%q): %v", tt.source, err)
			continue
		}
		_, err = e.Eval(vars)
		got, ok := errors.AsType[*Error](err)
		if !ok {
			t.Errorf("Eval(%q) = %v, want %q", tt.source, err, tt.want)
			continue
		}
		if got.Error() != tt.want || got.Pos != tt.pos {
			t.Errorf("Eval(%q)\n got %d: %s\nwant %d: %s", tt.source, got.Pos, got, tt.pos, tt.want)
		}
	}
}

func TestNumberAndBool(t *testing.T) {
	must := func(source string) *Expr {
		e, err := Compile(source)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	if x, err := must("B/4").Number(vars); x != 8 || err != nil {
		t.Errorf("B/4 = %v, %v", x, err)
	}
	if x, err := must("B/4 == 8").Bool(vars); !x || err != nil {
		t.Errorf("B/4 == 8 is %v, %v", x, err)
	}
	for source, want := range map[string]string{
		"1/0":       "the result is not a finite number (is something divided by zero?)",
		"0/0":       "the result is not a finite number (is something divided by zero?)",
		"sqrt(0-1)": "the result is not a finite number (is something divided by zero?)",
		"B > 1":     "expected a number, got true",
		"dtype":     `expected a number, got text "bf16"`,
	} {
		if _, err := must(source).Number(vars); err == nil || err.Error() != want {
			t.Errorf("Number(%q) = %v, want %q", source, err, want)
		}
	}
	if _, err := must("B").Bool(vars); err == nil || err.Error() != "expected true or false, got the number 32 (compare it with a value)" {
		t.Errorf("Bool(B) = %v", err)
	}
}

func TestVariables(t *testing.T) {
	e, err := Compile("S*B + min(S, flops) > é")
	if err != nil {
		t.Fatal(err)
	}
	want := []Variable{{"S", 0}, {"B", 2}, {"flops", 13}, {"é", 22}}
	if diff := cmp.Diff(want, e.Variables()); diff != "" {
		t.Error(diff)
	}
}

// Reserved words must be exactly those that cannot be used as a variable, or a
// parameter would be accepted and never found.
func TestReserved(t *testing.T) {
	for _, word := range Reserved() {
		e, err := Compile(word)
		if err == nil && len(e.Variables()) == 1 && e.Variables()[0].Name == word {
			if _, isFunction := withSizeof()[word]; !isFunction && word != "if" && word != "else" {
				t.Errorf("%q is reserved, and works as a variable", word)
			}
		}
	}
	for _, word := range []string{"B", "len", "count", "sum", "map", "time", "_x", "BLOCK_M", "b"} {
		e, err := Compile(word + " + 1")
		if err != nil || len(e.Variables()) != 1 {
			t.Errorf("%q does not work as a variable: %v", word, err)
		}
	}
}

// What an expression of numbers gives is what Go gives for float64.
func TestArithmeticIsFloat64(t *testing.T) {
	e, err := Compile("a*b + a/b - a%b")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64().Draw(t, "a"), rapid.Float64().Draw(t, "b")
		got, err := e.Eval(map[string]any{"a": a, "b": b})
		want := a*b + a/b - math.Mod(a, b)
		if err != nil || math.Float64bits(got.(float64)) != math.Float64bits(want) && !(math.IsNaN(got.(float64)) && math.IsNaN(want)) {
			t.Fatalf("got %v, %v; want %v", got, err, want)
		}
	})
}

func TestEvalDoesNotAllocate(t *testing.T) {
	e, err := Compile(`4*B*H*max(S, D) + ceildiv(S, 128) > 2 ** 10 && dtype == "bf16"`)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = e.Bool(vars) }); n > 0 {
		t.Errorf("%v allocations in one evaluation", n)
	}
}

func BenchmarkEval(b *testing.B) {
	e, err := Compile("4*B*H*S*S*D <= 100000 && B % 16 == 0")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := e.Bool(vars); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		"4*B*H*S*S*D", "B > 1 && S % 2 == 0 ? 1 : max(2, 3)", `sizeof("fp16")`, "if x {1} else {2}",
		"let a = 1; a", "a?.b[1:2]", "sum([1], # + 1)", "b'x'", "1..2", "`raw`", "a ?: b", "x | f()", "not in", "::len(1)", "/* c */ 1",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		e, err := Compile(source)
		if err != nil {
			p, ok := errors.AsType[*Error](err)
			if !ok || p.Msg == "" || p.Pos < 0 || p.Pos > len(source) {
				t.Fatalf("Compile(%q) = %#v", source, err)
			}
			if strings.Contains(p.Msg, "cannot parse the expression") {
				t.Logf("unexplained: %v", p)
			}
			return
		}
		known := map[string]any{}
		for i, v := range e.Variables() {
			known[v.Name] = float64(i + 1)
		}
		if x, err := e.Number(known); err == nil && (math.IsNaN(x) || math.IsInf(x, 0)) {
			t.Fatalf("Number(%q) = %v", source, x)
		}
		if _, err := e.Bool(known); err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Fatalf("Bool(%q) = %#v", source, err)
			}
		}
	})
}
