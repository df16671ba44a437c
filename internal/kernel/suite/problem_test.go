package suite

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

const checked = `version: 1
build: {command: "make TILE=${TILE}"}
harness: {command: "./harness-${TILE}"}
implementations:
  naive: {build: {command: make naive}, harness: {command: ./naive}}
benchmarks:
  copy:
    matrix: {TILE: [16, 32], N: [64]}
    arguments:
      x: {in: f32, shape: [N]}
      y: {out: f32, shape: [N, ceil(N / TILE)]}
    launch: {file: "copy-${TILE}.cl", kernel: copy, grid: [ceil(N / TILE)], block: [TILE]}
    check: {implementation: naive, fuzz: {matrix: {N: [1, 64, 65]}, edges: {N: 16}}}
`

// The search for wrong results tries configs that the suite does not have.
func TestOtherConfigs(t *testing.T) {
	s := parse(t, checked)
	b := s.Benchmarks[0]
	odd := Params{{"TILE", 16.0}, {"N", 17.0}}
	arguments, err := b.Arguments(odd)
	want := []tensor.Argument{
		{Name: "x", Role: tensor.In, DType: tensor.F32, Shape: []int{17}},
		{Name: "y", Role: tensor.Out, DType: tensor.F32, Shape: []int{17, 2}},
	}
	if diff := cmp.Diff(want, arguments); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	launch, err := b.Launch(odd)
	if diff := cmp.Diff(&Launch{File: "copy-16.cl", Kernel: "copy", Grid: [3]int{2, 1, 1}, Block: [3]int{16, 1, 1}}, launch); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	v, err := s.VariantFor(Candidate, odd)
	if err != nil || v.Build.Command != "make TILE=16" || v.Harness.Command != "./harness-16" {
		t.Errorf("%+v, %v", v, err)
	}
	if v, err = s.VariantFor("naive", odd); err != nil || v.Harness.Command != "./naive" {
		t.Errorf("%+v, %v", v, err)
	}
	if n := len(b.Check.Fuzz.Configs); n != 6 {
		t.Errorf("%d configs, want 3 sizes of each tile", n)
	}
}

func TestConfigsThatDoNotFit(t *testing.T) {
	s := parse(t, checked)
	b := s.Benchmarks[0]
	for _, tt := range []struct {
		p    Params
		want string
	}{
		{Params{{"TILE", 16.0}}, `unknown variable "N"`},
		{Params{{"TILE", 16.0}, {"N", 0.0}}, "0 is not a whole number from 1"},
		{Params{{"TILE", 16.0}, {"N", 1.5}}, "1.5 is not a whole number"},
		{Params{{"TILE", 16.0}, {"N", 1e12}}, "elements exceed the limit of 1099511627776"},
		{Params{{"TILE", 0.0}, {"N", 1.0}}, "not a finite number"},
	} {
		if _, err := b.Arguments(tt.p); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("{%s}: %v, want %s", tt.p, err, tt.want)
		}
	}
	for _, p := range []Params{{{"N", 1.0}}, {{"TILE", "16; rm"}, {"N", 1.0}}} {
		if v, err := s.VariantFor(Candidate, p); err == nil {
			t.Errorf("{%s}: %+v", p, v)
		}
	}
	if _, err := s.VariantFor("other", nil); err == nil {
		t.Error("an implementation that is not there")
	}
}

// A map that the driver would refuse is refused here, with the reason.
func TestTensorMaps(t *testing.T) {
	for _, tt := range []struct{ shape, more, maps, want string }{
		{"[N, 64]", "", "{box: [N, 32], swizzle: 2 * N}", ""},
		{"[2, 2, 2, 2, 64]", "", "{box: [1, 1, 1, 1, 64]}", ""},
		{"[N, 64]", "strides: [68, 1], ", "{box: [1, 4]}", ""},
		{"[N]", "", "{box: [256]}", ""},
		{"[N]", "", "{box: [257]}", "a box has at most 256 elements in each dimension, not 257"},
		{"[N]", "", "{box: [0]}", "0 is not a whole number from 1"},
		{"[N]", "", "{box: [6]}", "a row of the box has 24 bytes, which is no multiple of 16"},
		{"[N]", "", "{box: [16], swizzle: 32}", "a row of the box has 64 bytes, more than the swizzle of 32"},
		{"[N]", "", "{box: [16], swizzle: 48}", "48 is not 0, 32, 64 or 128 bytes"},
		{"[N]", "strides: [2], ", "{box: [16]}", "the last stride of a tensor with a map must be 1, not 2"},
		{"[N, 7]", "", "{box: [1, 4]}", "a stride of 28 bytes is no multiple of 16 below 2^40"},
		{"[N, 8]", "", "{box: [4]}", `argument "x" has 2 sizes and a box of 1`},
		{"[N]", "", "{box: [M]}", `unknown variable "M"`},
	} {
		_, err := Parse("pawl.yaml", []byte("version: 1\nharness: {command: x}\nbenchmarks:\n  a:\n    matrix: {N: [64]}\n    arguments:\n"+
			"      x: {in: f32, shape: "+tt.shape+", "+tt.more+"map: "+tt.maps+"}\n"+
			"    launch: {file: a.ptx, kernel: a, grid: [1], block: [1]}\n"))
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s of %s %s: got %v, want %q", tt.maps, tt.shape, tt.more, err, tt.want)
		}
	}
}
