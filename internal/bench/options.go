package bench

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// Options say what to measure.
type Options struct {
	Suite *suite.Suite
	Dir   string // the suite's folder: commands run here
	Path  string // of the suite file, for the record; empty when there is none

	Case    string // glob over case names; empty for all
	Base    string // ref of the commit to measure beside the candidate; empty for none
	Again   bool   // measure the candidate against itself, as side "base": the machine's own spread
	Planted bool   // and once more, as side "slowed", which does more work than it is counted for
	Rounds  int    // exactly so many rounds; 0 for the suite's growth
	Samples int    // in each round; 0 for the suite's
	Budget  time.Duration
	Seed    uint64
	BuildOptions

	Trust    measure.Trust // empty for the suite's
	Accepted string        // the word of a person, for what needs one

	ID           string // of the run; empty for a new one
	Out          string // the record
	ForceMeasure bool   // measure also what is identical
	Wait         time.Duration
	LockDir      string
	Version      string // of pawl
	Owner        string // what others who wait for the device are told

	Names []string // only these cases; empty for all that Case matches
	// Baseline names a third commit to measure, once the device is known; empty for
	// none. One that cannot be checked out or built is left out, and told.
	Baseline func(gpu.Identity) string
	// lineup chooses other sides than the candidate, its base and the references; nil for those.
	lineup func(context.Context, *run) ([]side, error)
	// built is called when all sides are built, before anything is measured.
	built func(context.Context, *run) error
	// Decide says which cases need more rounds, from all that was measured so far;
	// over means that no more will come. Nil decides all at the first look.
	Decide func(seen *measure.Run, over bool) []string
	Emit   func(Event)
	Now    func() time.Time
}

// filled has somebody to tell and a clock, where nobody gave them.
func (o Options) filled() Options {
	if o.Emit == nil {
		o.Emit = func(Event) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// growth is how many rounds a side gets, look by look. Without somebody to
// decide, more looks would change nothing.
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

// turns tells whether sides take turns inside a round. On a GPU two processes
// would hold its memory at once, so there it has to be asked for.
func (r *run) turns() bool {
	switch r.Suite.Measure.Turns {
	case "always":
		return true
	case "never":
		return false
	default:
		return r.lease.Device().Identity().Kind == gpu.CPU
	}
}

func (o Options) budget() time.Duration {
	if o.Budget > 0 {
		return o.Budget
	}
	return o.Suite.Budget.Time
}

// references are the implementations measured beside the candidate. Against
// itself it needs none: they would only make the run longer.
func (o Options) references() []suite.Implementation {
	if o.Again || o.checked() { // a reference is a harness's, and none is run
		return nil
	}
	return o.Suite.Implementations[1:]
}

// measuresReferences tells whether there is anything to measure beside the candidate and its base.
func (o Options) measuresReferences() bool {
	return len(o.references()) > 0 && (o.plain() || o.Suite.NeedsHarness() ||
		slices.ContainsFunc(o.Suite.Cases(), func(c suite.Case) bool { return c.Implementation != suite.Candidate }))
}

// wants tells whether a case is to be measured. A glob without a slash matches
// the benchmark, one with a slash the whole name.
func (o Options) wants(name, benchmark string) bool {
	if len(o.Names) > 0 && !slices.Contains(o.Names, name) {
		return false
	}
	return o.Case == "" || measure.MatchCase(o.Case, name, benchmark)
}

// plain tells that the candidate is a command that prints a format, not a
// harness that speaks the protocol.
func (o Options) plain() bool {
	i, _ := o.Suite.Implementation(suite.Candidate)
	return i.Harness.Format != "pawl" && !o.checked()
}

// noCase is said where nothing matches what was asked for.
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

// check finds mistakes that would otherwise show after minutes.
func (o Options) check() error {
	if _, err := path.Match(o.Case, ""); err != nil {
		return fmt.Errorf("--case %q is not a glob: use * ? and [...] as in a shell", o.Case)
	}
	if o.trust() == measure.SelfTimed && o.plain() {
		return errors.New("trust self-timed needs a harness that speaks pawl's protocol: a command that prints times can print any")
	}
	return nil
}

// UsageError is a mistake in what was asked for, not in the machine.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }
