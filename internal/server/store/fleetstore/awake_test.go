package fleetstore

import (
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/fleet/placement"
)

func TestDevice_SleepsUnlessItsAgentWaits(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		power  placement.Power
		seen   time.Duration
		want   placement.Power
		sleeps bool
	}{
		"its agent polls":    {placement.Asleep, time.Minute, placement.Ready, true},
		"its agent has gone": {placement.Asleep, 10 * time.Minute, placement.Asleep, true},
		"closed":             {placement.Closed, time.Second, placement.Closed, false},
		"always on":          {placement.Ready, 10 * time.Minute, placement.Ready, false},
	} {
		d := Device{Device: placement.Device{Power: c.power, Seen: now.Add(-c.seen)}}
		if d.wake(now); d.Power != c.want || d.Sleeps != c.sleeps {
			t.Errorf("%s: %s, sleeps: %v; want %s, %v", name, d.Power, d.Sleeps, c.want, c.sleeps)
		}
	}
}
