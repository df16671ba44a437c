package browser_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/fleet/calibration"
	"github.com/goatnote-inc/pawl/internal/fleet/gate"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/fleet/placer"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
)

// fleetQueues stands for the placers of a fleet.
type fleetQueues map[string]placer.View

func (fleetQueues) Start(context.Context, gate.Work, []string) error { return nil }
func (fleetQueues) Cancel(context.Context, string, string) error     { return nil }
func (fleetQueues) Follow(context.Context, string, gate.Event) error { return nil }
func (q fleetQueues) Queue(_ context.Context, model string) (placer.View, error) {
	return q[model], nil
}

func (fleetQueues) Beat(context.Context, string, string, string) (job.Beat, error) {
	return job.Beat{Phase: "measuring", Rounds: 12}, nil
}

func gateName(n int) string { return fmt.Sprintf("01JC%022d", n) }

// fillFleet adds cards, calibrations, gates and a budget, and returns a key of a person who works on the project.
func (s *site) fillFleet(t *testing.T) string {
	t.Helper()
	fleet := fleetstore.New(s.store.DB())
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 6 {
		d := fleetstore.Device{Device: placement.Device{ID: fmt.Sprintf("GPU-5c0e%04d", i), Host: fmt.Sprintf("gpu%d", 1+i/2), Power: placement.Ready, Price: 0.8}, Model: "l4"}
		if i == 5 {
			d.Model, d.Power, d.Reason, d.Price = "h100", placement.Closed, "its fan is replaced on Friday", 3.2
		}
		must(fleet.SetDevice(t.Context(), d))
		for n := range 12 {
			r := calibration.Record{At: now.Add(time.Duration(n-12) * time.Hour), Driver: "570.124.06", Seed: uint64(100*i + n + 1), Rounds: 20, Noise: 0.004 + float64(i)/1000, Smallest: 0.01, Planted: 0.03, Found: true}
			if i == 3 && n > 9 {
				r.Noise, r.Smallest, r.Found = 0.09, 0.2, false
			}
			_, _, err := fleet.Calibrated(t.Context(), d.ID, r)
			must(err)
		}
	}
	for i, model := range []string{"l4", "l4", "h100", "l4"} {
		must(fleet.AddGate(t.Context(), s.project.ID, gate.Work{Gate: gateName(i), Head: "head", Suite: "pawl.yaml"}, []string{model}, fmt.Sprintf("pull/%d", 40+i)))
	}
	must(fleet.Note(t.Context(), s.project.ID, gate.Progress{Gate: gateName(0), Model: "l4", State: gate.Measuring, Device: "GPU-5c0e0001", Attempt: 1}))
	must(fleet.SetBudget(t.Context(), s.project.ID, placement.Cost{Seconds: 8 * 3600, Money: 20}))
	_, err := fleet.Reserve(t.Context(), s.project.ID, placer.Reservation{Lease: "x", Cost: placement.Cost{Seconds: 4000, Money: 0.9}, Start: now})
	must(err)
	id := func(n int) string { return gate.ID(s.project.Slug, gateName(n)) }
	s.queues["l4"] = placer.View{
		Leases: []placement.Lease{{Device: "GPU-5c0e0001", Request: placement.Request{Gate: id(0), Project: s.project.Slug}}},
		Queue: []placement.Waiting{
			{Gate: "gate/others/x/l4", Project: "others", Position: 1, Reason: placement.Busy},
			{Gate: id(1), Project: s.project.Slug, Tier: tier.Checked, Position: 2, Reason: placement.NoHost},
			{Gate: id(3), Project: s.project.Slug, Position: 3, Start: now.Add(25 * time.Minute), Reason: placement.Busy},
		},
	}
	s.queues["h100"] = placer.View{Queue: []placement.Waiting{{Gate: id(2), Project: s.project.Slug, Position: 1, Reason: placement.None}}}
	text, _, err := s.store.NewKey(t.Context(), s.project.ID, store.Key{Name: "browser", Scopes: []store.Scope{store.ScopeAdmin}, CreatedBy: "test"})
	must(err)
	return text
}

// hostileFleet calls cards, hosts and gates what an attacker would.
func (s *site) hostileFleet(t *testing.T, all []string) {
	t.Helper()
	fleet := fleetstore.New(s.store.DB())
	for i, text := range all {
		d := fleetstore.Device{Device: placement.Device{ID: fmt.Sprintf("%.80s %d", text, i), Host: text, Power: placement.Closed}, Model: fmt.Sprintf("%.60s", text), Reason: text}
		if err := fleet.SetDevice(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		if err := fleet.AddGate(t.Context(), s.project.ID, gate.Work{Gate: gateName(i), Head: text, Suite: text}, []string{d.Model}, text); err != nil {
			t.Fatal(err)
		}
	}
}
