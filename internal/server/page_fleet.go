package server

import (
	"context"
	"net/http"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/fleet/gate"
	"github.com/goatnote-inc/pawl/internal/fleet/placer"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
	"github.com/goatnote-inc/pawl/internal/server/web"
)

// maxOpenGates is how many gates of a project its page of the fleet shows.
const maxOpenGates = 200

// maxBeats is for how many of them Temporal is asked how far they are.
const maxBeats = 20

// fleetPage shows the devices of the fleet, and the gates of the project that have not ended. Hosts, prices and the
// spend are only for people who work on the project, because anyone may read a public one.
func (s *Server) fleetPage(r *http.Request, p store.Project) (web.View, error) {
	fleet, err := s.gates()
	if err != nil {
		return nil, err
	}
	inside, err := s.may(r, p, Write)
	if err != nil {
		return nil, err
	}
	ctx := r.Context()
	devices, err := fleet.Devices(ctx, "")
	if err != nil {
		return nil, err
	}
	open, err := fleet.Open(ctx, p.ID, maxOpenGates)
	if err != nil {
		return nil, err
	}
	of, err := fleet.Tier(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	v := web.Fleet{Tier: string(of)}
	patient, cancel := context.WithTimeout(ctx, 2*time.Second) // what the fleet does not answer in time is left out
	defer cancel()
	views, err := s.placers(patient, devices, open)
	if err != nil {
		s.log.WarnContext(ctx, "the fleet does not answer", "error", err)
		v.Away = true
	}
	for _, d := range devices {
		v.Cards = append(v.Cards, card(d, views[d.Model], inside))
	}
	asked := 0
	for _, part := range open {
		g := openGate(part, p.Slug, views[part.Model])
		if part.State == gate.Measuring && asked < maxBeats && patient.Err() == nil {
			asked++
			if b, err := s.fleet.Beat(patient, p.Slug, part.Gate, part.Model); err == nil {
				g.Phase, g.Rounds = words.SanitizeTo(b.Phase, 200), b.Rounds
			}
		}
		v.Gates = append(v.Gates, g)
	}
	for _, view := range views {
		for _, q := range view.Queue {
			if q.Project != p.Slug && q.Project != "" { // calibrations belong to no project
				v.Others++
			}
		}
	}
	if !inside {
		return v, nil
	}
	v.Spend, err = s.spendToday(ctx, fleet, p)
	return v, err
}

// placers returns what the placers of all models say, or of some if one does not answer.
func (s *Server) placers(ctx context.Context, devices []fleetstore.Device, open []fleetstore.Part) (map[string]placer.View, error) {
	var models []string
	for _, d := range devices {
		models = append(models, d.Model)
	}
	for _, part := range open {
		models = append(models, part.Model)
	}
	views := map[string]placer.View{}
	for _, model := range models {
		if _, known := views[model]; known {
			continue
		}
		view, err := s.fleet.Queue(ctx, model)
		if err != nil {
			return views, err
		}
		views[model] = view
	}
	return views, nil
}

func card(d fleetstore.Device, v placer.View, inside bool) web.FleetCard {
	c := web.FleetCard{FleetDevice: shownDevice(d, false)}
	if l := leaseOf(v, d.ID); l != nil {
		c.Doing = "in use"
		if l.Only != "" {
			c.Doing = "calibrating"
		}
	}
	if !inside {
		c.Host, c.Price = "", 0
	}
	return c
}

func openGate(part fleetstore.Part, project string, v placer.View) web.FleetGate {
	g := web.FleetGate{ID: part.Gate, Change: part.Change, Model: part.Model, State: string(part.State), Device: part.Device, Since: part.Created}
	id := gate.ID(project, part.Gate)
	for _, q := range v.Queue {
		if q.Gate == id {
			g.Position, g.Reason, g.Start, g.Tier = q.Position, q.Reason, timeOrNone(q.Start), string(q.Tier)
		}
	}
	for _, l := range v.Leases {
		if l.Gate == id {
			g.Tier = string(l.Tier)
		}
	}
	return g
}

// spendToday returns what a project has used and reserved on this day.
func (s *Server) spendToday(ctx context.Context, fleet *fleetstore.Store, p store.Project) (*web.FleetSpend, error) {
	b, err := fleet.Budget(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	used := b.UsedOn(s.now())
	return &web.FleetSpend{Hours: used.Seconds / 3600, MaxHours: b.Limit.Seconds / 3600, Money: used.Money, MaxMoney: b.Limit.Money}, nil
}
