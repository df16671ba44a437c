package suite_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

func TestSetDefaults(t *testing.T) {
	const around = "# ours\nversion: 1\nharness: ./h # how\nbenchmarks:\n  k:\n    tune:\n      parameters:\n"
	for name, test := range map[string]struct {
		was, is string
		values  map[string]any
	}{
		"in braces":          {"        B: {values: [8, 16], default: 8} # block\n", "        B: {values: [8, 16], default: 16} # block\n", map[string]any{"B": 16}},
		"without a default":  {"        B: {values: [8, 16]}\n", "        B: {default: 16, values: [8, 16]}\n", map[string]any{"B": 16.0}},
		"a list":             {"        B: [8, 16] # block\n        U: [1, 2]\n", "        B: {default: 16, values: [8, 16]} # block\n        U: [1, 2]\n", map[string]any{"B": 16}},
		"a list over lines":  {"        B: [8,\n          16]\n", "        B: {default: 16, values: [8,\n          16]}\n", map[string]any{"B": 16}},
		"items":              {"        B:\n          - 8 # small\n          - 16\n", "        B:\n          default: 16\n          values:\n          - 8 # small\n          - 16\n", map[string]any{"B": 16}},
		"lines":              {"        B:\n          # of them\n          values: [8, 16]\n          default: 8   # for now\n", "        B:\n          # of them\n          values: [8, 16]\n          default: 16   # for now\n", map[string]any{"B": 16}},
		"lines, no default":  {"        B:\n          values: [8, 16]\n          when: U > 1\n", "        B:\n          default: 16\n          values: [8, 16]\n          when: U > 1\n", map[string]any{"B": 16}},
		"text":               {"        L: {values: [row, 'a, b', \"no\"], default: row}\n", "        L: {values: [row, 'a, b', \"no\"], default: \"a, b\"}\n", map[string]any{"L": "a, b"}},
		"text that is a yes": {"        L: {values: [row, \"true\"], default: 'row'}\n", "        L: {values: [row, \"true\"], default: \"true\"}\n", map[string]any{"L": "true"}},
		"truth":              {"        L: {values: [true, false], default: true}\n", "        L: {values: [true, false], default: false}\n", map[string]any{"L": false}},
		"two, behind ü":      {"        B: {values: [8, 16], default: 8}\n        Ü: {values: [\"ü\", x], default: \"ü\"}\n", "        B: {values: [8, 16], default: 16}\n        Ü: {values: [\"ü\", x], default: x}\n", map[string]any{"B": 16, "Ü": "x"}},
		"line ends":          {"        B: {values: [8, 16], default: 8}\r\n", "        B: {values: [8, 16], default: 16}\r\n", map[string]any{"B": 16}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := suite.SetDefaults([]byte(around+test.was), "k", test.values)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(around+test.is, string(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestSetDefaultsLeavesToPeople(t *testing.T) {
	const head = "version: 1\nbenchmarks:\n  k:\n    tune:\n      parameters:\n"
	for name, text := range map[string]string{
		"elsewhere":      "version: 1\nextends: common.yaml\n",
		"another":        head + "        C: [1, 2]\n",
		"an alias":       "version: 1\nx: &x [8, 16]\n" + strings.TrimPrefix(head, "version: 1\n") + "        B: *x\n",
		"an anchor":      head + "        B: {values: [8, 16], default: &d 8}\n        C: {values: [8, 16], default: *d}\n",
		"a shared list":  head + "        B: &x [8, 16]\n        C: *x\n",
		"a strange list": head + "        B: [8, '1]6']\n",
		"block text":     head + "        B:\n          values: [8, 16]\n          default: |-\n            8\n",
	} {
		_, err := suite.SetDefaults([]byte(text), "k", map[string]any{"B": 16})
		if !errors.Is(err, suite.ErrEditByHand) {
			t.Errorf("%s: %v, want to leave it to people", name, err)
		}
	}
}

// Whatever a file is, either it is refused or only defaults change.
func FuzzSetDefaults(f *testing.F) {
	f.Add("version: 1\nbenchmarks: {k: {tune: {parameters: {B: [8, 16]}}}}\n", 16.0)
	f.Add("benchmarks:\n  k:\n    tune:\n      parameters:\n        B:\n        - 8\n", 8.0)
	f.Fuzz(func(t *testing.T, text string, value float64) {
		out, err := suite.SetDefaults([]byte(text), "k", map[string]any{"B": value})
		if err != nil {
			return
		}
		again, err := suite.SetDefaults(out, "k", map[string]any{"B": value})
		if err != nil || string(again) != string(out) {
			t.Errorf("%q became %q, and then %q, %v", text, out, again, err)
		}
	})
}

// A real suite keeps all but the defaults, and means the chosen point afterwards.
func TestSetDefaultsOfASuite(t *testing.T) {
	const text = `version: 1
harness: {command: ./h}
benchmarks:
  k:
    matrix: {N: [1, 2]} # sizes
    tune:
      parameters:
        A: {values: [8, 16, 32], default: 8} # first
        B: [1, 2, 4]
        C:
          - 1 # one
          - 3
        D:
          values: [row, col]
          default: col
`
	rapid.Check(t, func(t *rapid.T) {
		values := map[string]any{}
		for name, list := range map[string][]any{"A": {8.0, 16.0, 32.0}, "B": {1.0, 2.0, 4.0}, "C": {1.0, 3.0}, "D": {"row", "col"}} {
			if rapid.Bool().Draw(t, name) {
				values[name] = rapid.SampledFrom(list).Draw(t, "value of "+name)
			}
		}
		out, err := suite.SetDefaults([]byte(text), "k", values)
		if err != nil {
			t.Fatal(err)
		}
		s, err := suite.Parse("pawl.yaml", out)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		got := s.Benchmarks[0].Tune.Defaults()
		for name, v := range values {
			if got[name] != v {
				t.Errorf("%s is %v, want %v\n%s", name, got[name], v, out)
			}
		}
		for _, comment := range []string{"# sizes", "# first", "# one"} {
			if !strings.Contains(string(out), comment) {
				t.Errorf("%q is gone:\n%s", comment, out)
			}
		}
	})
}
