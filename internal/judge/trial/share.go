package trial

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/measure"
)

// reserve is how many times the memory of the largest other process must be available to a side before it prepares a
// case: a side may need more than the one before it.
const reserve = 2

// apartError says why the sides of a round must run one after the other.
type apartError struct{ why string }

func (e *apartError) Error() string { return sharePrefix + e.why }

// prepare makes a side ready for a case. If the plan has FreeMemory, it returns an apartError if the processes of the
// round may not fit the device together, or if the side fails while others are on it.
func (t *trial) prepare(ctx context.Context, table []*participant, s *participant, c Case) (cr measure.CaseRound, err error) {
	ready := func() error {
		return s.timed(t.Now, func() (err error) { cr, err = s.process.ready(ctx, c); return err })
	}
	if t.FreeMemory == nil {
		err = ready()
		return cr, err
	}
	before, err := t.FreeMemory(ctx)
	if err != nil {
		return cr, &apartError{"the free memory of the device cannot be read: " + firstLine(err.Error())}
	}
	other := largest(table, s)
	if other != nil && before < reserve*other.held-s.held {
		return cr, &apartError{fmt.Sprintf("%s holds %s of the device's memory, and %s are free", other.side.Name, words.Bytes(other.held), words.Bytes(before))}
	}
	s.process.failure = nil
	err = ready()
	if failure := errors.Join(s.process.failure, err); other != nil && crowded(failure) {
		return cr, &apartError{fmt.Sprintf("%s failed while %s was on the device: %s", s.side.Name, other.side.Name, firstLine(failure.Error()))}
	}
	if err != nil {
		return cr, err
	}
	after, err := t.FreeMemory(ctx)
	if err != nil {
		return cr, &apartError{"the free memory of the device cannot be read: " + firstLine(err.Error())}
	}
	s.held = max(s.held+before-after, 0)
	return cr, nil
}

// largest returns the side with the most memory of those whose processes are on the device beside s; nil if there is none.
func largest(table []*participant, s *participant) *participant {
	var found *participant
	for _, o := range table {
		if o != s && o.process.session != nil && (found == nil || o.held > found.held) {
			found = o
		}
	}
	return found
}

// crowded reports whether a failure may be due to other processes on the device: there is no memory left, or the driver
// allows only one process.
func crowded(err error) bool {
	e, ok := errors.AsType[*harness.Error](err)
	if !ok {
		return false
	}
	ownFault := []string{"unsupported", "bad_params", "no_such_benchmark", "no_such_implementation"}
	return e.Kind == harness.Crashed || e.Kind == harness.LostDevice || e.Kind == harness.Refused && !slices.Contains(ownFault, e.Code)
}

// runApart lets the sides run one after the other from here on. It returns why the round does not count: it may have begun
// in turns.
func (t *trial) runApart(round int, why string) string {
	t.Turns = false
	t.drops[unreadDevice]++
	t.warn(measure.Warning{
		Code: "sides_apart", Round: &round,
		Message: fmt.Sprintf("from round %d on sides run one after the other, although the clocks are free: %s; lock the clocks (device.clocks), or set measure.turns", t.counted+1, why),
	})
	return sharePrefix + why
}
