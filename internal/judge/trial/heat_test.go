package trial

import (
	"testing"
	"time"
)

// A device that has just worked for one side is warm for the next, and for a while only.
func TestHeat(t *testing.T) {
	at := time.Unix(1000, 0)
	before := now
	now = func() time.Time { return at }
	t.Cleanup(func() { now = before })
	var h deviceActivity
	if got := h.warmUpTime(); got != warmBusy {
		t.Errorf("a device that has not worked needs %v", got)
	}
	h.worked()
	for _, test := range []struct{ idle, want time.Duration }{
		{0, 0}, {warmFor - 1, 0}, {warmFor, warmBusy}, {time.Hour, warmBusy},
	} {
		at = h.last.Add(test.idle)
		if got := h.warmUpTime(); got != test.want {
			t.Errorf("after %v without work it needs %v, want %v", test.idle, got, test.want)
		}
	}
	var cold *deviceActivity
	cold.worked()
	if got := cold.warmUpTime(); got != warmBusy {
		t.Errorf("a device of which nothing is known needs %v", got)
	}
}
