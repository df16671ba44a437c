package profile_test

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// The same launch gives the same facts, whichever release wrote whichever page.
func TestSameFactsFromEveryShape(t *testing.T) {
	for _, s := range shapes {
		for _, d := range devices {
			for page, text := range map[string]string{"raw.csv": s.raw(d), "details.csv": s.details(d), "txt": s.text(d)} {
				name := s.release + "_" + d.name + "." + page
				t.Run(name, func(t *testing.T) {
					file := filepath.Join("testdata", "shapes", name)
					golden.File(t, file, text) // what shape_gen_test.go makes
					p := open(t, file)
					if len(p.Launches) != 1 || p.Launches[0].Kernel != shapeKernel {
						t.Fatalf("%+v", p.Launches)
					}
					checkShape(t, s, d, page, p.Launches[0])
				})
			}
		}
	}
}

func checkShape(t *testing.T, s shape, d device, page string, l profile.Launch) {
	t.Helper()
	facts := l.Facts()
	for _, c := range cellsOf(s, d) {
		got, ok := facts[c.quantity]
		want := d.facts[c.quantity]
		exact := page == "raw.csv" || c.kind == "byte" || c.kind == "byte/block"
		switch {
		case page != "raw.csv" && c.label == "":
			if ok {
				t.Errorf("%s is %v, and the page does not have it", c.quantity, got)
			}
		case !ok:
			t.Errorf("%s is missing", c.quantity)
		case exact && math.Abs(got-want) > 1e-9*want, math.Abs(got-want) > 0.005*want:
			t.Errorf("%s is %v, want %v", c.quantity, got, want)
		}
	}
	if s.columns && (l.CC != d.cc || l.Block != [3]int{256, 1, 1} || l.Grid != [3]int{64, 32, 1}) {
		t.Errorf("CC %s, block %v, grid %v", l.CC, l.Block, l.Grid)
	}
	if page == "raw.csv" {
		if len(l.Rules) > 0 {
			t.Errorf("rules of a raw page: %v", l.Rules)
		}
		return
	}
	want := profile.Rule{Section: "Occupancy", Kind: "WRN", Text: shapeRule}
	if s.speedups {
		want.Kind, want.Speedup, want.Scope = "OPT", new(29.13), "local"
	}
	if page == "details.csv" {
		want.ID = "TheoreticalOccupancy"
	}
	if diff := cmp.Diff([]profile.Rule{want}, l.Rules); diff != "" {
		t.Error(diff)
	}
}
