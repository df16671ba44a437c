package trial

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
)

// measure runs one fresh process per side in the given order. All sides measure
// the undecided cases in the same shuffled order, with the same seed.
func (t *trial) measure(ctx context.Context, order []int, attempt int) (measure.Round, []measure.Result, error) {
	index := t.counted + t.dropped()
	round := measure.Round{Index: index, Seed: roundSeed(t.Seed, index), Order: t.names(order)}
	round.Cases = slices.Clone(t.undecided)
	rng := rand.New(rand.NewPCG(round.Seed, streamOrder))
	rng.Shuffle(len(round.Cases), func(i, j int) { round.Cases[i], round.Cases[j] = round.Cases[j], round.Cases[i] })

	t.unread = ""
	run := t.oneByOne
	switch {
	case t.canTakeTurns():
		run = t.together
	case t.commandsTakeTurns():
		run = t.commandsTogether
	}
	results, err := run(ctx, order, &round)
	t.compareSides(results)
	if apart, ok := errors.AsType[*apartError](err); ok && ctx.Err() == nil {
		round.Dropped = t.runApart(round.Index, apart.why)
		return round, results, nil
	}
	if err != nil {
		return round, results, err
	}
	round.Dropped = t.assess(round, attempt)
	return round, results, nil
}

// assess returns why a round does not count, and warns of what the device did during it.
func (t *trial) assess(round measure.Round, attempt int) (dropped string) {
	spoiled := map[string]gpu.Reasons{}
	for _, side := range round.Sides {
		if side.After == nil {
			continue
		}
		t.warnHot(side.Implementation, round.Index, *side.After)
		if reasons := side.After.Reasons.Invalidating(); reasons != 0 {
			spoiled[side.Implementation] = reasons
		}
	}
	switch {
	case len(spoiled) > 0:
		return t.dropRound(round, spoiled, attempt)
	case t.unread != "":
		return t.dropUnread(round, attempt)
	default:
		return ""
	}
}

// oneByOne runs the sides one after the other: each has the device to itself.
func (t *trial) oneByOne(ctx context.Context, order []int, round *measure.Round) ([]measure.Result, error) {
	var results []measure.Result
	batch := map[string]int{}
	at := t.commandPlace(round.Index)
	for _, n := range order {
		s := t.Sides[n]
		out := measure.Side{Implementation: s.Name, Started: t.Now()}
		var got []measure.Result
		err := t.watched(ctx, s.Name, round.Index, &out, func() (err error) {
			got, err = s.Runner.Round(ctx, Request{
				Round: round.Index, Seed: round.Seed, Cases: inOrder(s.Cases, round.Cases), Batch: batch, heat: &t.heat, place: at,
				Measured: func(r measure.Result) { t.Emit(CaseMeasured{Round: round.Index, Side: s.Name, Result: r}) },
			})
			return err
		})
		out.Seconds = t.Now().Sub(out.Started).Seconds()
		results = append(results, got...)
		for _, r := range got {
			batch[r.Case.Name()] = r.Round.Batch
		}
		if err != nil {
			out.Error = firstLine(err.Error())
			err = &SideError{Side: s.Name, Err: err}
		}
		round.Sides = append(round.Sides, out)
		if err != nil {
			return results, err
		}
	}
	t.noteCore(results, at)
	return results, nil
}

// together runs the sides in turns, so that changes of the device affect all of them.
func (t *trial) together(ctx context.Context, order []int, round *measure.Round) (results []measure.Result, err error) {
	var state measure.Side
	err = t.watched(ctx, strings.Join(round.Order, " and "), round.Index, &state, func() (err error) {
		results, err = t.turns(ctx, order, round)
		return err
	})
	for i := range round.Sides {
		round.Sides[i].Before, round.Sides[i].After = state.Before, state.After
	}
	return results, err
}

// watched reads the device while f runs.
func (t *trial) watched(ctx context.Context, who string, round int, out *measure.Side, f func() error) error {
	if t.Watch == nil {
		return f()
	}
	before, stop, err := t.Watch(ctx)
	if err != nil {
		return fmt.Errorf("cannot read the device before %s: %w", who, err)
	}
	t.Emit(SideStarted{Round: round, Side: who, State: before})
	err = f()
	after, readErr := stop()
	if readErr != nil && t.unread == "" {
		t.unread = firstLine(readErr.Error())
	}
	out.Before, out.After = &before, &after
	return err
}

// SideError is an error of a side that broke.
type SideError struct {
	Side string
	Err  error
}

func (e *SideError) Error() string { return e.Side + ": " + e.Err.Error() }
func (e *SideError) Unwrap() error { return e.Err }

// inOrder returns a side's cases in the order of the round. A side that finds its own
// cases has none to return.
func inOrder(cases []Case, names []string) []Case {
	byName := map[string][]Case{}
	for _, c := range cases {
		byName[c.Key.Name()] = append(byName[c.Key.Name()], c)
	}
	var out []Case
	for _, name := range names {
		out = append(out, byName[name]...)
	}
	return out
}

func (t *trial) warnHot(side string, round int, s gpu.State) {
	if t.MaxTemperatureC > 0 && s.TemperatureC > t.MaxTemperatureC {
		t.warn(measure.Warning{
			Code: "temperature", Round: &round,
			Message: fmt.Sprintf("the device reached %.0f degrees C while %s ran (limit %.0f): let it cool, or lock lower clocks", s.TemperatureC, side, t.MaxTemperatureC),
		})
	}
}

// dropRound records a round in which the hardware slowed itself down, and warns.
func (t *trial) dropRound(round measure.Round, spoiled map[string]gpu.Reasons, attempt int) string {
	var sides []string
	var all gpu.Reasons
	for _, name := range round.Order { // not over the map: the message must be deterministic
		if r, ok := spoiled[name]; ok {
			sides = append(sides, name)
			all |= r
		}
	}
	t.drops[strings.Join(sides, " and ")]++
	t.warn(measure.Warning{
		Code: "throttled", Round: &round.Index,
		Message: fmt.Sprintf("round %d dropped (attempt %d of %d): the device throttled (%v) while %s ran", t.counted+1, attempt+1, maxDrops+1, all, strings.Join(sides, " and ")),
	})
	return all.String()
}

// dropUnread records a round during which the device could not be read: a
// slowdown may have been missed.
func (t *trial) dropUnread(round measure.Round, attempt int) string {
	t.drops[unreadDevice]++
	t.warn(measure.Warning{
		Code: "device_unread", Round: &round.Index,
		Message: fmt.Sprintf("round %d dropped (attempt %d of %d): the device could not be read: %s", t.counted+1, attempt+1, maxDrops+1, t.unread),
	})
	return unreadPrefix + t.unread
}

// Prefixes of why a round does not count.
const (
	brokenPrefix = "a side broke: "
	unreadPrefix = "the device could not be read: "
	sharePrefix  = "the sides cannot share the device: "
)

// unreadDevice is the key in drops for rounds that no side spoiled.
const unreadDevice = ""

func (t *trial) dropped() int {
	n := 0
	for _, count := range t.drops {
		n += count
	}
	return n
}

// reportOneSidedDrops warns of sides during which alone the device slowed down: their
// code may heat it.
func (t *trial) reportOneSidedDrops() {
	for _, s := range t.Sides {
		if n := t.drops[s.Name]; n > 0 && len(t.Sides) > 1 {
			t.warn(measure.Warning{
				Code:    "one_sided_throttling",
				Message: fmt.Sprintf("%d dropped rounds were throttled only while %s ran: it may draw more power than the others", n, s.Name),
			})
		}
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
