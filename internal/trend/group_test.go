package trend_test

import (
	"fmt"
	"testing"

	"github.com/goatnote-inc/pawl/internal/trend"
)

func located(series, bed string, lo, hi int64, change float64) trend.Located {
	return trend.Located{
		Event: trend.Event{Kind: trend.Step, Before: 100, After: 100 * (1 + change)}, Series: series, Testbed: bed, Lo: lo, Hi: hi,
	}
}

func TestStepsAtOneCommitAreOneGroup(t *testing.T) {
	events := []trend.Located{
		located("a", "l4", 10, 11, 0.05), located("b", "l4", 8, 12, 0.2), // b was measured less often
		located("c", "a100", 10, 11, -0.1),
		located("d", "l4", 20, 21, 0.03),
	}
	drift := located("e", "l4", 1, 30, 0.04)
	drift.Kind = trend.Drift
	groups := trend.Together(append(events, drift), map[string]int{"l4": 50, "a100": 50})
	if len(groups) != 3 {
		t.Fatalf("%d groups: %+v", len(groups), groups)
	}
	g := groups[0]
	if len(g.Events) != 3 || g.Lo != 10 || g.Hi != 11 || g.Events[0].Series != "b" || g.Machine != "" {
		t.Errorf("%+v", g)
	}
}

func TestWhereEverythingMovedItWasTheMachine(t *testing.T) {
	var all []trend.Located
	for i := range 9 {
		all = append(all, located(fmt.Sprint("s", i), "l4", 10, 11, 0.06))
	}
	beds := map[string]int{"l4": 10, "a100": 10}
	if g := trend.Together(all, beds); len(g) != 1 || g[0].Machine != "l4" {
		t.Errorf("nine of ten moved: %+v", g)
	}
	if g := trend.Together(all[:5], beds); g[0].Machine != "" {
		t.Error("five of ten moved: that is a commit")
	}
	if g := trend.Together(all, map[string]int{"l4": 10}); g[0].Machine != "" {
		t.Error("with one testbed nobody can tell a machine from a commit")
	}
	all = append(all, located("other", "a100", 10, 11, 0.05))
	if g := trend.Together(all, beds); g[0].Machine != "" {
		t.Error("two machines moved: that is a commit")
	}
}
