package harness

import (
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/shell"
)

// A process may still use its CPU for a while after it was stopped: what it uses then is not counted as running.
func TestSettle_WaitsUntilCPUTimeStandsStill(t *testing.T) {
	readings := map[int][]time.Duration{1: {5, 9, 14, 14, 14}, 2: {3, 3, 3, 7, 7}}
	reads := 0
	tree := &Tree{members: map[processID]*member{{1, 0}: {Process: shell.Process{PID: 1}}, {2, 0}: {Process: shell.Process{PID: 2}}}}
	tree.settle(time.Now().Add(time.Minute), func(pid int) (time.Duration, bool) {
		at := min(reads/2, 4)
		reads++
		return readings[pid][at], true
	})
	if one, two := tree.members[processID{1, 0}].cpu, tree.members[processID{2, 0}].cpu; one != 14 || two != 7 {
		t.Errorf("read %d and %d, want 14 and 7", one, two)
	}
	still := 0
	tree.settle(time.Now().Add(-time.Second), func(int) (time.Duration, bool) { still++; return time.Duration(still), true })
	if still != 2 {
		t.Errorf("%d readings after the deadline, want one of each", still)
	}
}
