package suite

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
)

// Files that are meant to exhaust the machine are refused, with a reason.
func TestHostile(t *testing.T) {
	const head = "version: 1\nharness: {command: x}\n"
	bomb := head + "name: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 10; i++ {
		bomb += fmt.Sprintf("k%d: &a%d [%s]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10))
	}
	for name, tt := range map[string]struct{ text, want string }{
		"large":         {head + strings.Repeat("#", maxFileSize), "pawl.yaml:1:1: the file has 4194337 bytes, the limit is 4194304"},
		"not UTF-8":     {head + "name: \xff\n", "pawl.yaml:1:1: the file is not UTF-8 text"},
		"aliases":       {bomb, "more than 500000 values after expanding aliases"},
		"deep":          {head + "benchmarks: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "nested deeper than 32 levels"},
		"deeper":        {head + "benchmarks: " + strings.Repeat("[", 1<<20), "invalid YAML: exceeded max depth"},
		"deep mapping":  {head + "benchmarks: " + strings.Repeat("{a: ", 5000) + strings.Repeat("}", 5000), "nested deeper than 32 levels"},
		"many keys":     {head + "benchmarks:\n" + strings.Repeat("  a: {}\n", 10_000), "duplicate key"},
		"matrix":        {head + "benchmarks: {a: {matrix: {" + bigMatrix(64, 64) + "}}}", "more than 100000 configs"},
		"wide name":     {head + "benchmarks: {a: {matrix: {" + bigMatrix(64, 1) + "}}}", "the limit is 200"},
		"long key":      {head + strings.Repeat("k", 1000) + ": 1\n", "unknown key \"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk...\""},
		"long value":    {"version: 1\nharness: {command: x, format: " + strings.Repeat("v", 1<<16) + "}\n", "format: unknown value \"vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv...\""},
		"long command":  {"version: 1\nharness: {command: " + strings.Repeat("v", maxText+1) + "}\n", "command has more than 10000 characters (put it in a script)"},
		"many metrics":  {head + "metrics: {" + entries(200, "m%d: {}") + "}\n", "metrics has 203 entries, the limit is 100"},
		"references":    {head + "implementations: {" + entries(200, "i%d: {}") + "}\n", "implementations has 200 entries, the limit is 100"},
		"variables":     {"version: 1\nharness: {command: x, env: {" + entries(2000, "E%d: 1") + "}}\n", "env has 2000 entries, the limit is 1000"},
		"excludes":      {head + "benchmarks: {a: {matrix: {N: 1}, exclude: [" + entries(2000, "N == %d") + "]}}\n", "exclude has 2000 entries, the limit is 1000"},
		"overrides":     {head + "benchmarks: {a: {matrix: {N: 1}, overrides: [" + entries(2000, "{when: N == %d}") + "]}}\n", "overrides has 2000 entries, the limit is 1000"},
		"parameters":    {head + "benchmarks: {a: {include: [{" + entries(100, "P%d: 1") + "}]}}\n", `benchmark "a" has 100 parameters, the limit is 64`},
		"variants":      {"version: 1\nharness: {command: 'x ${N}'}\nbenchmarks: {a: {matrix: {N: [" + entries(1001, "%d") + "]}}}\n", `implementation "candidate" has more than 1000 variants`},
		"places":        {"version: 1\nharness: {command: '" + strings.Repeat("${N}", 2000) + "'}\nbenchmarks: {a: {matrix: {M: 1}}}\n", "${N} is not a parameter of benchmark \"a\""},
		"expression":    {head + "benchmarks: {a: {matrix: {N: 1}, flops: " + strings.Repeat("(", 4000) + "}}", "the expression ends too early"},
		"long includes": {head + "benchmarks:\n  a:\n    include:\n" + strings.Repeat("      - {N: 1}\n", 10_000), "config N1 of benchmark \"a\" appears twice"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("pawl.yaml", []byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %.300v\nwant %s", err, tt.want)
			}
			if len(fmt.Sprint(err)) > 20_000 {
				t.Errorf("the message has %d bytes", len(fmt.Sprint(err)))
			}
		})
	}
}

func entries(n int, format string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(list, ", ")
}

// What a harness lists is as little trusted as a file.
func TestHostileHarness(t *testing.T) {
	s := parse(t, "version: 1\nharness: {command: x}\n")
	var many []Listed
	for i := range maxCases + 1 {
		many = append(many, Listed{Name: fmt.Sprint(i)})
	}
	var configs []Config
	for i := range 1000 {
		configs = append(configs, Config{Params: Params{{fmt.Sprintf("P%d", i), 1.0}}})
	}
	var names []string
	for i := range 1000 {
		names = append(names, fmt.Sprintf("i%d", i))
	}
	for want, list := range map[string][]Listed{
		"the harness lists 100001 benchmarks, the limit is 100000":        many,
		"as listed by the harness, has more than 64 parameters":           {{Name: "a", Configs: configs}},
		"has a config with the invalid name \"a\\nb\" (printable":         {{Name: "a", Configs: []Config{{Name: "a\nb"}}}},
		"the harness lists more than 100 implementations":                 {{Name: "a", Implementations: names}},
		"the harness lists 100001 configs for benchmark \"a\", the limit": {{Name: "a", Configs: make([]Config, maxCases+1)}},
	} {
		if _, err := s.Fill(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %.300v\nwant %s", err, want)
		}
	}
}

func bigMatrix(params, values int) string {
	var b strings.Builder
	for p := range params {
		fmt.Fprintf(&b, "P%d: [", p)
		for v := range values {
			fmt.Fprintf(&b, "%d, ", v)
		}
		b.WriteString("], ")
	}
	return b.String()
}

// All mistakes of a file are found at once, in the order of the file, and at most
// twenty are printed.
func TestAllMistakes(t *testing.T) {
	_, err := Parse("pawl.yaml", read(t, "testdata/many.yaml"))
	golden.Check(t, "many.txt", fmt.Sprintln(err))

	found, ok := errors.AsType[Errors](err)
	if !ok || len(found) <= 20 {
		t.Fatalf("%d mistakes", len(found))
	}
	if first, ok := errors.AsType[*strictyaml.Error](err); !ok || *first != *found[0] {
		t.Errorf("errors.As finds %v", first)
	}
}

// One mistake is reported once, in one way: nothing else is concluded from it.
func TestNoConsequences(t *testing.T) {
	const head = "version: 1\nharness: {command: x}\nmetrics: {r: {expr: N / time, better: higher}}\nbenchmarks:\n  a:\n"
	for _, tt := range []struct{ text, want string }{
		{"    matrix: {N: [1, .nan]}\n    flops: N\n", "pawl.yaml:6:21: .nan is not a finite number"},
		{"    matrix: {N: [.nan]}\n    flops: N\n", "pawl.yaml:6:18: .nan is not a finite number"},
		{"    matrix: {N: [~]}\n    flops: N\n    exclude: [N > 1]\n", "pawl.yaml:6:18: N: expected a number, text, true or false, got nothing"},
		{"    matirx: {N: [1]}\n    flops: N\n", `pawl.yaml:6:5: unknown key "matirx" (did you mean "matrix"?)`},
		{"    matrix: {N: [1]}\n    flops: M\n    bytes: 1\n    implementations: [candidate]\n", `pawl.yaml:7:12: flops: unknown variable "M" (known: N)`},
		{"    matrix: {N: [1]}\nbuild: {recipe: nvc, target: x, sources: [k.cu]}\n", "pawl.yaml:7:17: recipe: unknown value \"nvc\" (known: command, nvcc, cmake, torch, make)"},
		{"    matrix: {N: [1]}\n    arguments: {x: {input: f32, shape: [N]}}\n", `pawl.yaml:7:21: unknown key "input" (did you mean "in"?)`},
	} {
		_, err := Parse("pawl.yaml", []byte(head+tt.text))
		if diff := cmp.Diff(tt.want, fmt.Sprint(err)); diff != "" {
			t.Error(diff)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, path := range append(files(f, "testdata/ok/*.yaml"), files(f, "testdata/bad/*.yaml")...) {
		if !strings.Contains(path, "too-many") { // they take their time
			f.Add(read(f, path))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			t.Skip()
		}
		s, err := Parse("pawl.yaml", data)
		if err != nil {
			found, ok := errors.AsType[Errors](err)
			if !ok || len(found) == 0 {
				t.Fatalf("%T: %v", err, err)
			}
			for _, e := range found {
				if e.File != "pawl.yaml" || e.Line < 1 || e.Col < 1 || e.Msg == "" {
					t.Fatalf("%#v", e)
				}
			}
			return
		}
		seen := map[string]bool{}
		for _, c := range s.Cases() {
			if seen[c.String()] {
				t.Fatalf("two cases %s", c)
			}
			seen[c.String()] = true
			if c.Samples < 1 || c.Warmup < 0 || c.Flops < 0 || c.Bytes < 0 || c.Cache == "" {
				t.Fatalf("%+v", c)
			}
		}
		inVariants := 0
		for _, v := range s.Variants() {
			inVariants += len(v.Cases)
		}
		if inVariants != len(seen) {
			t.Fatalf("%d cases, %d in variants", len(seen), inVariants)
		}
		if s.NeedsHarness() {
			_, _ = s.Fill([]Listed{{Name: "a", Flops: "N", Configs: []Config{{Params: Params{{"N", 1.0}}}}}, {Name: "b"}})
		}
	})
}

// FuzzFill reads what a harness lists, and gives it to a suite that has to take it.
func FuzzFill(f *testing.F) {
	f.Add([]byte(reply))
	f.Add([]byte(`[{"name":"a","flops":"N*","configs":[{"N":1e300,"k":true},{"k":false}]}]`))
	f.Add([]byte(`[{"name":"a","implementations":["candidate","x","base"],"configs":[{}]}]`))
	s, err := Parse("pawl.yaml", []byte("version: 1\nharness: {command: x}\nmetrics: {r: {expr: N / time, better: higher}}\n"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var list []Listed
		if json.Unmarshal(data, &list) != nil {
			return
		}
		full, err := s.Fill(list)
		if err != nil {
			if _, ok := errors.AsType[Errors](err); !ok {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		seen := map[string]bool{}
		for _, c := range full.Cases() {
			if seen[c.String()] || c.Flops < 0 {
				t.Fatalf("%+v", c)
			}
			seen[c.String()] = true
			again := Params{}
			text, err := json.Marshal(c.Params)
			if err != nil || json.Unmarshal(text, &again) != nil || !slices.Equal(again, c.Params) {
				t.Fatalf("%v is written %s and read %v: %v", c.Params, text, again, err)
			}
		}
	})
}

func thousand() []byte {
	return []byte(`version: 1
harness: {command: "./harness ${D}"}
implementations: {sdpa: {}}
benchmarks:
  attention:
    matrix: {B: [1, 2, 4, 8, 16], H: [4, 8, 12, 16, 32], S: [128, 256, 512, 1024, 2048], D: [64, 128], dtype: [fp16, bf16]}
    flops: 4*B*H*S*S*D
    bytes: 4*B*H*S*D*sizeof(dtype)
    exclude: ["B * S > 1000000"]
    overrides: [{when: S >= 512, samples: 50}]
`)
}

func BenchmarkParse1000(b *testing.B) {
	for b.Loop() {
		s, err := Parse("pawl.yaml", thousand())
		if err != nil || len(s.Cases()) != 1000 {
			b.Fatal(err, len(s.Cases()))
		}
	}
}

// A thousand cases written one by one, as a generator would.
func BenchmarkParse1000Includes(b *testing.B) {
	var text strings.Builder
	text.WriteString("version: 1\nharness: {command: x}\nbenchmarks:\n  a:\n    flops: 2*M*N*K\n    include:\n")
	for i := range 1000 {
		fmt.Fprintf(&text, "      - {M: %d, N: 64, K: %d, dtype: fp16}\n", i+1, 2*i+1)
	}
	for b.Loop() {
		if _, err := Parse("pawl.yaml", []byte(text.String())); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSchema(b *testing.B) {
	for b.Loop() {
		if len(Schema()) == 0 {
			b.Fatal(os.ErrInvalid)
		}
	}
}
