package trend_test

import (
	"fmt"
	"testing"

	"github.com/goatnote-inc/pawl/internal/server/trend"
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
	groups := trend.GroupEvents(append(events, drift), map[string]int{"l4": 50, "a100": 50})
	if len(groups) != 3 {
		t.Fatalf("%d groups: %+v", len(groups), groups)
	}
	g := groups[0]
	if len(g.Events) != 3 || g.Lo != 10 || g.Hi != 11 || g.Events[0].Series != "b" || g.Machine != "" {
		t.Errorf("%+v", g)
	}
}

func TestWhereEverythingMovedItWasTheMachine(t *testing.T) {
	type beds = map[string]int
	for _, c := range []struct {
		name          string
		moved, series beds
		machine       string
	}{
		{"nine of ten moved, nothing elsewhere", beds{"l4": 9}, beds{"l4": 10, "a100": 10}, "l4"},
		{"five of ten moved", beds{"l4": 5}, beds{"l4": 10, "a100": 10}, ""},
		{"with one testbed nobody can tell", beds{"l4": 9}, beds{"l4": 10}, ""},
		{"a testbed with few series is never blamed", beds{"l4": 4}, beds{"l4": 4, "a100": 10}, ""},
		{"one of ten strays", beds{"l4": 9, "a100": 1}, beds{"l4": 10, "a100": 10}, "l4"},
		{"one of nine is too much", beds{"l4": 9, "a100": 1}, beds{"l4": 10, "a100": 9}, ""},
		{"two of ten are no strays", beds{"l4": 9, "a100": 2}, beds{"l4": 10, "a100": 10}, ""},
		{"one in twenty of many strays", beds{"l4": 90, "a100": 5}, beds{"l4": 100, "a100": 100}, "l4"},
		{"six of a hundred are a commit", beds{"l4": 90, "a100": 6}, beds{"l4": 100, "a100": 100}, ""},
		{"one on each of two others", beds{"l4": 9, "a100": 1, "cpu": 1}, beds{"l4": 10, "a100": 30, "cpu": 12}, "l4"},
		{"few elsewhere, but half of a small one", beds{"l4": 9, "a100": 1, "cpu": 3}, beds{"l4": 10, "a100": 300, "cpu": 6}, ""},
		{"both moved as a whole", beds{"l4": 10, "a100": 10}, beds{"l4": 10, "a100": 10}, ""},
		{"a stray of a testbed nobody counted", beds{"l4": 9, "gone": 1}, beds{"l4": 10, "a100": 10}, ""},
	} {
		var all []trend.Located
		for bed, n := range c.moved {
			for i := range n {
				all = append(all, located(fmt.Sprint(bed, i), bed, 10, 12, 0.06))
			}
		}
		groups := trend.GroupEvents(all, c.series)
		if got := groups[0].Machine; got != c.machine {
			t.Errorf("%s: %q is blamed, want %q", c.name, got, c.machine)
		}
		want := 1
		if c.machine != "" && len(c.moved) > 1 {
			want = 2 // the machine, and what strays
		}
		if len(groups) != want || len(groups) == 2 && (groups[1].Machine != "" || len(groups[0].Events) != c.moved[c.machine]) {
			t.Errorf("%s: %d groups, want %d: %+v", c.name, len(groups), want, groups)
		}
	}
}

// A stray does not narrow where the machine moved, nor the other way round.
func TestAStrayHasItsOwnRange(t *testing.T) {
	all := []trend.Located{located("stray", "a100", 11, 13, 0.02)}
	for i := range 10 {
		all = append(all, located(fmt.Sprint("s", i), "l4", 8, 14, 0.06))
	}
	g := trend.GroupEvents(all, map[string]int{"l4": 10, "a100": 40})
	if len(g) != 2 || g[0].Machine != "l4" || g[0].Lo != 8 || g[0].Hi != 14 || g[1].Lo != 11 || g[1].Hi != 13 || len(g[1].Events) != 1 {
		t.Errorf("%+v", g)
	}
	if !(trend.Group{Events: all}).MayBeMachine() || (trend.Group{Events: all[:4]}).MayBeMachine() {
		t.Error("ten series of one testbed may be all of it, three may not")
	}
}
