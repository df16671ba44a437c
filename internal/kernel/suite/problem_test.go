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
