package trial

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/measure"
)

// took returns how long the sides of the round ran.
func (p PastRound) took() time.Duration {
	seconds := 0.0
	for _, s := range p.Round.Sides {
		seconds += s.Seconds
	}
	return time.Duration(seconds * float64(time.Second))
}

// replay takes the next past round in place of measuring one. The trial then knows what it knew when that round
// ended: the place in the sequence of orders, dropped rounds, lost and failed cases, and threads. It does
// not emit the round again.
func (t *trial) replay(_ context.Context, order []int, attempt, _ int) (measure.Round, []measure.Result, error) {
	p := t.Past[0]
	t.Past = t.Past[1:]
	index := t.counted + t.dropped()
	if p.Round.Index != index || p.Round.Seed != roundSeed(t.Seed, index) || !slices.Equal(p.Round.Order, t.names(order)) {
		return p.Round, nil, fmt.Errorf("round %d of the earlier process does not follow from the plan of this run: start it without --resume", p.Round.Index)
	}
	if t.Replayed != nil {
		t.Replayed(p)
	}
	if strings.HasPrefix(p.Round.Dropped, brokenPrefix) {
		return p.Round, nil, t.brokeThen(p.Round)
	}
	if why, ok := strings.CutPrefix(p.Round.Dropped, sharePrefix); ok {
		t.compareSides(p.Results)
		t.runApart(p.Round.Index, why)
		return p.Round, p.Results, nil
	}
	t.unread = ""
	if why, ok := strings.CutPrefix(p.Round.Dropped, unreadPrefix); ok {
		t.unread = why
	}
	t.assess(p.Round, attempt)
	t.compareSides(p.Results) // notes where the base failed; there are no sums to compare
	t.noteThreads(p.Results)
	return p.Round, p.Results, nil
}

// brokeThen returns the error that ended the run in a past round. If no side was at fault, the run may go
// on, and the round counts as dropped.
func (t *trial) brokeThen(round measure.Round) error {
	for _, s := range round.Sides {
		if s.Error != "" {
			return &SideError{Side: s.Implementation, Err: errors.New(s.Error)}
		}
	}
	t.drops[unreadDevice]++
	return nil
}

// noteThreads notes how many threads the cases of a past round use, as the core of the round shows.
func (t *trial) noteThreads(results []measure.Result) {
	if !t.canTakeTurns() || t.roundCore(0) < 0 {
		return
	}
	for _, r := range results {
		switch name := r.Case.Name(); {
		case r.Round.Error != "" || t.threads[name] == manyThreads:
		case r.Round.Core != nil:
			t.threads[name] = oneThread
		default:
			t.threads[name] = manyThreads
		}
	}
}
