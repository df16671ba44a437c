package runner

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/failpoint"
	"github.com/goatnote-inc/pawl/internal/judge/seal"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// Result is the result of a run.
type Result struct {
	Path      string // path of the record; empty if nothing was measured
	Identical bool   // nothing was measured because nothing relevant changed
	Outcome   trial.Outcome
}

// Run builds, measures and records. If it fails, the result still holds the
// path of the record, if there is one.
func Run(ctx context.Context, o Options) (res Result, err error) {
	r := NewSetup(o)
	if err := o.check(); err != nil {
		return Result{}, &UsageError{err}
	}
	if err := o.checkCase(); err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(r.explainBase(err), r.Close(ctx)) }()
	if err := r.lockRecord(ctx); err != nil {
		return Result{}, err
	}
	if same, err := r.identical(ctx); err != nil || same {
		if same && r.past != nil {
			err = r.forgetPast("nothing that is measured differs from the base")
		}
		return Result{Identical: same}, err
	}
	if r.BuildsOnly {
		return Result{}, r.onlyBuild(ctx)
	}
	if err := r.begin(ctx); err != nil {
		return Result{}, err
	}
	r.leaveOut(ctx)
	if r.Built != nil {
		if err := r.Built(ctx, r); err != nil {
			return Result{}, err
		}
	}
	return r.measure(ctx)
}

// begin chooses the device, builds the sides and acquires the device. A build uses the CPU, so if the CPU is the device, the
// build also waits for its turn.
func (r *Setup) begin(ctx context.Context) error {
	if err := r.ChooseDevice(ctx); err != nil {
		return err
	}
	first, second := r.prepare, r.TakeDevice
	if r.Device().Kind == gpu.CPU {
		first, second = second, first
	}
	if err := first(ctx); err != nil {
		return err
	}
	return second(ctx)
}

// chooseCases asks the program that runs the candidate for its timers and cases, and chooses what to measure.
func (r *Setup) chooseCases(ctx context.Context) (w harness.Welcome, err error) {
	if err := r.buildLaunchers(ctx); err != nil {
		return w, err
	}
	r.identify(ctx)
	if w, err = r.greetHarness(ctx); err == nil {
		err = r.choose(w)
	}
	if err == nil {
		err = r.openLogs()
	}
	return w, err
}

// Setup is the state of a run on this machine: what it builds, acquires and starts. Close undoes all of it.
type Setup struct {
	Options
	sides    []side
	device   device.Device
	found    []device.Notice // notices from listing the devices
	lease    *device.Lease
	journal  *measure.Journal
	seal     *seal.Seal // of the journal; nil if there is none
	past     *seal.Past // the unfinished run that this one continues; nil if there is none
	header   measure.Header
	cases    map[string][]trial.Case // by side
	declared []measure.Case          // the same cases, as in the record
	metrics  map[measure.CaseKey]suite.Case
	reported reportedMetrics
	opened   float64             // median of the calibration at the start of the run
	logs     map[string]*os.File // output of the sides
	ending   measure.Ending
	loads    loads
	recorded int          // number of rounds in the journal
	seen     *measure.Run // everything measured so far, for Decide

	definition        *measure.Definition       // nil if it is the base's
	added             []string                  // files of the command that the base lacks
	definitionDigests map[string]string         // digests of definitions, by side and benchmark
	baseHasNoSuite    bool                      // the base has no suite: the change adds the first
	rebuilt           []string                  // how the change's recipe differs from the base's
	missing           []suite.Case              // cases of the base that the candidate lacks
	leftOut           unchangedCases            // cases that cannot have changed
	baseSuite         *suite.Suite              // the base's suite, whose terms a change must meet; nil if it has none
	secret            *rand.Rand                // random source that no side can predict
	launchers         map[string]launcher       // pawl's own launchers, by kind
	verifying         *verifier                 // nil if the suite defines no correct results
	sites             map[string]*referenceSite // where oracles run, by folder
	isolation         *build.Isolation          // isolates the processes of the sides from each other; nil if nothing does
	locked            []string                  // folders that no side may write to
	ready             map[string]bool           // reference implementations already built, by name and key

	builds          *buildPool      // shared state of the builds
	filled          *build.Handover // gets the builds for another machine; nil for none
	onlyWantedCases bool            // build only what the requested cases need

	undo []func(context.Context) error
}

// NewSetup returns the state of a run that has done nothing yet.
func NewSetup(o Options) *Setup { return &Setup{Options: o.WithDefaults()} }

// AtEnd registers f to run when the run ends, whatever happens before.
func (r *Setup) AtEnd(f func(context.Context) error) { r.undo = append(r.undo, f) }

// Close calls the functions registered with AtEnd in reverse order, even after an interrupt.
func (r *Setup) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	var errs []error
	for _, f := range slices.Backward(r.undo) {
		errs = append(errs, f(ctx))
	}
	return errors.Join(errs...)
}

// ChooseDevice finds the device that the suite selects.
func (r *Setup) ChooseDevice(ctx context.Context) error {
	inv, err := device.List(ctx, device.Options{})
	if err != nil {
		return err
	}
	want := r.Suite.Device
	if r.device, err = inv.Select(want.Kind, want.Select); err != nil {
		return err
	}
	r.found = inv.Notices
	return nil
}

// Device identifies the chosen device.
func (r *Setup) Device() gpu.Identity { return r.device.Identity() }

// TakeDevice waits until the device is free, acquires it and sets its clocks.
func (r *Setup) TakeDevice(ctx context.Context) (err error) {
	name := r.Device().Name
	r.lease, err = device.Acquire(ctx, r.device, device.LockOptions{
		Dir: r.LockDir, Owner: r.Owner, Wait: r.Wait, Now: r.Now,
		OnWait: func(h device.Holder) { r.Emit(Waiting{What: name, Holder: h.String()}) },
	})
	if err != nil {
		return err
	}
	r.AtEnd(r.lease.Release)
	want := r.Suite.Device
	notices, err := r.lease.SetClocks(ctx, want.Clocks, want.Persistence)
	if err != nil {
		return err
	}
	for _, n := range slices.Concat(r.found, r.lease.Notices(), notices) {
		r.Notice(n)
	}
	return nil
}

// Notice reports n now and adds it to the record.
func (r *Setup) Notice(n device.Notice) {
	r.Emit(Noticed{Notice: n})
	r.warn(n.Code, "%s", n)
}

// warn adds a warning to the record.
func (r *Setup) warn(code, format string, args ...any) {
	r.ending.Warnings = append(r.ending.Warnings, measure.Warning{Code: code, Message: fmt.Sprintf(format, args...)})
}

// measure does everything between acquiring and releasing the device.
func (r *Setup) measure(ctx context.Context) (Result, error) {
	welcome, err := r.chooseCases(ctx)
	if err != nil {
		return Result{}, err
	}
	state, err := r.describe(ctx, welcome)
	if err != nil {
		return Result{}, err
	}
	if err := r.openJournal(ctx); err != nil {
		return Result{}, err
	}
	if err := r.list(r.declared); err != nil {
		return Result{}, err
	}
	r.noticeDefinition()
	r.noticeQuarantine()
	r.Emit(Ready{Run: r.header.ID, Commit: r.sides[0].impl.Commit, Device: r.header.Device, State: state, Sides: r.sideNames(), Cases: len(r.cases[r.sides[0].name]), Rounds: r.header.Plan.Growth})

	if err := r.calibrate(ctx, "open"); err != nil {
		return Result{}, r.abandon(err)
	}
	plan, err := r.plan()
	if err != nil {
		return Result{}, r.abandon(err)
	}
	out, trialErr := trial.Run(ctx, plan)
	if trialErr == nil {
		trialErr = errors.Join(r.calibrate(ctx, "close"), r.checkReported())
	}
	r.ending.End = measure.End{State: out.State, Reason: out.Reason, Seconds: out.Seconds, Dollars: out.Dollars}
	r.ending.Warnings = append(r.ending.Warnings, out.Warnings...)
	if r.recorded == 0 && ctx.Err() != nil {
		return Result{Outcome: out}, errors.Join(trialErr, r.putBack())
	}
	path, err := r.finish()
	return Result{Path: path, Outcome: out}, errors.Join(trialErr, err)
}

// list records the cases and reports them.
func (r *Setup) list(cases []measure.Case) error {
	if err := r.applyMetrics(cases); err != nil {
		return err
	}
	r.applyQuarantine(cases)
	if err := r.addComparability(cases); err != nil {
		return err
	}
	if err := r.journal.AddCases(cases); err != nil {
		return err
	}
	for _, c := range cases {
		if !slices.ContainsFunc(r.declared, func(d measure.Case) bool { return d.CaseKey == c.CaseKey }) {
			c.Rounds = nil
			r.declared = append(r.declared, c)
		}
	}
	r.Emit(Listed{Cases: slices.DeleteFunc(slices.Clone(cases), func(c measure.Case) bool { return c.Unchanged == measure.Skipped })})
	return nil
}

// abandon closes a journal that has no rounds.
func (r *Setup) abandon(cause error) error {
	r.ending.End = measure.End{State: measure.Failed, Reason: cause.Error()}
	_, err := r.finish()
	return errors.Join(cause, err)
}

func (r *Setup) finish() (string, error) {
	r.ending.Loaded = r.loads.files
	if err := r.journal.End(r.ending); err != nil {
		return "", err
	}
	failpoint.At("run.ended")
	if err := r.checkSeal(); err != nil {
		return "", err
	}
	finish := measure.Finish
	if r.Resume.Allow { // RunGate removes the journal
		finish = measure.Convert
	}
	path, _, err := finish(measure.JournalPath(r.Out), r.Out)
	if err != nil {
		return "", err
	}
	failpoint.At("run.saved")
	r.Emit(Saved{Path: path, End: r.ending.End})
	return path, nil
}

func (r *Setup) plan() (trial.Plan, error) {
	p := r.header.Plan
	plan := trial.Plan{
		Seed: p.Seed, Growth: p.Growth, Turns: p.Turns, Cores: r.cores(), Budget: r.budget(), Dollars: p.Dollars, PricePerHour: p.PricePerHour,
		FreeMemory: r.freeMemory(), MaxTemperatureC: r.Suite.Device.MaxTemperature, Now: r.Now,
		Past: r.pastRounds(), Replayed: r.replayed,
		Record: r.record,
		Emit:   func(e trial.Event) { r.Emit(Measuring{e}) },
		Watch: func(ctx context.Context) (gpu.State, func() (gpu.State, error), error) {
			before, err := r.lease.Device().State(ctx)
			if err != nil {
				return before, nil, err
			}
			return before, device.Watch(ctx, r.lease.Device(), device.WatchInterval).Stop, nil
		},
	}
	if r.Decide != nil {
		plan.Decide = func(final bool) []string { return r.Decide(r.seen, final) }
	}
	for _, s := range r.measured() {
		runner, err := r.runner(s)
		if err != nil {
			return plan, err
		}
		plan.Sides = append(plan.Sides, trial.Side{Name: s.name, Cases: r.cases[s.name], Runner: runner})
	}
	return plan, nil
}

// record writes a finished round, with the metrics computed from it and reported in it.
func (r *Setup) record(round measure.Round, results []measure.Result) error {
	derived, err := r.derive(results)
	if err != nil {
		return err
	}
	reported, err := r.reportedSeries(results)
	if err != nil {
		return err
	}
	r.recorded++
	results = slices.Concat(results, derived, reported)
	if r.Decide != nil {
		r.see(round, results)
	}
	if err := r.journal.AddRound(round, results); err != nil {
		return err
	}
	failpoint.At("run.recorded")
	return nil
}

// see adds a round to the record that Decide gets. Derived metrics are included,
// because a gate may use one of them.
func (r *Setup) see(round measure.Round, results []measure.Result) {
	if r.seen == nil {
		r.seen = &measure.Run{Header: r.header}
	}
	r.seen.Rounds = append(r.seen.Rounds, round)
	// A plain command reports its cases only after it has run, so there may be new ones.
	r.seen.Cases = append(r.seen.Cases, r.declared[len(r.seen.Cases):]...)
	at := make(map[measure.CaseKey]int, len(r.seen.Cases))
	for i, c := range r.seen.Cases {
		at[c.CaseKey] = i
	}
	for _, res := range results {
		if i, ok := at[res.Case]; ok {
			r.seen.Cases[i].Rounds = append(r.seen.Cases[i].Rounds, res.Round)
		}
	}
}

// measured returns the sides that have cases. A reference that only provides correct results has none.
func (r *Setup) measured() []side {
	if r.plain() { // a plain command reports its cases only after it has run
		return r.sides
	}
	return slices.DeleteFunc(slices.Clone(r.sides), func(s side) bool { return len(r.cases[s.name]) == 0 })
}

func (r *Setup) sideNames() []string {
	var names []string
	for _, s := range r.measured() {
		names = append(names, s.name)
	}
	return names
}

func (r *Setup) log(name string) (*os.File, error) {
	dir := filepath.Join(filepath.Dir(r.Out), "logs")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("cannot create the folder for logs: %w", err)
	}
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		return nil, fmt.Errorf("cannot create a log: %w", err)
	}
	return f, nil
}

// openLog creates a log that is open until the run ends.
func (r *Setup) openLog(name string) (*os.File, error) {
	f, err := r.log(name)
	if err == nil {
		r.AtEnd(func(context.Context) error { return f.Close() })
	}
	return f, err
}

// openLogs opens the log files of the sides, beside the record.
func (r *Setup) openLogs() error {
	r.logs = map[string]*os.File{}
	for _, s := range r.sides {
		f, err := r.openLog(s.name + ".log")
		if err != nil {
			return err
		}
		r.logs[s.name] = f
	}
	return nil
}

// NewID returns a new run ID. IDs sort by time and are unique without a server.
func NewID(now time.Time) string {
	return ulid.MustNew(ulid.Timestamp(now), ulid.DefaultEntropy()).String()
}

func (r *Setup) hello() harness.Hello {
	id := r.Device()
	return harness.Hello{Pawl: r.Version, Device: harness.HelloDevice{Kind: id.Kind, UUID: id.UUID}}
}
