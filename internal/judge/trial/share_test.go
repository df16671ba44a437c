package trial_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/measure"
)

// freeGB returns the readings of a device's free memory, of which the last is repeated.
func freeGB(readings ...int64) func(context.Context) (int64, error) {
	return func(context.Context) (int64, error) {
		now := readings[0]
		if len(readings) > 1 {
			readings = readings[1:]
		}
		return now * 1e9, nil
	}
}

// apart returns why the first round was dropped, and how many results were taken in turns and by a side alone.
func apart(out trial.Outcome, b *bench) (dropped string, inTurns, alone int) {
	for _, r := range b.results {
		switch {
		case r.Round.Error != "":
		case r.Round.SamplesPerTurn > 0:
			inTurns++
		default:
			alone++
		}
	}
	if warningCodes(out)["sides_apart"] > 0 {
		dropped = b.rounds[0].Dropped
	}
	return dropped, inTurns, alone
}

func TestShare_NeedsTwiceTheMemoryOfTheOtherSide(t *testing.T) {
	for name, test := range map[string]struct {
		free           func(context.Context) (int64, error)
		dropped        string
		inTurns, alone int
	}{
		"both fit":            {free: freeGB(12, 8, 8, 4, 12, 8, 8, 4), inTurns: 4},
		"the second may not":  {free: freeGB(12, 7), dropped: "the sides cannot share the device: a holds 5.0 GB of the device's memory, and 7.0 GB are free", alone: 4},
		"nothing is held":     {free: freeGB(12), inTurns: 4},
		"it cannot be read":   {free: func(context.Context) (int64, error) { return 0, errors.New("gone\nsee log") }, dropped: "the sides cannot share the device: the free memory of the device cannot be read: gone", alone: 4},
		"not before the last": {free: freeGB(12, 11, 11, 10, 12, 2), dropped: "", inTurns: 2, alone: 2},
	} {
		t.Run(name, func(t *testing.T) {
			p, b, _ := protocolPlan(t, []string{"k"}, nil, "a", "b")
			p.Seed, p.FreeMemory = 1, test.free
			out, err := trial.Run(t.Context(), p)
			if err != nil || out.Rounds != 2 || out.State != measure.Complete {
				t.Fatalf("outcome %+v, %v", out, err)
			}
			dropped, inTurns, alone := apart(out, b)
			dropped = strings.Replace(dropped, ": b holds", ": a holds", 1) // the seed decides which is first
			if dropped != test.dropped || inTurns != test.inTurns || alone != test.alone {
				t.Errorf("dropped %q, %d in turns, %d alone; want %q, %d and %d", dropped, inTurns, alone, test.dropped, test.inTurns, test.alone)
			}
			if want := len(b.rounds) - 2; warningCodes(out)["sides_apart"] != want {
				t.Errorf("%d rounds, warnings %+v", len(b.rounds), out.Warnings)
			}
		})
	}
}

// A side that fails beside another may fail for lack of memory. Only if it fails alone too, the case is broken.
func TestShare_FailureBesideAnotherSideIsTriedAlone(t *testing.T) {
	p, b, _ := protocolPlan(t, []string{"refused"}, nil, "a", "b")
	p.FreeMemory = freeGB(12)
	out, err := trial.Run(t.Context(), p)
	if err != nil || out.Rounds != 2 || len(b.rounds) != 3 {
		t.Fatalf("outcome %+v, %d rounds, %v", out, len(b.rounds), err)
	}
	if dropped, _, _ := apart(out, b); !strings.Contains(dropped, "was on the device") || !strings.Contains(dropped, "no room") {
		t.Errorf("dropped: %q", dropped)
	}
	for _, r := range b.results {
		if r.Round.Error != "no room" {
			t.Errorf("%s: %+v", r.Case, r.Round)
		}
	}
}

// A process that continues a run knows that its sides do not fit together.
func TestShare_IsRememberedByAContinuedRun(t *testing.T) {
	p, b, _ := protocolPlan(t, []string{"k"}, nil, "a", "b")
	p.FreeMemory = freeGB(12, 7)
	whole, err := trial.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	q, c, log := protocolPlan(t, []string{"k"}, nil, "a", "b")
	q.FreeMemory, q.Past = freeGB(12), []trial.PastRound{{Round: b.rounds[0]}}
	again, err := trial.Run(t.Context(), q)
	if err != nil || again.Rounds != 2 || len(c.rounds) != 2 {
		t.Fatalf("outcome %+v, %d rounds, %v", again, len(c.rounds), err)
	}
	if turns := asked(t, log); len(turns) != 4 {
		t.Errorf("turns %v, want one a side and round", turns)
	}
	if diff := cmp.Diff(whole.Warnings, again.Warnings); diff != "" {
		t.Errorf("warnings (-whole +continued):\n%s", diff)
	}
}
