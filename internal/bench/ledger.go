package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/ledger"
	"github.com/goatnote-inc/pawl/internal/loop"
	"github.com/goatnote-inc/pawl/internal/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

func (d *driver) readLedger(ctx context.Context) error {
	if d.Ledger == nil {
		return nil
	}
	state, err := d.Ledger.Read(ctx)
	d.baselines = state.Baselines
	return err
}

// baselineCommit is the commit that is the baseline of most cases on this kind of
// device. Baselines of single cases may be other commits; those are compared with what
// is stored of them.
func (d *driver) baselineCommit(id gpu.Identity) string {
	count := map[string]int{}
	best := ""
	for _, b := range d.baselines.All() {
		if b.Testbed.Device != id.Name || b.Commit == "" {
			continue
		}
		count[b.Commit]++
		if best == "" || count[b.Commit] > count[best] {
			best = b.Commit
		}
	}
	return best
}

// looked turns what was measured into evidence.
func (d *driver) looked(run *measure.Run, over bool) loop.Looked {
	gather := func(base, candidate string) []ratchet.Evidence {
		return ratchet.Gather([]*measure.Run{run}, []*measure.Run{run}, base, candidate)
	}
	l := loop.Looked{Change: gather(suite.Base, suite.Candidate), Over: over}
	if d.Ledger == nil {
		return l
	}
	drift := gather(BaselineSide, suite.Base)
	for _, e := range gather(BaselineSide, suite.Candidate) {
		b, ok := d.baselineOf(e.Case.Name(), ratchet.NewTestbed(run.Testbed, e.Timer))
		switch side := holder(run, b.Commit); {
		case !ok || !e.HasCandidate || e.Case.Metric != "":
		case side == BaselineSide:
			l.Drift, l.Gain = append(l.Drift, of(drift, e.Case)...), append(l.Gain, e)
		case side == suite.Base:
			l.Gain = append(l.Gain, of(l.Change, e.Case)...)
		case side == "":
			if now, _, err := ratchet.SessionOf(run, e.Case.Name(), suite.Candidate); err == nil {
				l.Gain = append(l.Gain, b.Against(d.Plan.Policy, e, now))
			}
		}
	}
	return l
}

// of is the evidence of one case, where there is any.
func of(list []ratchet.Evidence, key measure.CaseKey) []ratchet.Evidence {
	i := slices.IndexFunc(list, func(e ratchet.Evidence) bool { return e.Case.Name() == key.Name() })
	if i < 0 {
		return nil
	}
	return list[i : i+1]
}

// baselineOf is the baseline of a case on a testbed, or the one that would be
// carried over to it.
func (d *driver) baselineOf(name string, bed ratchet.Testbed) (ratchet.Baseline, bool) {
	if b, ok := d.baselines.Find(name, bed); ok {
		return b, true
	}
	return d.baselines.Nearest(name, bed)
}

// holder is the side of a run that was built from a commit, without other changes.
func holder(run *measure.Run, commit string) string {
	for _, im := range run.Implementations {
		own := im.Name == suite.Candidate || im.Name == suite.Base || im.Name == BaselineSide
		if own && im.Commit == commit && commit != "" && !im.Dirty {
			return im.Name
		}
	}
	return ""
}

// confirm measures fresh rounds of what gained, against the same base, into a
// record of its own.
func (d *driver) confirm(ctx context.Context, a loop.Confirm) (loop.Outcome, error) {
	o := d.Options
	if o.Emit != nil {
		o.Emit(Confirming{Cases: a.Cases})
	}
	o.Names, o.Rounds = a.Cases, a.Rounds
	o.Out = filepath.Join(filepath.Dir(d.Out), "confirm.json")
	o.Seed, o.ForceMeasure = d.Seed+1, true
	o.Baseline = d.baselineCommit
	res, err := Run(ctx, o)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return loop.Failed{Why: "confirming the gain: " + err.Error()}, nil
	}
	if d.confirmed, err = measure.Load(res.Path); err != nil {
		return nil, err
	}
	return loop.Confirmed{Gain: d.looked(d.confirmed, true).Gain}, nil
}

// keep writes to the ledger: a first measurement where there is no baseline,
// another session of the baseline where one was measured, and the move where there is
// one. It is asked again when somebody else wrote in between.
func (d *driver) keep(ctx context.Context, a loop.Keep) (loop.Outcome, error) {
	if d.Run.Trust == measure.SelfTimed || d.Run.Definition != nil && d.Run.Accepted == "" {
		return loop.Finished{}, nil // neither is a measurement that others may be held to
	}
	kept, err := d.Ledger.Append(ctx, func(s ledger.State) ([]ratchet.Entry, error) {
		now := driver{Gate: d.Gate, baselines: s.Baselines, confirmed: d.confirmed}
		now.Run, now.State = d.Run, d.State
		var list []ratchet.Entry
		for _, c := range d.Run.Cases {
			if c.Implementation != suite.Candidate || c.Metric != "" || !c.Gate {
				continue
			}
			if e, ok := now.entry(c, slices.Contains(a.Move, c.Name())); ok {
				list = append(list, e)
			}
		}
		return list, nil
	})
	d.Kept = kept
	if err != nil {
		return loop.Failed{Why: fmt.Sprintf("writing the ledger: %v", err)}, nil
	}
	return loop.Finished{}, nil
}

// entry is what the ledger learns of a case.
func (d *driver) entry(c measure.Case, move bool) (ratchet.Entry, bool) {
	name := c.Name()
	bed := ratchet.NewTestbed(d.Run.Testbed, c.Timer)
	e := ratchet.Entry{Time: d.Now().UTC(), Case: name, Testbed: bed, Kind: ratchet.KindMeasured}
	session := func(side string) bool {
		s, _, err := ratchet.SessionOf(d.Run, name, side)
		e.Session = &s
		return err == nil
	}
	b, exists := d.baselines.Find(name, bed)
	nearest, carried := d.baselines.Nearest(name, bed)
	switch {
	case !exists && carried:
		side := holder(d.Run, nearest.Commit)
		e.Kind, e.Commit, e.From = ratchet.KindCarried, nearest.Commit, nearest.Testbed.Key
		return e, side != "" && session(side)
	case !exists:
		im := d.candidate()
		e.Commit = im.Commit
		return e, e.Commit != "" && !im.Dirty && session(suite.Candidate)
	case move && d.confirmed != nil:
		return d.moved(e)
	default:
		side := holder(d.Run, b.Commit)
		e.Commit = b.Commit
		return e, side != "" && len(b.Sessions) < ratchet.MaxSessions && session(side)
	}
}

// moved is the entry of a baseline that moves, if everything speaks for it.
func (d *driver) moved(e ratchet.Entry) (ratchet.Entry, bool) {
	im := d.candidate()
	trigger := ratchet.RunRef{ID: d.Run.ID, Digest: d.Run.Digest}
	e.Kind, e.Commit, e.Trigger = ratchet.KindMoved, im.Commit, &trigger
	i := slices.IndexFunc(d.State.Confirmed.Cases, func(j ratchet.Judgement) bool { return j.Name == e.Case })
	fresh, _, err := ratchet.SessionOf(d.confirmed, e.Case, suite.Candidate)
	if i < 0 || d.State.Confirmed.Cases[i].Facts == nil || err != nil {
		return e, false
	}
	j := d.State.Confirmed.Cases[i]
	e.Session, e.Gain = &fresh, gainOf(j)
	move, _ := ratchet.MayMove(d.Plan.Policy, ratchet.Claim{
		Case: e.Case, Commit: im.Commit, Dirty: im.Dirty, Main: d.Plan.Main, Correct: d.State.Stopped == nil, Trust: d.confirmed.Trust,
		Trigger: trigger, Fresh: e.Session.Run, Move: j.Ratchet, Gain: e.Gain,
	})
	return e, move == ratchet.Moves
}

// gainOf is by how much better: 0.07 is 7 % faster.
func gainOf(j ratchet.Judgement) float64 {
	if j.Facts.Better == measure.Higher {
		return j.Facts.Change
	}
	return 1/(1+j.Facts.Change) - 1
}

func (d *driver) candidate() measure.Implementation {
	for _, im := range d.Run.Implementations {
		if im.Name == suite.Candidate {
			return im
		}
	}
	return measure.Implementation{}
}
