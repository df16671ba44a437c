package suite

import (
	"encoding/json"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestConfigName(t *testing.T) {
	for _, tt := range []struct {
		params Params
		want   string
	}{
		{nil, ""},
		{Params{{"B", 32.0}, {"H", 8.0}, {"S", 512.0}, {"D", 64.0}}, "B32_H8_S512_D64"},
		{Params{{"N", 1024.0}, {"dtype", "fp16"}, {"causal", true}}, "N1024_dtype-fp16_causal-true"},
		{Params{{"BLOCK_M", 64.0}, {"BLOCK_N", 128.0}}, "BLOCK_M64_BLOCK_N128"},
		{Params{{"x", 0.5}, {"y", -3.0}, {"z", 1e21}, {"w", 1e-9}}, "x0.5_y-3_z1e+21_w1e-09"},
		{Params{{"n", math.Copysign(0, -1)}}, "n0"},
		{Params{{"n", 123456789012.0}}, "n123456789012"},
		{Params{{"path", "a/b c*[d]{e}?\\é@cold:x_y"}}, "path-a-b-c--d--e-----cold-x-y"},
		{Params{{"empty", ""}}, "empty-"},
	} {
		if got := ConfigName(tt.params); got != tt.want {
			t.Errorf("ConfigName(%v) = %q, want %q", tt.params, got, tt.want)
		}
	}
}

var paramValues = rapid.OneOf(
	rapid.Map(rapid.Float64Range(-1e18, 1e18), func(x float64) any { return x }),
	rapid.Map(rapid.IntRange(-1000, 1<<40), func(x int) any { return float64(x) }),
	rapid.Map(rapid.String(), func(s string) any { return s }),
	rapid.Map(rapid.Bool(), func(b bool) any { return b }),
)

// A name is one word for a shell, a glob and a file system.
func TestConfigNameIsSafe(t *testing.T) {
	safe := regexp.MustCompile(`^[A-Za-z0-9_.+-]*$`)
	rapid.Check(t, func(t *rapid.T) {
		params := Params{{"A", paramValues.Draw(t, "a")}, {"b_2", paramValues.Draw(t, "b")}}
		name := ConfigName(params)
		if !safe.MatchString(name) || name[0] != 'A' {
			t.Fatalf("%v is named %q", params, name)
		}
		if ok, err := path.Match(name, name); !ok || err != nil {
			t.Fatalf("%q does not match itself: %v", name, err)
		}
	})
}

// The order in which an included config is written does not change its name.
func TestEqualParametersHaveEqualNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.Permutation([]string{"B", "H", "S", "D"}).Draw(t, "written")
		var include []string
		for i, name := range names {
			include = append(include, fmt.Sprintf("%s: %d", name, 10+i))
		}
		s, err := Parse("pawl.yaml", []byte("version: 1\nharness: {command: x}\nbenchmarks: {a: {matrix: {B: 1, H: 1, S: 1, D: 1}, include: [{"+strings.Join(include, ", ")+"}]}}\n"))
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("B%d_H%d_S%d_D%d", 10+slices.Index(names, "B"), 10+slices.Index(names, "H"), 10+slices.Index(names, "S"), 10+slices.Index(names, "D"))
		if got := s.Benchmarks[0].Configs[1].Name; got != want {
			t.Fatalf("{%v} is named %s, want %s", include, got, want)
		}
	})
}

// The matrix gives every combination once, whatever its size, and exclude takes out
// exactly what it says.
func TestMatrixIsTheProduct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(1, 5), 1, 4).Draw(t, "sizes")
		limit := rapid.IntRange(1, 4).Draw(t, "limit")
		var b strings.Builder
		b.WriteString("version: 1\nharness: {command: x}\nbenchmarks:\n  a:\n    matrix:\n")
		want, kept := 1, 1
		for i, n := range sizes {
			fmt.Fprintf(&b, "      P%d: [", i)
			for v := range n {
				fmt.Fprintf(&b, "%d, ", v)
			}
			b.WriteString("]\n")
			want *= n
			if i == 0 {
				kept *= min(n, limit)
			} else {
				kept *= n
			}
		}
		fmt.Fprintf(&b, "    exclude: [P0 >= %d]\n", limit)
		s, err := Parse("pawl.yaml", []byte(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, c := range s.Cases() {
			seen[c.Config] = true
		}
		if len(seen) != kept || len(s.Cases()) != kept {
			t.Fatalf("%d cases with %d names, want %d of %d", len(s.Cases()), len(seen), kept, want)
		}
		if warned := len(s.Warnings) > 0; warned != (kept == want) {
			t.Fatalf("warnings %v, although %d of %d are left", s.Warnings, kept, want)
		}
	})
}

func TestParamsJSON(t *testing.T) {
	const text = `{"S":512,"B":0.5,"dtype":"fp16","causal":true}`
	var p Params
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	if want := (Params{{"S", 512.0}, {"B", 0.5}, {"dtype", "fp16"}, {"causal", true}}); !cmp.Equal(p, want) {
		t.Errorf("read %v, want %v", p, want)
	}
	out, err := json.Marshal(p)
	if err != nil || string(out) != text {
		t.Errorf("written %s, %v; want %s", out, err, text)
	}
	for _, bad := range []string{`[]`, `3`, `null`, `{"a":null}`, `{"a":[1]}`, `{"a":{}}`, `{"a":1,"a":2}`, `{"a":1`, `{"a":1e999}`} {
		if err := json.Unmarshal([]byte(bad), new(Params)); err == nil {
			t.Errorf("%s was read as parameters", bad)
		}
	}
	if out, err := json.Marshal(Params(nil)); string(out) != "{}" || err != nil {
		t.Errorf("no parameters are written %s, %v", out, err)
	}
}
