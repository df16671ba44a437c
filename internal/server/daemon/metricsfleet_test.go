package daemon

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/fleet/calibration"
	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/fleet/placer"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
	"github.com/goatnote-inc/pawl/internal/fleet/wake"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
)

func TestFleetMetrics(t *testing.T) {
	now := time.Now()
	just, old := now.Add(-time.Minute), now.Add(-time.Hour)
	device := func(model string, power placement.Power, quarantine string, at time.Time) fleetstore.Device {
		return fleetstore.Device{
			Device: placement.Device{Power: power, Quarantine: quarantine}, Model: model, Calibration: calibration.Record{At: at}, Calibrations: 10, FalseAlarms: 1,
		}
	}
	away := false
	f := &fleetMetrics{
		now: func() time.Time { return now },
		agents: func(context.Context) ([]store.Agent, error) {
			return []store.Agent{
				{Enrolled: &old, LastSeen: &just},
				{Enrolled: &old, LastSeen: &old},
				{Enrolled: &old},
				{Enrolled: &old, Revoked: &old},
				{},
				{Enrolled: &old, LastSeen: &old, Name: "batch"},
				{Enrolled: &old, LastSeen: &old, Name: "off"},
				{Enrolled: &old, LastSeen: &old, Name: "thrown away"},
			}, nil
		},
		devices: func(context.Context) ([]fleetstore.Device, error) {
			return []fleetstore.Device{
				device("l4", placement.Ready, "", now), device("l4", placement.Ready, "", time.Time{}), device("l4", placement.Ready, "noisy", now),
				{Device: placement.Device{Host: "batch", Power: placement.Asleep}, Sleeps: true, Model: "h100", Calibrations: 10, FalseAlarms: 1},
				{Device: placement.Device{Host: "thrown away", Power: placement.Closed, Tier: tier.Unknown}, Model: "h100"},
			}, nil
		},
		queue: func(context.Context, string) (placer.View, error) {
			if away {
				return placer.View{}, errors.New("no answer")
			}
			return placer.View{Leases: make([]placement.Lease, 2), Queue: []placement.Waiting{
				{Since: now.Add(-90 * time.Second), Reason: placement.None}, {Since: now, Reason: placement.NoBudget}, {Since: now, Reason: placement.Wake},
			}}, nil
		},
	}
	f.managed = 5
	f.hosts = func(context.Context) (wake.Summary, error) {
		if away {
			return wake.Summary{}, errors.New("no answer")
		}
		return wake.Summary{Hosts: []wake.HostSummary{{Name: "a", Power: wake.On}, {Name: "b", Power: wake.On, Failing: true}, {Name: "off", Failing: true}}}, nil
	}
	m := newMetrics()
	m.registry.MustRegister(f)
	text := scrape(t, m)
	for _, want := range []string{
		"pawld_fleet_up 1", "pawld_fleet_waiting 6", "pawld_fleet_stranded 2", "pawld_fleet_oldest_seconds 90", "pawld_fleet_leases 4", `pawld_fleet_devices{state="ready"} 2`,
		`pawld_fleet_devices{state="quarantine"} 1`, `pawld_fleet_devices{state="asleep"} 1`, `pawld_fleet_devices{state="closed"} 1`, `pawld_fleet_agents{state="heard"} 1`,
		`pawld_fleet_agents{state="silent"} 2`, "pawld_fleet_calibrations 40", "pawld_fleet_false_alarms 4", "pawld_fleet_uncalibrated 1",
		`pawld_fleet_hosts{state="on"} 2`, `pawld_fleet_hosts{state="unknown"} 1`, `pawld_fleet_hosts{state="off"} 0`, "pawld_fleet_hosts_failing 2",
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	away = true
	if text := scrape(t, m); !strings.Contains(text, "pawld_fleet_up 0\n") || strings.Contains(text, "pawld_fleet_waiting ") || !strings.Contains(text, "pawld_fleet_hosts_failing 5\n") {
		t.Error("it does not say that Temporal is away")
	}
	f.queue = nil
	if text := scrape(t, m); !strings.Contains(text, "pawld_fleet_up -1\n") {
		t.Error("it does not say that there is no fleet")
	}
}
