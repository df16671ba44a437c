package trial

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
)

// measure runs one fresh process per side in the given order. All sides measure
// the undecided cases in one shuffled order, with one seed.
func (t *trial) measure(ctx context.Context, order []int, attempt int) (measure.Round, []measure.Result, error) {
	index := t.counted + t.dropped()
	round := measure.Round{Index: index, Seed: roundSeed(t.Seed, index), Order: t.names(order)}
	round.Cases = slices.Clone(t.undecided)
	rng := rand.New(rand.NewPCG(round.Seed, streamOrder))
	rng.Shuffle(len(round.Cases), func(i, j int) { round.Cases[i], round.Cases[j] = round.Cases[j], round.Cases[i] })

	var results []measure.Result
	spoiled := map[string]gpu.Reasons{}
	for _, n := range order {
		side, got, err := t.side(ctx, t.Sides[n], round)
		round.Sides = append(round.Sides, side)
		results = append(results, got...)
		if err != nil {
			return round, results, err
		}
		if side.After != nil && side.After.Reasons.Spoiling() != 0 {
			spoiled[side.Implementation] = side.After.Reasons.Spoiling()
		}
	}
	if len(spoiled) > 0 {
		round.Dropped = t.dropRound(round, spoiled, attempt)
	}
	return round, results, nil
}

func (t *trial) side(ctx context.Context, s Side, round measure.Round) (measure.Side, []measure.Result, error) {
	out := measure.Side{Implementation: s.Name, Started: t.Now()}
	stop := func() gpu.State { return gpu.State{} }
	if t.Watch != nil {
		before, end, err := t.Watch(ctx)
		if err != nil {
			return out, nil, fmt.Errorf("read the device before %s: %w", s.Name, err)
		}
		out.Before, stop = &before, end
		t.Emit(SideStarted{Round: round.Index, Side: s.Name, State: before})
	}
	results, err := s.Runner.Round(ctx, Request{
		Round: round.Index, Seed: round.Seed, Cases: inOrder(s.Cases, round.Cases),
		Measured: func(r measure.Result) { t.Emit(CaseMeasured{Round: round.Index, Side: s.Name, Result: r}) },
	})
	out.Seconds = t.Now().Sub(out.Started).Seconds()
	if after := stop(); t.Watch != nil {
		out.After = &after
		t.warnHot(s.Name, round.Index, after)
	}
	if err != nil {
		out.Error = firstLine(err.Error())
		return out, results, &SideError{Side: s.Name, Err: err}
	}
	return out, results, nil
}

// SideError says which side broke.
type SideError struct {
	Side string
	Err  error
}

func (e *SideError) Error() string { return e.Side + ": " + e.Err.Error() }
func (e *SideError) Unwrap() error { return e.Err }

// inOrder picks a side's cases by name in the order of the round; a side that
// finds its own cases has none to pick.
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

// dropRound notes a round in which the hardware slowed itself down and says so.
func (t *trial) dropRound(round measure.Round, spoiled map[string]gpu.Reasons, attempt int) string {
	var sides []string
	var all gpu.Reasons
	for _, name := range round.Order { // not the map: the message must not depend on chance
		if r, ok := spoiled[name]; ok {
			sides = append(sides, name)
			all |= r
		}
	}
	t.drops[strings.Join(sides, " and ")]++
	t.warn(measure.Warning{
		Code: "throttled", Round: &round.Index,
		Message: fmt.Sprintf("round %d dropped (attempt %d of %d): the device slowed itself down (%v) while %s ran", round.Index, attempt+1, mostDrops+1, all, strings.Join(sides, " and ")),
	})
	return all.String()
}

func (t *trial) dropped() int {
	n := 0
	for _, count := range t.drops {
		n += count
	}
	return n
}

// reportOneSidedDrops tells of sides that alone made the device slow down: it
// may be their code that heats it.
func (t *trial) reportOneSidedDrops() {
	for _, s := range t.Sides {
		if n := t.drops[s.Name]; n > 0 && len(t.Sides) > 1 {
			t.warn(measure.Warning{
				Code:    "one_sided_throttling",
				Message: fmt.Sprintf("%d dropped rounds were slowed down only while %s ran: it may draw more power than the others", n, s.Name),
			})
		}
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
