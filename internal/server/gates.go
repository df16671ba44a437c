package server

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/fleet/gate"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/fleet/placer"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
)

// Fleet runs gates on the devices of other machines.
type Fleet interface {
	Start(ctx context.Context, w gate.Work, models []string) error
	Cancel(ctx context.Context, project, id string) error
	Queue(ctx context.Context, model string) (placer.View, error)
	Beat(ctx context.Context, project, id, model string) (job.Beat, error)
	Follow(ctx context.Context, change string, e gate.Event) error
}

// gates returns the tables of the fleet, or an error if this server has none.
func (s *Server) gates() (*fleetstore.Store, error) {
	if s.fleet == nil {
		return nil, problem(http.StatusNotFound, "not-found", "this server has no fleet: see the setting fleet.address")
	}
	return fleetstore.New(s.store.DB()), nil
}

// gate returns the tables of the fleet and the ID of the gate in the path.
func (s *Server) gate(r *http.Request) (*fleetstore.Store, string, error) {
	gates, err := s.gates()
	if err != nil {
		return nil, "", err
	}
	id := r.PathValue("gate")
	if !client.GateID(id) {
		return nil, "", problem(http.StatusNotFound, "not-found", "there is no such gate: its ID is a ULID, 26 letters and digits")
	}
	return gates, id, nil
}

// byKey refuses CI tokens: one is valid for one upload, and a gate spends money.
func byKey(r *http.Request) error {
	if requestInfoOf(r).sender.key == nil {
		return problem(http.StatusForbidden, "forbidden", "gates are started and canceled with a key of scope report")
	}
	return nil
}

// putGate starts a gate. A client that got no answer sends the request again, so it has no effect the second time.
func (s *Server) putGate(w http.ResponseWriter, r *http.Request, p store.Project) error {
	gates, id, err := s.gate(r)
	if err != nil {
		return err
	}
	if err := byKey(r); err != nil {
		return err
	}
	var in client.GateRequest
	if err := readDocument(w, r, &in); err != nil {
		return err
	}
	if err := in.Check(); err != nil {
		return badRequest("%s", words.Sanitize(err.Error()))
	}
	switch ended, err := hasEnded(r.Context(), gates, p.ID, id); {
	case err != nil:
		return err
	case ended: // Temporal forgets an ended gate after days, and would start it once more, on a lease that is paid already
		return s.answerGate(w, r, gates, p, id, http.StatusCreated)
	}
	there, err := s.hasBlob(r.Context(), p.ID, in.Bundle)
	if err != nil {
		return err
	}
	if !there {
		return badRequest("bundle: there is no such blob: send it first")
	}
	of, err := gates.Tier(r.Context(), p.ID)
	if err != nil {
		return err
	}
	of, level, err := tier.Decide(of, in.Trust)
	if err != nil {
		return problem(http.StatusForbidden, "forbidden", "trust: %v", err)
	}
	work := gate.Work{
		Gate: id, Project: p.Slug, Bundle: in.Bundle, Base: in.Base, Head: in.Head, Suite: in.Suite, Tier: of, Trust: string(level), Seconds: in.Seconds, Priority: in.Priority,
	}
	models := slices.Sorted(slices.Values(in.Models))
	if err := s.checkQueues(r.Context(), models); err != nil {
		return err
	}
	if err := gates.AddGate(r.Context(), p.ID, work, models, in.Change); err != nil {
		return err
	}
	if err := s.fleet.Start(r.Context(), work, models); err != nil {
		return s.fleetAway(r, err)
	}
	if err := s.cancelOlder(r.Context(), gates, p, in.Change, id); err != nil {
		return s.fleetAway(r, err)
	}
	return s.answerGate(w, r, gates, p, id, http.StatusCreated)
}

// hasEnded reports whether a gate has ended on all its models. One that ended because it never started may still be started: its workflow
// would have raised the attempt.
func hasEnded(ctx context.Context, gates *fleetstore.Store, project int64, id string) (bool, error) {
	parts, err := gates.Gate(ctx, project, id)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	open := func(p fleetstore.Part) bool {
		return p.State == gate.Waiting || p.State == gate.Measuring || p.Attempt == 0
	}
	return err == nil && !slices.ContainsFunc(parts, open), err
}

// checkQueues refuses a gate for a model whose queue is full.
func (s *Server) checkQueues(ctx context.Context, models []string) error {
	for _, model := range models {
		v, err := s.fleet.Queue(ctx, model)
		if err != nil {
			continue // the start says what is wrong
		}
		if err := v.Full(model); err != nil {
			return problem(http.StatusServiceUnavailable, "busy", "%v: send the request again later", err).after(time.Minute)
		}
	}
	return nil
}

// fleetAway reports that Temporal does not answer.
func (s *Server) fleetAway(r *http.Request, err error) error {
	s.log.WarnContext(r.Context(), "the fleet does not answer", "error", err)
	return problem(http.StatusServiceUnavailable, "busy", "the fleet does not answer now: send the request again").after(5 * time.Second)
}

// cancelOlder cancels the gates of a change that a new gate replaces.
func (s *Server) cancelOlder(ctx context.Context, gates *fleetstore.Store, p store.Project, change, id string) error {
	if change == "" {
		return nil
	}
	older, err := gates.Older(ctx, p.ID, change, id)
	for _, o := range older {
		err = errors.Join(err, s.fleet.Cancel(ctx, p.Slug, o))
	}
	return err
}

func (s *Server) getGate(w http.ResponseWriter, r *http.Request, p store.Project) error {
	gates, id, err := s.gate(r)
	if err != nil {
		return err
	}
	return s.answerGate(w, r, gates, p, id, http.StatusOK)
}

func (s *Server) deleteGate(w http.ResponseWriter, r *http.Request, p store.Project) error {
	gates, id, err := s.gate(r)
	if err != nil {
		return err
	}
	if err := byKey(r); err != nil {
		return err
	}
	if _, err := gates.Gate(r.Context(), p.ID, id); err != nil {
		return err
	}
	if err := s.fleet.Cancel(r.Context(), p.Slug, id); err != nil {
		return s.fleetAway(r, err)
	}
	return s.answerGate(w, r, gates, p, id, http.StatusAccepted)
}

// answerGate answers with a gate, its place in the queue and what its agent said last. What the fleet does not answer
// in time is left out.
func (s *Server) answerGate(w http.ResponseWriter, r *http.Request, gates *fleetstore.Store, p store.Project, id string, status int) error {
	parts, err := gates.Gate(r.Context(), p.ID, id)
	if err != nil {
		return err
	}
	out := client.Gate{Gate: id}
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	for _, part := range parts {
		shown := shownPart(part)
		switch part.State {
		case gate.Waiting:
			if v, err := s.fleet.Queue(ctx, part.Model); err == nil {
				for _, q := range v.Queue {
					if q.Gate == gate.ID(p.Slug, id) {
						shown.Position, shown.Reason, shown.Start = q.Position, q.Reason, timeOrNone(q.Start)
					}
				}
			}
		case gate.Measuring:
			if b, err := s.fleet.Beat(ctx, p.Slug, id, part.Model); err == nil {
				shown.Phase, shown.Rounds = words.SanitizeTo(b.Phase, 200), b.Rounds
			}
		case gate.Done, gate.Failed, gate.Canceled:
		}
		out.Parts = append(out.Parts, shown)
	}
	return answer(w, status, out)
}

func shownPart(p fleetstore.Part) client.GatePart {
	return client.GatePart{
		Model: p.Model, State: string(p.State), Device: p.Device, Reason: words.Sanitize(p.Reason), Attempt: p.Attempt, Created: p.Created, Changed: p.Changed,
		Record: p.Record, Exit: p.Exit, Rounds: p.Rounds, Seconds: p.Seconds, Error: words.Sanitize(p.Error), Calibration: fleetstore.ShownCalibration(p.Calibration),
	}
}

func timeOrNone(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// getFleet shows all devices, and the waiting gates of the project. Gates of other projects only count.
func (s *Server) getFleet(w http.ResponseWriter, r *http.Request, p store.Project) error {
	gates, err := s.gates()
	if err != nil {
		return err
	}
	devices, err := gates.Devices(r.Context(), "")
	if err != nil {
		return err
	}
	out := client.Fleet{Devices: []client.FleetDevice{}, Queue: []client.FleetQueued{}}
	views := map[string]placer.View{}
	for _, d := range devices {
		if _, known := views[d.Model]; !known {
			if views[d.Model], err = s.fleet.Queue(r.Context(), d.Model); err != nil {
				return s.fleetAway(r, err)
			}
			out.Queue = append(out.Queue, ownQueue(views[d.Model].Queue, p.Slug, d.Model)...)
		}
		out.Devices = append(out.Devices, shownDevice(d, leaseOf(views[d.Model], d.ID) != nil))
	}
	return show(w, r, out)
}

// leaseOf returns the lease of a device; nil if it is idle.
func leaseOf(v placer.View, device string) *placement.Lease {
	if i := slices.IndexFunc(v.Leases, func(l placement.Lease) bool { return l.Device == device }); i >= 0 {
		return &v.Leases[i]
	}
	return nil
}

func shownDevice(d fleetstore.Device, busy bool) client.FleetDevice {
	return client.FleetDevice{
		ID: d.ID, Model: d.Model, Tier: string(d.Tier), Host: d.Host, Power: string(d.Power), Reason: d.Reason, Price: d.Price, Seen: timeOrNone(d.Seen), Busy: busy,
		Quarantine: d.Quarantine, Calibration: fleetstore.ShownCalibration(d.Calibration), Calibrations: d.Calibrations, FalseAlarms: d.FalseAlarms,
	}
}

// ownQueue returns the waiting gates of a project.
func ownQueue(queue []placement.Waiting, project, model string) (list []client.FleetQueued) {
	for _, q := range queue {
		if q.Project != project {
			continue
		}
		id, _, _ := strings.Cut(strings.TrimPrefix(q.Gate, gate.ID(project, "")), "/") // an earlier version adds the model
		list = append(list, client.FleetQueued{Gate: id, Lease: q.Lease, Model: model, Tier: string(cmp.Or(q.Tier, tier.Own)), Position: q.Position, Start: timeOrNone(q.Start), Reason: q.Reason})
	}
	return list
}
