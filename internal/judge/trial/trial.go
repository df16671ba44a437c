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

// maxDrops is how often one round may be dropped and measured again. A device that
// slows itself down a third time will not recover.
const maxDrops = 2

// Run measures until every case is decided, the rounds or the budget run out, a side
// breaks or ctx ends. What was measured until then has been recorded: an error says only
// why there is no more.
func Run(ctx context.Context, p Plan) (Outcome, error) {
	t := newTrial(p)
	err := t.run(ctx)
	t.out.Rounds = t.counted
	t.out.Seconds = t.spent().Seconds()
	t.out.Dollars = t.dollars()
	t.reportOneSidedDrops()
	switch {
	case err == nil:
	case ctx.Err() != nil:
		t.out.State = measure.Interrupted
		t.out.Reason = fmt.Sprintf("after %d of %d rounds", t.counted, t.target())
	default:
		t.out.State, t.out.Reason = measure.Failed, firstLine(err.Error())
	}
	return t.out, err
}

type trial struct {
	Plan
	began     time.Time
	before    time.Duration // time that earlier processes spent on finished rounds
	orders    *orders
	counted   int             // rounds that count
	undecided []string        // case names, in the order of the plan
	lost      []string        // cases that crashed or hung; they are not measured again
	longest   time.Duration   // longest round so far
	drops     map[string]int  // dropped rounds, by the affected sides
	failed    map[string]bool // cases in which the base has failed in any round
	unread    string          // why the device could not be read in the current round
	heat      deviceActivity
	threads   map[string]threads // by case name
	out       Outcome
}

func newTrial(p Plan) *trial {
	if p.Emit == nil {
		p.Emit = func(Event) {}
	}
	if p.Decide == nil {
		p.Decide = func(bool) []string { return nil }
	}
	t := &trial{
		Plan: p, orders: newOrders(len(p.Sides), p.Seed), began: p.Now(),
		drops: map[string]int{}, failed: map[string]bool{}, threads: map[string]threads{},
	}
	for _, p := range t.Past {
		t.before += p.took()
		t.longest = max(t.longest, p.took())
	}
	known := map[string]bool{}
	for _, s := range p.Sides {
		for _, c := range s.Cases {
			if name := c.Key.Name(); !known[name] {
				known[name] = true
				t.undecided = append(t.undecided, name)
			}
		}
	}
	return t
}

func (t *trial) run(ctx context.Context) error {
	for i, target := range t.Growth {
		// The cases of a plain command are unknown before its first run, so undecided may start empty.
		for t.counted < target && (len(t.undecided) > 0 || len(t.lost) == 0) {
			if reason := t.overBudget(); reason != "" {
				t.out.State, t.out.Reason = measure.OverBudget, reason
				t.look(true)
				return nil
			}
			whole, err := t.round(ctx, target)
			if err != nil {
				return err
			}
			if !whole {
				t.out.State = measure.Throttled
				t.out.Reason = fmt.Sprintf("round %d was dropped %d times in a row: let the device cool, or lock lower clocks", t.counted+1, maxDrops+1)
				t.look(true)
				return nil
			}
		}
		if t.look(i == len(t.Growth)-1); len(t.undecided) == 0 {
			break
		}
	}
	t.out.State = measure.Complete
	return nil
}

// target returns the number of rounds until the next look.
func (t *trial) target() int {
	for _, target := range t.Growth {
		if t.counted < target {
			return target
		}
	}
	return t.counted
}

// look asks which cases need more rounds.
func (t *trial) look(final bool) {
	t.undecided = t.withoutLost(t.Decide(final))
	t.Emit(Looked{Rounds: t.counted, Undecided: t.undecided})
}

// round measures one round that counts. It returns false if the device spoiled every
// attempt.
func (t *trial) round(ctx context.Context, target int) (bool, error) {
	order := t.orders.next()
	for attempt := range maxDrops + 1 {
		finish := t.attempt
		if len(t.Past) > 0 {
			finish = t.replay
		}
		round, results, err := finish(ctx, order, attempt, target)
		if err != nil {
			return false, err
		}
		if round.Dropped == "" {
			t.noteLost(results)
			t.undecided = t.withoutLost(t.undecided)
			t.counted++
			return true, nil
		}
	}
	return false, nil
}

// attempt measures and records a round, which may turn out not to count.
func (t *trial) attempt(ctx context.Context, order []int, attempt, target int) (measure.Round, []measure.Result, error) {
	began := t.Now()
	t.Emit(RoundStarted{Number: t.counted + 1, Of: target, Order: t.names(order), Cases: len(t.undecided)})
	round, results, err := t.measure(ctx, order, attempt)
	if err != nil && ctx.Err() == nil {
		// The round is incomplete, but shows where a side broke: record it, uncounted.
		round.Dropped = brokenPrefix + firstLine(err.Error())
		return round, nil, errors.Join(err, t.Record(round, results))
	}
	if err != nil {
		return round, nil, err
	}
	if err := t.Record(round, results); err != nil {
		return round, nil, fmt.Errorf("cannot record round %d: %w", round.Index, err)
	}
	took := t.Now().Sub(began)
	t.longest = max(t.longest, took)
	t.Emit(RoundDone{Number: t.counted + 1, Of: target, Round: round, Seconds: took.Seconds()})
	return round, results, nil
}

// noteLost notes the cases that crashed or hung.
func (t *trial) noteLost(results []measure.Result) {
	for _, r := range results {
		if name := r.Case.Name(); strings.HasPrefix(r.Round.Error, Lost) && !slices.Contains(t.lost, name) {
			t.lost = append(t.lost, name)
		}
	}
}

// withoutLost returns names without the cases that crashed or hung, which would do so again.
func (t *trial) withoutLost(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(t.lost, name) })
}

func (t *trial) names(order []int) []string {
	names := make([]string, len(order))
	for i, side := range order {
		names[i] = t.Sides[side].Name
	}
	return names
}

func (t *trial) spent() time.Duration { return t.before + t.Now().Sub(t.began) }

func (t *trial) dollars() float64 { return t.PricePerHour * t.spent().Hours() }

// overBudget returns which budget another round would exceed. The first round is
// always measured: without it a run has no result. Past rounds cost nothing.
func (t *trial) overBudget() string {
	if t.counted == 0 || len(t.Past) > 0 {
		return ""
	}
	then := t.spent() + t.longest
	if t.Budget > 0 && then > t.Budget {
		return fmt.Sprintf("another round of %v would exceed the time budget of %v", t.longest.Round(time.Second), t.Budget)
	}
	if cost := t.PricePerHour * then.Hours(); t.Dollars > 0 && cost > t.Dollars {
		return fmt.Sprintf("another round would raise the total cost to $%.4f, above the budget of $%.4f", cost, t.Dollars)
	}
	return ""
}

func (t *trial) warn(w measure.Warning) {
	t.out.Warnings = append(t.out.Warnings, w)
	t.Emit(Warned{Warning: w})
}
