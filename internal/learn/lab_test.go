package learn

import (
	"bytes"
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/report"
)

// The lab at its smallest: who knows everything is never beaten by who never learns, and
// the same seed gives the same figures on any number of cores.
func TestLab(t *testing.T) {
	o := LabOptions{Worlds: 3, Seed: 1, Sessions: []int{0, 3}, Questions: 20, Poisoned: 2, Teams: 2, Say: func(string) {}}
	lab, err := RunLab(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	again, err := RunLab(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(lab, again, cmp.Exporter(func(reflect.Type) bool { return true })); d != "" {
		t.Error(d)
	}
	if p, o := lab.ranker("priors").Scores[1].Right, lab.ranker("oracle").Scores[1].Right; p >= o {
		t.Errorf("priors are right in %v, the oracle in %v", p, o)
	}
	if lab.ranker("priors").Scores[0] != lab.ranker("priors").Scores[1] {
		t.Error("priors learned something")
	}
	var text, md bytes.Buffer
	if err := lab.Terminal(&text, report.Style{}); err != nil {
		t.Fatal(err)
	}
	if err := lab.Markdown(&md); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"running mean", "oracle", "the worst fix of a rule", "sessions before"} {
		if !strings.Contains(text.String(), want) || !strings.Contains(md.String(), want) {
			t.Errorf("%q is missing in\n%s\n%s", want, text.String(), md.String())
		}
	}
}

func TestLabEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := RunLab(ctx, DefaultLab()); err == nil {
		t.Error("a lab that was called off gave figures")
	}
}
