package fleetstore_test

import (
	"context"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
	"github.com/goatnote-inc/pawl/internal/server/store/storetest"
)

func TestHosts_TheirDevices(t *testing.T) {
	type steps []func(*fleetstore.Store, context.Context, string) error
	stopping, stays, off := (*fleetstore.Store).HostStopping, (*fleetstore.Store).HostStays, (*fleetstore.Store).HostOff
	for _, x := range []struct {
		name   string
		power  placement.Power
		reason string
		steps  steps
		want   placement.Power
		seen   bool // it counts that the agent was heard before
	}{
		{"is about to be stopped", placement.Ready, "", steps{stopping}, placement.Closed, true},
		{"is stopped and off", placement.Ready, "", steps{stopping, off}, placement.Asleep, false},
		{"is found off", placement.Ready, "", steps{off}, placement.Asleep, false},
		{"slept, and is off", placement.Asleep, "", steps{off}, placement.Asleep, false},
		{"cannot be stopped", placement.Ready, "", steps{stopping, stays}, placement.Asleep, true},
		{"was not to be stopped", placement.Ready, "", steps{stays}, placement.Ready, true},
		{"was closed by an operator", placement.Closed, "a fan is broken", steps{stopping, off, stays}, placement.Closed, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			all, err := store.Open(t.Context(), store.Config{URL: storetest.URL(t), Conns: 2, AllowUnsafe: true, Now: func() time.Time { return noon }}, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(all.Close)
			s := fleetstore.New(all.DB())
			for _, host := range []string{"gpu1", "gpu2"} {
				code, _, err := all.NewAgent(t.Context(), host, "operator", tier.Own, false, time.Hour)
				if err != nil {
					t.Fatal(err)
				}
				key := sha256.Sum256([]byte(host))
				if _, err := all.EnrollAgent(t.Context(), code, key[:], "l4", []string{"GPU-" + host}); err != nil {
					t.Fatal(err)
				}
				if _, err := all.AgentByKey(t.Context(), key[:]); err != nil {
					t.Fatal(err)
				}
				if err := s.SetDevice(t.Context(), fleetstore.Device{Device: placement.Device{ID: "GPU-" + host, Host: host, Power: x.power}, Model: "l4", Reason: x.reason}); err != nil {
					t.Fatal(err)
				}
			}
			for _, step := range x.steps {
				if err := step(s, t.Context(), "gpu1"); err != nil {
					t.Fatal(err)
				}
			}
			list, err := s.Devices(t.Context(), "l4")
			if err != nil || len(list) != 2 {
				t.Fatal(list, err)
			}
			for i := range list {
				if list[i].Sleeps {
					list[i].Power = placement.Asleep
				}
			}
			if d := list[0]; d.Power != x.want || d.Seen.IsZero() == x.seen {
				t.Errorf("%s, seen %v; want %s, seen: %v", d.Power, d.Seen, x.want, x.seen)
			}
			if d := list[1]; d.Power != x.power || d.Seen.IsZero() {
				t.Errorf("the device of another host is %s, seen %v", d.Power, d.Seen)
			}
			key := sha256.Sum256([]byte("gpu1"))
			if _, err := all.AgentByKey(t.Context(), key[:]); err != nil {
				t.Fatal(err)
			}
			if list, err := s.Devices(t.Context(), "l4"); err != nil || list[0].Seen.IsZero() {
				t.Errorf("its agent polled again, and the device was not seen: %+v, %v", list[0], err)
			}
		})
	}
}
