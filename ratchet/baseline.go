package ratchet

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// MaxSessions is the number of recent sessions kept in a Baseline. The ledger keeps all.
const MaxSessions = 20

// Baseline is the best confirmed result of a case on a testbed: a commit with its evidence, not just a
// number.
type Baseline struct {
	Case     string
	Testbed  Testbed
	Commit   string // empty if a migrated file did not name it
	Kind     Kind   // how it became the baseline
	Since    time.Time
	Seq      int       // ledger line that made it the baseline
	Sessions []Session // oldest first
	runs     []RunRef  // all recorded runs, and the run that showed the gain
}

// Baselines is the state that results from applying the entries of a ledger in order.
type Baselines struct {
	at map[baselineKey]*Baseline // reset baselines stay, with KindReset
}

// baselineKey identifies a baseline: a case on a testbed.
type baselineKey struct{ name, testbed string }

// Fold applies entries in order. It returns a *LineError for the first entry that contradicts those
// before it.
func Fold(entries []Entry) (Baselines, error) {
	var b Baselines
	for i, e := range entries {
		if err := b.Apply(e); err != nil {
			return b, &LineError{Line: i + 1, Err: err}
		}
	}
	return b, nil
}

// Apply applies an entry. An entry that contradicts the state is an error and changes nothing.
func (b *Baselines) Apply(e Entry) error {
	if err := e.Check(); err != nil {
		return err
	}
	if b.at == nil {
		b.at = map[baselineKey]*Baseline{}
	}
	key := baselineKey{e.Case, e.Testbed.Key}
	old := b.at[key]
	if err := b.allows(e, old); err != nil {
		return fmt.Errorf("%s of %s on testbed %s: %w", e.Kind, e.Case, e.Testbed.Key, err)
	}
	next := &Baseline{Case: e.Case, Testbed: e.Testbed, Commit: e.Commit, Kind: e.Kind, Since: e.Time, Seq: e.Seq}
	switch {
	case e.Kind == KindMeasured && old.active():
		next = old
	case e.Kind == KindSetAside:
		next = old
		next.Sessions = slices.DeleteFunc(next.Sessions, func(s Session) bool { return s.Run.Same(*e.Run) })
	}
	if e.Trigger != nil {
		next.runs = append(next.runs, *e.Trigger)
	}
	if e.Session != nil {
		next.runs = append(next.runs, e.Session.Run)
		next.Sessions = append(next.Sessions, *e.Session)
		next.Sessions = next.Sessions[max(0, len(next.Sessions)-MaxSessions):]
	}
	b.at[key] = next
	return nil
}

// allows returns an error if the entry cannot follow the current baseline.
func (b *Baselines) allows(e Entry, old *Baseline) error {
	switch e.Kind {
	case KindMeasured:
		if !old.active() {
			return nil // the first entry of a case creates its baseline
		}
		if old.Commit != e.Commit {
			return fmt.Errorf("it measured commit %.12s, but the baseline's commit is %.12s", e.Commit, cmp.Or(old.Commit, "not recorded"))
		}
		if slices.ContainsFunc(old.runs, e.Session.Run.Same) {
			return fmt.Errorf("run %s is already recorded, or is the run that showed the gain: measure again", e.Session.Run)
		}
	case KindMoved:
		if !old.active() {
			return errors.New("there is no baseline to move: record a measurement first")
		}
		if old.Commit == e.Commit {
			return fmt.Errorf("commit %.12s is already the baseline", e.Commit)
		}
	case KindReset:
		if !old.active() {
			return errors.New("there is no baseline to reset")
		}
	case KindCarried:
		if old != nil {
			return errors.New("the testbed has, or had, a baseline of its own")
		}
		if from := b.at[baselineKey{e.Case, e.From}]; !from.active() || from.Commit != e.Commit {
			return fmt.Errorf("commit %.12s is not the baseline of testbed %s", e.Commit, e.From)
		}
	case KindMigrated:
		if old != nil {
			return errors.New("there is a baseline, or one was reset: a file from before pawl cannot replace it")
		}
	case KindSetAside:
		if !old.active() {
			return errors.New("there is no baseline with a session to set aside")
		}
		if old.Commit != e.Commit {
			return fmt.Errorf("it names commit %.12s, but the baseline's commit is %.12s", e.Commit, cmp.Or(old.Commit, "not recorded"))
		}
		if !slices.ContainsFunc(old.Sessions, func(s Session) bool { return s.Run.Same(*e.Run) }) {
			return fmt.Errorf("run %s is not one of the baseline's sessions (%d in use)", e.Run, len(old.Sessions))
		}
	case KindAccepted: // always allowed: Check requires a reason and an actor
	default:
	}
	return nil
}

// active reports whether the baseline exists and was not reset.
func (b *Baseline) active() bool { return b != nil && b.Kind != KindReset }

// Find returns the baseline of a case on a testbed.
func (b Baselines) Find(name string, bed Testbed) (Baseline, bool) {
	if found := b.at[baselineKey{name, bed.Key}]; found.active() {
		return found.clone(), true
	}
	return Baseline{}, false
}

// Recorded reports whether a run is already recorded for the current baseline of a case on a testbed, as
// one of its sessions or as the run that showed its gain.
func (b Baselines) Recorded(name string, bed Testbed, run RunRef) bool {
	found := b.at[baselineKey{name, bed.Key}]
	return found.active() && slices.ContainsFunc(found.runs, run.Same)
}

// All returns every baseline, sorted by case and testbed.
func (b Baselines) All() []Baseline {
	var list []Baseline
	for _, found := range b.at {
		if found.active() {
			list = append(list, found.clone())
		}
	}
	slices.SortFunc(list, func(x, y Baseline) int {
		return cmp.Or(cmp.Compare(x.Case, y.Case), cmp.Compare(x.Testbed.Key, y.Testbed.Key))
	})
	return list
}

// Nearest returns the baseline to carry over to a testbed that never had one for the case: that of the
// most similar testbed of the same device. After a driver update, for example, the commit is still the
// best known. It is measured again; its numbers are not reused.
func (b Baselines) Nearest(name string, bed Testbed) (Baseline, bool) {
	if b.at[baselineKey{name, bed.Key}] != nil { // also if it was reset: it was meant to be forgotten
		return Baseline{}, false
	}
	var best *Baseline
	least := 0
	for _, key := range slices.SortedFunc(maps.Keys(b.at), func(x, y baselineKey) int { return cmp.Compare(x.testbed, y.testbed) }) {
		other := b.at[key]
		if key.name != name || !other.active() || other.Commit == "" ||
			other.Testbed.Kind != bed.Kind || other.Testbed.Device != bed.Device {
			continue
		}
		apart := len(bed.Differs(other.Testbed.Testbed))
		if bed.Timer != other.Testbed.Timer {
			apart++
		}
		if best == nil || apart < least || apart == least && other.Since.After(best.Since) {
			best, least = other, apart
		}
	}
	if best == nil {
		return Baseline{}, false
	}
	return best.clone(), true
}

// clone returns a copy, so that callers cannot modify the state.
func (b *Baseline) clone() Baseline {
	c := *b
	c.Sessions, c.runs = slices.Clone(b.Sessions), nil
	return c
}
