package ratchet

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goatnote-inc/pawl/measure"
)

// Limits of a ledger. They are far above what pawl writes, and low enough to protect readers.
const (
	MaxLine    = 256 << 10 // bytes per line
	MaxLedger  = 64 << 20  // bytes per ledger
	MaxEntries = 200_000

	maxText       = 4 << 10
	maxRounds     = 512
	maxReferences = 8
)

// Check returns an error if the entry is invalid by itself, regardless of the entries before it.
func (e Entry) Check() error {
	var errs []error
	note := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	note(e.Time.IsZero(), "it has no time")
	note(e.Case == "", "it names no case")
	note(e.Testbed.Key == "", "it names no testbed")
	for _, t := range [...]struct{ name, text string }{
		{"case", e.Case},
		{"testbed", e.Testbed.Key},
		{"device", e.Testbed.Device},
		{"driver", e.Testbed.Driver},
		{"from", e.From},
		{"reason", e.Reason},
		{"actor", e.Actor},
	} {
		note(!printable(t.text), "%s: must be one line of text of at most %d bytes", t.name, maxText)
	}
	note(e.Gain < 0 || math.IsNaN(e.Gain) || math.IsInf(e.Gain, 0), "gain %v: must be a finite share, not negative", e.Gain)
	if e.Commit != "" {
		note(!isCommit(e.Commit, e.Kind == KindMigrated), "commit %q: must be a full hash", e.Commit)
	}
	if e.Session != nil {
		errs = append(errs, e.Session.check())
	}
	return errors.Join(append(errs, e.checkKind())...)
}

// need is what an entry must have.
type need struct{ commit, session, trigger, audit, from, run bool }

// needs lists what the entries of each kind must have.
var needs = map[Kind]need{
	KindMeasured: {commit: true, session: true},
	KindMoved:    {commit: true, session: true, trigger: true},
	KindAccepted: {commit: true, audit: true},
	KindReset:    {audit: true},
	KindCarried:  {commit: true, from: true},
	KindMigrated: {session: true},
	KindSetAside: {audit: true, run: true},
}

// checkKind returns an error if the entry lacks something that its kind requires.
func (e Entry) checkKind() error {
	n, known := needs[e.Kind]
	if !known {
		return fmt.Errorf("unknown kind %q: update pawl", e.Kind)
	}
	switch {
	case n.commit && e.Commit == "":
		return fmt.Errorf("%s: it names no commit", e.Kind)
	case n.session && e.Session == nil:
		return fmt.Errorf("%s: it has no evidence", e.Kind)
	case n.trigger && e.checkTrigger() != nil:
		return e.checkTrigger()
	case n.audit && (strings.TrimSpace(e.Reason) == "" || strings.TrimSpace(e.Actor) == ""):
		return fmt.Errorf("%s: a reason and a name are required", e.Kind)
	case n.from && (e.From == "" || e.From == e.Testbed.Key):
		return fmt.Errorf("%s: it does not name the other testbed", e.Kind)
	case n.run && (e.Run == nil || *e.Run == RunRef{}):
		return fmt.Errorf("%s: it does not name the run whose session no longer counts", e.Kind)
	case n.run && e.Session != nil:
		return fmt.Errorf("%s: it must not have evidence", e.Kind)
	case e.Kind == KindReset && (e.Commit != "" || e.Session != nil):
		return fmt.Errorf("%s: it must not name a commit or evidence", e.Kind)
	}
	return nil
}

// checkTrigger returns an error unless the entry names a gain, and a run that showed it and is not its evidence.
func (e Entry) checkTrigger() error {
	switch {
	case e.Trigger == nil || *e.Trigger == RunRef{}:
		return fmt.Errorf("%s: it does not name the run that showed the gain", e.Kind)
	case e.Trigger.Same(e.Session.Run):
		return fmt.Errorf("%s: the evidence is run %s, which is the one that showed the gain: measure again", e.Kind, e.Trigger)
	case e.Gain == 0:
		return fmt.Errorf("%s: it names no gain", e.Kind)
	}
	return nil
}

func (s *Session) check() error {
	if s.Run == (RunRef{}) || !printable(s.Run.ID+s.Run.Digest) {
		return errors.New("the evidence names no run")
	}
	if s.Unit == "" || !printable(s.Unit) {
		return errors.New("the evidence has no unit")
	}
	if s.Better != "" && s.Better != measure.Lower && s.Better != measure.Higher {
		return fmt.Errorf("better %q: must be %s or %s", s.Better, measure.Lower, measure.Higher)
	}
	if s.Quantum < 0 || math.IsNaN(s.Quantum) || math.IsInf(s.Quantum, 0) {
		return fmt.Errorf("quantum %v: must be a number of %s", s.Quantum, s.Unit)
	}
	for _, digest := range []string{s.Recipe, s.Definition, s.Method} {
		if !printable(digest) {
			return fmt.Errorf("recipe, definition and method: must each be one line of text of at most %d bytes", maxText)
		}
	}
	if len(s.References) > maxReferences {
		return fmt.Errorf("%d references (max %d)", len(s.References), maxReferences)
	}
	sides := [][]float64{s.Rounds}
	for _, r := range s.References {
		if r.Name == "" || !printable(r.Name+r.Digest) {
			return errors.New("a reference has no name")
		}
		sides = append(sides, r.Rounds)
	}
	for _, rounds := range sides {
		if len(rounds) == 0 || len(rounds) > maxRounds {
			return fmt.Errorf("%d rounds (must be 1 to %d)", len(rounds), maxRounds)
		}
		for _, v := range rounds {
			if !(v > 0) || math.IsInf(v, 0) { // also true for NaN
				return fmt.Errorf("a round of %v %s: must be above 0", v, s.Unit)
			}
		}
	}
	return nil
}

// printable reports whether s is safe for terminals, commit messages and log lines. Text comes from suites,
// command lines and untrusted files.
func printable(s string) bool {
	return len(s) <= maxText && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// isCommit reports whether s is the hash of a commit. If short is set, an abbreviated hash is accepted,
// because an old file may have only that.
func isCommit(s string, short bool) bool {
	if strings.Trim(s, "0123456789abcdef") != "" {
		return false
	}
	return len(s) == 40 || len(s) == 64 || short && len(s) >= 7 && len(s) <= 64
}
