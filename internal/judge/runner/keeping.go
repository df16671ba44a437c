package runner

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/internal/judge/loop"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// LedgerUpdate decides which entries of a run go into a ledger. It needs only the records: the run on
// the main line, and the fresh rounds that confirm a gain. So the machine that writes the ledger
// need not be the one that measured.
type LedgerUpdate struct {
	Policy    ratchet.Policy
	Run       *measure.Run
	Confirmed *measure.Run // nil if nothing was measured again
	Time      time.Time    // time of the entries
}

// ErrNotRecordable means that a run must not be used as a baseline.
var ErrNotRecordable = errors.New("the run is not recorded")

// Check returns why nothing of a run may go into a ledger; nil if it may.
func (k LedgerUpdate) Check() error {
	for _, r := range []*measure.Run{k.Run, k.Confirmed} {
		switch {
		case r == nil:
		case r.Source == measure.Imported || r.Trust == measure.TrustImported:
			return fmt.Errorf("%w: the samples come from a file and were not measured by pawl", ErrNotRecordable)
		case r.Trust == measure.SelfTimed:
			return fmt.Errorf("%w: it was measured by a harness that is not trusted (self-timed)", ErrNotRecordable)
		case r.Definition != nil && r.Accepted == "":
			return fmt.Errorf("%w: it was measured with a different definition than its base (%s), which was not accepted; run again with --accept REASON",
				ErrNotRecordable, listOf(r.Definition.Changed))
		case r.End.State == measure.Interrupted || r.End.State == measure.Failed:
			return fmt.Errorf("%w: it did not finish (%s)", ErrNotRecordable, r.End.State)
		}
	}
	return nil
}

// listOf formats the first few names and counts the rest.
func listOf(names []string) string {
	const most = 5
	if len(names) > most {
		return fmt.Sprintf("%q and %d more", names[:most], len(names)-most)
	}
	return fmt.Sprintf("%q", names)
}

// Entries returns the ledger entries of the run, given the current baselines. An entry is a first measurement
// if there is no baseline, another session if the baseline was measured, or a move. The loop replays the
// records, so that it decides here as it did while measuring. The returned state explains the decision.
func (k LedgerUpdate) Entries(baselines ratchet.Baselines) ([]ratchet.Entry, loop.State, error) {
	y := baselineComparer{k.Policy, baselines}
	state, err := k.replay(y)
	if err != nil || k.Check() != nil {
		return nil, state, err
	}
	keep, ok := loop.Next(state).(loop.UpdateLedger)
	if !ok {
		return nil, state, nil
	}
	var list []ratchet.Entry
	for _, c := range k.Run.Cases {
		if c.Implementation != suite.Candidate || c.Metric != "" || !c.Gate {
			continue
		}
		if e, ok := k.entry(y, c, state.Confirmed, slices.Contains(keep.Move, c.Name())); ok {
			list = append(list, e)
		}
	}
	return list, state, nil
}

// replay runs the loop on the records, up to the step that writes the ledger.
func (k LedgerUpdate) replay(y baselineComparer) (loop.State, error) {
	state := loop.Start(loop.Plan{Policy: k.Policy, Ledger: true, Main: true})
	for {
		var outcome loop.Outcome
		switch loop.Next(state).(type) {
		case loop.Build:
			outcome = loop.Built{}
		case loop.Measure:
			outcome = y.looked(k.Run, true)
		case loop.Confirm:
			outcome = loop.Failed{Why: "there are no fresh rounds that confirm the gain: measure again on the main line"}
			if k.Confirmed != nil {
				outcome = loop.Confirmed{Gain: y.looked(k.Confirmed, true).Gain}
			}
		default:
			return state, nil
		}
		var err error
		if state, err = loop.Apply(state, outcome); err != nil {
			return state, err
		}
	}
}

// entry returns the ledger entry of a case, and whether to write it.
func (k LedgerUpdate) entry(y baselineComparer, c measure.Case, confirmed *ratchet.Result, move bool) (ratchet.Entry, bool) {
	name := c.Name()
	bed := ratchet.NewTestbed(k.Run.Testbed, c.Timer)
	e := ratchet.Entry{Time: k.Time.UTC(), Case: name, Testbed: bed, Kind: ratchet.KindMeasured}
	session := func(side string) bool {
		s, _, err := ratchet.SessionOf(k.Run, name, side)
		e.Session = &s
		return err == nil
	}
	b, exists := y.baselines.Find(name, bed)
	nearest, carried := y.baselines.Nearest(name, bed)
	switch {
	case !exists && carried:
		side := sideOfCommit(k.Run, nearest.Commit)
		e.Kind, e.Commit, e.From = ratchet.KindCarried, nearest.Commit, nearest.Testbed.Key
		return e, side != "" && session(side)
	case !exists:
		im := candidateOf(k.Run)
		e.Commit = im.Commit
		return e, e.Commit != "" && !im.Dirty && session(suite.Candidate)
	case move && k.Confirmed != nil:
		return k.moved(e, confirmed)
	default:
		side := sideOfCommit(k.Run, b.Commit)
		e.Commit = b.Commit
		return e, side != "" && session(side) && sameKind(b.Sessions, *e.Session) < ratchet.MaxSessions && !y.baselines.Recorded(name, bed, e.Session.Run)
	}
}

// sameKind counts the sessions with the same recipe, definition and method as s. Others do not
// count toward the limit: after a change of definition or method, a baseline needs new sessions.
func sameKind(list []ratchet.Session, s ratchet.Session) int {
	n := 0
	for _, x := range list {
		if x.Recipe == s.Recipe && x.Definition == s.Definition && x.Method == s.Method {
			n++
		}
	}
	return n
}

// moved returns the entry that moves a baseline, and whether all conditions for it are met.
func (k LedgerUpdate) moved(e ratchet.Entry, confirmed *ratchet.Result) (ratchet.Entry, bool) {
	im := candidateOf(k.Run)
	trigger := ratchet.RunRef{ID: k.Run.ID, Digest: k.Run.Digest}
	e.Kind, e.Commit, e.Trigger = ratchet.KindMoved, im.Commit, &trigger
	i := slices.IndexFunc(confirmed.Cases, func(j ratchet.Judgment) bool { return j.Name == e.Case })
	fresh, _, err := ratchet.SessionOf(k.Confirmed, e.Case, suite.Candidate)
	if i < 0 || confirmed.Cases[i].Facts == nil || err != nil {
		return e, false
	}
	j := confirmed.Cases[i]
	e.Session, e.Gain = &fresh, gainOf(j)
	move, _ := ratchet.MayMove(k.Policy, ratchet.Claim{
		Case: e.Case, Commit: im.Commit, Dirty: im.Dirty, Main: true, Correct: true, // the loop keeps no others
		Trust: k.Confirmed.Trust, Trigger: trigger, Fresh: e.Session.Run, Move: j.Ratchet, Gain: e.Gain,
	})
	return e, move == ratchet.Moves
}

// gainOf returns the relative gain: 0.07 is 7 % faster.
func gainOf(j ratchet.Judgment) float64 {
	if j.Facts.Better == measure.Higher {
		return j.Facts.Change
	}
	return 1/(1+j.Facts.Change) - 1
}

func candidateOf(run *measure.Run) measure.Implementation {
	for _, im := range run.Implementations {
		if im.Name == suite.Candidate {
			return im
		}
	}
	return measure.Implementation{}
}
