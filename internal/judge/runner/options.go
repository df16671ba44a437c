package runner

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// Options describe what to measure.
type Options struct {
	Suite *suite.Suite
	Dir   string // folder of the suite; commands run here
	Path  string // path of the suite file, for the record; empty if there is none

	Case    string // glob over case names; empty for all
	Base    string // ref of the commit to compare the candidate with; empty for none
	Again   bool   // measure the candidate against itself, as side "base": the machine's own spread
	Planted bool   // and once more, as side "slowed", which does more work than it is counted for
	Rounds  int    // exact number of rounds; 0 for the suite's growth
	Samples int    // samples per round; 0 for the suite's
	Brief   bool   // leave out pawl's own kernel at the start and the end, which shows whether the machine changed
	Budget  time.Duration
	Seed    uint64
	BuildOptions

	Trust    measure.Trust // empty for the suite's
	Accepted string        // reason for accepting a changed definition; empty if not accepted

	ID           string // ID of the run; empty for a new one
	Out          string // path of the record
	Results      string // path of other records in the suite's folder, which are no sources; empty for none
	ForceMeasure bool   // measure even if the change is identical
	OnlyChanged  bool   // leave out the cases that cannot have changed, but for a sample
	Wait         time.Duration
	LockDir      string
	Version      string // version of pawl
	Owner        string // shown to others waiting for the device

	Resume ResumeOptions

	Names []string // only these cases; empty for all that Case matches
	// Baseline returns a third commit to measure, once the device is known; empty for none. A
	// commit that cannot be checked out or built is left out, with a notice.
	Baseline func(gpu.Identity) string
	// Points are measured beside the defaults of the suite, instead of a change beside its base; empty for none.
	Points []Point
	// Rivals are more commits to measure in the same rounds, as sides named by RivalSide. Each is built by
	// its own recipe. One that fails ends the run.
	Rivals []string
	// Built is called after all sides are built, before anything is measured; nil for nothing.
	Built func(context.Context, *Setup) error
	// Decide returns the cases that need more rounds, given everything measured so far. over means
	// that no more rounds will follow. Nil decides all at the first look.
	Decide  func(seen *measure.Run, over bool) []string
	Emit    func(Event)
	Now     func() time.Time
	doubted []string // sampled cases that differed although they cannot have changed
	// Detect returns the suite for what the command of the suite turns out to report. If it is set, the command runs once
	// on the candidate, before the rounds, to find out; nil for a suite that says it.
	Detect func(trial.Detected) (*suite.Suite, error)
}

// WithDefaults returns o with defaults for Emit and Now.
func (o Options) WithDefaults() Options {
	if o.Emit == nil {
		o.Emit = func(Event) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// growth returns the number of rounds per side at each look. Without Decide, more looks would change nothing.
func (o Options) growth() []int {
	switch {
	case o.Rounds > 0:
		return []int{o.Rounds}
	case o.Decide == nil:
		return o.Suite.Measure.Rounds[:1]
	default:
		return o.Suite.Measure.Rounds
	}
}

// TakesTurns reports whether sides take turns inside a round, whatever they hold of the device's memory.
func (r *Setup) TakesTurns() bool {
	switch r.Suite.Measure.Turns {
	case "always":
		return true
	case "never":
		return false
	default:
		return r.Device().Kind == gpu.CPU
	}
}

// sharesGPU reports whether sides take turns on a GPU as long as its memory allows. Its clocks are free, and move with power
// and heat; sides that alternate see the same ones. With locked clocks each side has the GPU to itself.
func (r *Setup) sharesGPU() bool {
	return r.Suite.Measure.Turns == "auto" && r.Device().Kind != gpu.CPU && r.lease.Clocks().Mode == gpu.ClocksFree && !r.plain()
}

// planTurns reports whether sides take turns inside a round, given the state of the device before the first one.
func (r *Setup) planTurns(state gpu.State) bool {
	if !r.sharesGPU() {
		return r.TakesTurns()
	}
	if state.FreeBytes == 0 && len(r.measured()) > 1 {
		r.warn("sides_apart", "sides run one after the other, although the clocks are free: the driver does not report the free memory of %s; lock the clocks (device.clocks), or set measure.turns", r.Device().Name)
	}
	return state.FreeBytes > 0
}

// freeMemory returns how the free memory of the device is read while sides share a GPU; nil if they do not.
func (r *Setup) freeMemory() func(context.Context) (int64, error) {
	if !r.sharesGPU() {
		return nil
	}
	return func(ctx context.Context) (int64, error) {
		s, err := r.lease.Device().State(ctx)
		return s.FreeBytes, err
	}
}

// cores returns the CPU cores that sides may be bound to. On a GPU the driver's threads need cores of their own.
func (r *Setup) cores() []int {
	if r.lease.Device().Identity().Kind != gpu.CPU {
		return nil
	}
	return harness.Cores()
}

func (o Options) budget() time.Duration {
	if o.Budget > 0 {
		return o.Budget
	}
	return o.Suite.Budget.Time
}

// references returns the implementations measured beside the candidate. There are none when the
// candidate is measured against itself: they would only make the run longer.
func (o Options) references() []suite.Implementation {
	if o.Again || o.checked() { // references run in the suite's harness, which a checked run does not use
		return nil
	}
	return o.Suite.Implementations[1:]
}

// measuresReferences reports whether anything is measured beside the candidate and its base.
func (o Options) measuresReferences() bool {
	return len(o.references()) > 0 && (o.plain() || o.Suite.NeedsHarness() ||
		slices.ContainsFunc(o.Suite.Cases(), func(c suite.Case) bool { return c.Implementation != suite.Candidate }))
}

// wants reports whether a case is measured. A glob without a slash matches the
// benchmark, one with a slash the whole name.
func (o Options) wants(name, benchmark string) bool {
	if len(o.Names) > 0 && !slices.Contains(o.Names, name) {
		return false
	}
	return o.Case == "" || measure.MatchCase(o.Case, name, benchmark)
}

// wanted returns the candidate's cases that are measured, as far as the suite lists them.
func (o Options) wanted() []suite.Case {
	return slices.DeleteFunc(o.Suite.Cases(), func(c suite.Case) bool { return c.Implementation != suite.Candidate || !o.wants(c.Name(), c.Benchmark) })
}

// plain reports whether the candidate is a command that prints a known format, not
// a harness that speaks the protocol.
func (o Options) plain() bool {
	i, _ := o.Suite.Implementation(suite.Candidate)
	return i.Harness.Format != "pawl" && !o.checked()
}

// noCase returns the error for a request that matches no case.
func (o Options) noCase() error {
	var names []string
	for _, c := range o.Suite.Cases() {
		if c.Implementation == suite.Candidate {
			names = append(names, c.Name())
		}
	}
	shown := strings.Join(names[:min(len(names), 5)], ", ")
	if more := len(names) - 5; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	return &UsageError{fmt.Errorf("no case matches %q; the suite has %s", o.Case, shown)}
}

// check rejects options that would otherwise fail minutes later.
func (o Options) check() error {
	if _, err := path.Match(o.Case, ""); err != nil {
		return fmt.Errorf("--case %q is not a valid glob: use * ? and [...] as in a shell", o.Case)
	}
	if o.trust() == measure.SelfTimed && o.plain() {
		return errors.New("trust self-timed requires a harness that speaks pawl's protocol: a command that prints times can print any time")
	}
	return nil
}

// checkCase rejects a glob that matches no case, before anything is built. If the harness lists the cases, they are not
// known yet.
func (o Options) checkCase() error {
	if o.Case == "" || o.plain() || o.Suite.NeedsHarness() ||
		slices.ContainsFunc(o.Suite.Cases(), func(c suite.Case) bool { return o.wants(c.Name(), c.Benchmark) }) {
		return nil
	}
	return o.noCase()
}

// UsageError is a mistake in the request, not a failure of the machine.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// RandomSeed returns a seed for a run whose user sets none.
func RandomSeed() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:])
}
