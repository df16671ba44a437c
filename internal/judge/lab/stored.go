package lab

import (
	"context"
	"fmt"

	"github.com/goatnote-inc/pawl/ratchet"
)

// storedKind is a kind of gate against a baseline that cannot be measured again.
type storedKind struct {
	Scene
	pledge *suitePromise // nil if nothing is promised
}

// storedKinds are the kinds that are measured: a full ledger and one with half of the sessions, on an
// unchanged machine and on one that is slower today.
var storedKinds = []storedKind{
	newStored(ratchet.MaxSessions, 0, 0, nil),
	newStored(ratchet.MaxSessions, 0.05, 0, &suitePromise{"%s: false regression", 0.005, false, func(t Tally) int { return t.Regression }}),
	newStored(ratchet.MaxSessions, 0, 0.10, &suitePromise{"%s: 10 %% slower found", 0.8, true, func(t Tally) int { return t.Regression }}),
	newStored(ratchet.MaxSessions/2, 0.05, 0, &suitePromise{"%s: false regression", 0.005, false, func(t Tally) int { return t.Regression }}),
	newStored(ratchet.MaxSessions/2, 0, 0.10, nil),
}

func newStored(kept int, today, effect float64, p *suitePromise) storedKind {
	s := NewScene(Gaussian, typical, effect)
	s.Kept, s.SlowerNow = kept, today
	return storedKind{s, p}
}

func (k storedKind) note() string {
	machine := "a machine as it was"
	if k.SlowerNow != 0 {
		machine = fmt.Sprintf("a machine %s slower today", percent(k.SlowerNow))
	}
	return fmt.Sprintf("%s, %d stored sessions", machine, k.Kept)
}

// storedSides measures gates against stored sessions, with both editions of the policy.
func (l *judgeLab) storedSides(ctx context.Context) error {
	before := stored(ratchet.ForEdition(1), false)
	before.Name += ", first edition"
	for _, k := range storedKinds {
		if err := l.scene(ctx, Stress, k.note(), k.Scene, l.stress, []Method{stored(l.policy, false), before}); err != nil {
			return err
		}
	}
	return nil
}
