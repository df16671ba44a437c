package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/internal/judge/ledger"
	"github.com/goatnote-inc/pawl/internal/judge/loop"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// Gate describes a whole run of the loop on this machine.
type Gate struct {
	Options                // what to measure; Base is required
	Plan    loop.Plan      // what the loop may do
	Ledger  *ledger.Ledger // where baselines are kept; nil for none
	// ReadOnly leaves writing the ledger to another job, which finds all it needs in the records.
	ReadOnly bool
	Fuzz     time.Duration // time to search for wrong results before measuring
	Explain  time.Duration // time to profile what changed
	// GiveUp reports that more rounds are not worth their time, given everything measured so far; nil never
	// gives up. The verdict is then made from the rounds there are.
	GiveUp func(seen *measure.Run) bool
	// Report writes the reports for people, once everything is known.
	Report func(Outcome) error
}

// Outcome is the result of a gate.
type Outcome struct {
	State  loop.State
	Run    *measure.Run // the record; nil if nothing was measured
	Path   string       // path of the record
	Kept   []ratchet.Entry
	Whys   []Explanation // what profiles show of the cases that changed
	Result Result
	Broken error // why a side could not be built or run; State has it in words
}

// ErrPlaceholder reports a harness that pawl init wrote and that does not call a kernel yet. Whatever it measures says
// nothing about a change.
var ErrPlaceholder = errors.New("the harness measures a placeholder: call your kernel at its TODO, name the benchmark after it, and remove the benchmark placeholder from the suite")

// RunGate carries out the loop: it asks for the next action, performs it and reports the outcome.
// If a step fails, it returns the outcome so far with the error.
func RunGate(ctx context.Context, g Gate) (Outcome, error) {
	d := &driver{Gate: g}
	d.Options = g.WithDefaults()
	d.State = loop.Start(g.Plan)
	if slices.ContainsFunc(g.Suite.Benchmarks, func(b suite.Benchmark) bool { return b.Name == suite.Placeholder }) {
		return d.Outcome, ErrPlaceholder
	}
	if err := d.readLedger(ctx); err != nil {
		return d.Outcome, err
	}
	if err := errors.Join(d.removeConfirmation(), d.setTerms()); err != nil {
		return d.Outcome, err
	}
	if err := d.measure(ctx); err != nil {
		return d.Outcome, err
	}
	for action := loop.Next(d.State); action != nil; action = loop.Next(d.State) {
		outcome, err := d.do(ctx, action)
		if err != nil {
			return d.Outcome, err
		}
		if err := d.apply(outcome); err != nil {
			return d.Outcome, err
		}
	}
	d.removeJournals()
	return d.Outcome, nil
}

// driver is the state of a running gate.
type driver struct {
	Gate
	Outcome
	baselines ratchet.Baselines // as they were when the run started
	confirmed *measure.Run      // the fresh rounds of a gain
}

func (d *driver) apply(o loop.Outcome) (err error) {
	d.State, err = loop.Apply(d.State, o)
	return err
}

// setTerms notes what the gate's decisions depend on beyond the measurements. A run continues an unfinished one
// only if they are the same: its looks must decide as they did.
func (d *driver) setTerms() error {
	plan, err := json.Marshal(d.Plan)
	if err != nil {
		return fmt.Errorf("cannot note the terms of the run: %w", err)
	}
	baselines, err := json.Marshal(d.baselines.All())
	if err != nil {
		return fmt.Errorf("cannot note the terms of the run: %w", err)
	}
	d.Resume.terms = digestOf(string(plan), string(baselines))
	return nil
}

// removeJournals removes the journals that are kept until a gate has ended. If it fails, the next run does it.
func (d *driver) removeJournals() {
	if d.Resume.Allow && d.Run != nil {
		_ = removeJournal(d.Out, d.Run.ID)
	}
	if d.Resume.Allow && d.confirmed != nil {
		_ = removeJournal(d.confirmation(), d.confirmed.ID)
	}
}

// measure measures what can have changed. If a sample of the rest differs, it measures everything, from the start.
func (d *driver) measure(ctx context.Context) error {
	o := d.Options
	// On the main line every run adds to the evidence of the baselines. A strict policy judges drift in every case.
	o.OnlyChanged = o.OnlyChanged && !d.Plan.Main && (!d.Plan.Ledger || !d.Plan.Policy.Strict)
	if err := d.attempt(ctx, o); err != nil || d.State.Result == nil {
		return err
	}
	for _, j := range d.State.Result.Cases {
		if j.Differs() {
			o.doubted = append(o.doubted, timed(j.CaseKey))
		}
	}
	if len(o.doubted) == 0 {
		return nil
	}
	if d.Resume.Allow {
		if err := removeJournal(d.Out, d.Run.ID); err != nil {
			return err
		}
	}
	o.OnlyChanged, o.Resume.Continue = false, false
	d.State = loop.Start(d.Plan)
	return d.attempt(ctx, o)
}

// attempt builds the sides and takes all looks. The looks happen inside Run, which holds the device from the
// first round to the last: at every look it asks whether to continue, and the loop answers.
func (d *driver) attempt(ctx context.Context, o Options) error {
	var stopped error
	o.Built = d.runPreStages
	if o.Baseline == nil {
		o.Baseline = BaselineCommit(d.baselines)
	}
	o.Decide = func(seen *measure.Run, over bool) (undecided []string) {
		undecided, stopped = d.look(seen, over)
		return undecided
	}
	var err error
	d.Result, err = Run(ctx, o)
	if d.Path = d.Result.Path; d.Path != "" {
		var loadErr error
		if d.Run, loadErr = measure.Load(d.Path); loadErr != nil {
			return errors.Join(err, loadErr)
		}
		d.Seed = d.Run.Plan.Seed // that of a resumed run, if it continues one
	}
	side, broke := errors.AsType[*trial.SideError](err)
	switch {
	case stopped != nil || ctx.Err() != nil:
		return errors.Join(err, stopped)
	case errors.Is(err, errStopped):
		return nil
	case d.Result.Identical:
		return d.apply(loop.Built{Identical: d.identicalCases()})
	case broke:
		d.Broken = err
		return d.apply(loop.Failed{Side: side.Side, Why: err.Error()})
	default:
		return err
	}
}

// look lets the loop judge everything measured so far, and returns the cases that need more rounds.
func (d *driver) look(seen *measure.Run, over bool) ([]string, error) {
	if slices.ContainsFunc(seen.Cases, func(c measure.Case) bool { return c.Benchmark == suite.Placeholder }) {
		return nil, ErrPlaceholder
	}
	d.State.Plan.Policy.Dependence = seen.Plan.Dependence // depends on the device, which is known only now
	over = over || d.GiveUp != nil && d.GiveUp(seen)
	if err := d.apply(d.evidence(seen, over)); err != nil {
		return nil, err
	}
	m, _ := loop.Next(d.State).(loop.Measure)
	return m.Cases, nil
}

// identicalCases returns the suite's cases as evidence that needed no measurement.
func (d *driver) identicalCases() []ratchet.Evidence {
	list := []ratchet.Evidence{}
	for _, c := range d.wanted() {
		list = append(list, ratchet.Evidence{Case: c.CaseKey, Gate: c.Gate, Identical: true})
	}
	if len(list) == 0 { // only the harness could list them
		list = append(list, ratchet.Evidence{Case: measure.CaseKey{Benchmark: "all"}, Gate: true, Identical: true})
	}
	return list
}

func (d *driver) do(ctx context.Context, action loop.Action) (loop.Outcome, error) {
	switch a := action.(type) {
	case loop.Confirm:
		return d.confirm(ctx, a)
	case loop.UpdateLedger:
		return d.keep(ctx)
	case loop.Profile:
		return d.explain(ctx, a)
	case loop.Report:
		return loop.Finished{}, d.Report(d.Outcome)
	default: // the plan asks for a step that this driver does not have
		return nil, fmt.Errorf("this version of pawl has no step %q", d.State.Step)
	}
}

// explain profiles the cases that changed. It only explains: its errors are
// reported and do not affect the verdict.
func (d *driver) explain(ctx context.Context, a loop.Profile) (loop.Outcome, error) {
	o := d.Options
	o.Emit(Judged{Result: *d.State.Result, Explain: d.Explain})
	o.Names, o.ForceMeasure = a.Cases, true
	whys, err := Profile(ctx, o, ProfileOptions{Time: d.Explain, Last: d.Run})
	d.Whys = whys
	switch {
	case ctx.Err() != nil:
		return nil, err
	case err != nil:
		d.Whys = append(d.Whys, Explanation{Case: a.Cases[0], Err: err})
	}
	return loop.Finished{}, nil
}
