package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/judge/ledger"
	"github.com/goatnote-inc/pawl/internal/judge/loop"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
	"github.com/goatnote-inc/pawl/stats"
)

func (d *driver) readLedger(ctx context.Context) error {
	if d.Ledger == nil {
		return nil
	}
	state, err := d.Ledger.Read(ctx)
	d.baselines = state.Baselines
	return err
}

// BaselineCommit returns a function that returns the commit that is the baseline of most cases on a device model.
// Cases whose baseline is another commit are compared with its stored sessions.
func BaselineCommit(baselines ratchet.Baselines) func(gpu.Identity) string {
	return func(id gpu.Identity) string {
		count := map[string]int{}
		best := ""
		for _, b := range baselines.All() {
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
}

// evidence turns a record into evidence for the loop.
func (d *driver) evidence(run *measure.Run, over bool) loop.Looked {
	var l loop.Looked
	if d.Ledger == nil {
		l = loop.Looked{Change: change(run, suite.Base, suite.Candidate), Over: over}
	} else {
		l = baselineComparer{d.Plan.Policy, d.baselines}.looked(run, over)
	}
	ratchet.BelieveSkipped(l.Change) // this process compared the builds
	return l
}

// confirmation returns the path of the record of fresh rounds.
func (d *driver) confirmation() string { return filepath.Join(filepath.Dir(d.Out), "confirm.json") }

// removeConfirmation removes the fresh rounds of an earlier run, which readers of the folder
// would mistake for those of this run.
func (d *driver) removeConfirmation() error {
	for _, path := range []string{d.confirmation(), d.confirmation() + ".zst"} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot remove the last run's results: %w", err)
		}
	}
	return nil
}

// confirm measures fresh rounds of the cases that gained, against the same base, into a separate record.
func (d *driver) confirm(ctx context.Context, a loop.Confirm) (loop.Outcome, error) {
	o := d.Options
	o.Emit(Confirming{Cases: a.Cases})
	o.Names, o.Rounds = a.Cases, a.Rounds
	o.Out = d.confirmation()
	o.Seed, o.ForceMeasure = d.Seed+1, true
	o.Resume.AnySeed = false // fresh rounds of another run confirm nothing
	o.Baseline = BaselineCommit(d.baselines)
	res, err := Run(ctx, o)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return loop.Failed{Why: "cannot confirm the gain: " + err.Error()}, nil
	}
	if d.confirmed, err = measure.Load(res.Path); err != nil {
		return nil, err
	}
	return loop.Confirmed{Gain: d.evidence(d.confirmed, true).Gain}, nil
}

// keep writes to the ledger, unless another job does. Append computes the
// entries again after a concurrent write.
func (d *driver) keep(ctx context.Context) (loop.Outcome, error) {
	k := LedgerUpdate{Policy: d.Plan.Policy, Run: d.Run, Confirmed: d.confirmed, Time: d.Now()}
	if d.ReadOnly {
		return loop.Finished{}, nil
	}
	kept, err := d.Ledger.Append(ctx, func(s ledger.State) ([]ratchet.Entry, error) {
		list, _, err := k.Entries(s.Baselines)
		return list, err
	})
	d.Kept = kept
	if err != nil {
		return loop.Failed{Why: fmt.Sprintf("cannot write the ledger: %v", err)}, nil
	}
	return loop.Finished{}, nil
}

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
		if c.Implementation != suite.Candidate || !HasBaseline(c) {
			continue
		}
		if e, ok := k.entry(y, c, state.Confirmed, slices.Contains(keep.Move, c.Name())); ok {
			list = append(list, e)
		}
	}
	return list, state, nil
}

// HasBaseline reports whether a case can have a baseline: a gated time, or a gated metric that the harness reports. A
// metric that is computed follows its time, one with a limit needs no baseline, and a value of 0 or below has no ratio.
func HasBaseline(c measure.Case) bool {
	if !c.Gate || c.Limit != nil || c.Metric != "" && !c.Reported {
		return false
	}
	return !slices.ContainsFunc(c.Rounds, func(r measure.CaseRound) bool { return len(r.Samples) > 0 && !(stats.Median(r.Samples) > 0) })
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
