package trial_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/measure"
)

// bench is a machine in memory: every side takes a second, and a script says
// what the device does meanwhile.
type bench struct {
	now     time.Time
	log     []string // "base 0 [b a]" : side, round, cases in order
	seeds   map[int][]uint64
	reasons func(side string, attempt int) gpu.Reasons // attempt counts the sides that ran
	fail    func(side string, round int) error
	rounds  []measure.Round
	results []measure.Result
	events  []trial.Event
	ran     int
	readErr error
	side    string
}

func (b *bench) plan(sides ...string) trial.Plan {
	b.now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b.seeds = map[int][]uint64{}
	p := trial.Plan{
		Seed: 42, Growth: []int{4, 8}, MaxTemperatureC: 80,
		Now:   func() time.Time { return b.now },
		Watch: b.watch,
		Emit:  func(e trial.Event) { b.events = append(b.events, e) },
		Record: func(r measure.Round, res []measure.Result) error {
			b.rounds = append(b.rounds, r)
			b.results = append(b.results, res...)
			return nil
		},
	}
	for _, name := range sides {
		s := trial.Side{Name: name, Runner: runner{b, name}}
		for _, bm := range []string{"a", "b", "c"} {
			s.Cases = append(s.Cases, trial.Case{Key: measure.CaseKey{Benchmark: bm, Implementation: name}, Samples: 3})
		}
		p.Sides = append(p.Sides, s)
	}
	return p
}

func (b *bench) watch(context.Context) (gpu.State, func() (gpu.State, error), error) {
	return gpu.State{TemperatureC: 60}, func() (gpu.State, error) {
		s := gpu.State{TemperatureC: 60}
		if b.reasons != nil {
			s.Reasons = b.reasons(b.side, b.ran-1)
		}
		return s, b.readErr
	}, nil
}

type runner struct {
	b    *bench
	side string
}

func (r runner) Round(_ context.Context, req trial.Request) ([]measure.Result, error) {
	r.b.side = r.side
	r.b.ran++
	r.b.now = r.b.now.Add(time.Second)
	r.b.seeds[req.Round] = append(r.b.seeds[req.Round], req.Seed)
	var names []string
	var results []measure.Result
	for _, c := range req.Cases {
		names = append(names, c.Key.Benchmark)
		res := measure.Result{Case: c.Key, Round: measure.CaseRound{Samples: measure.Samples{1, 2, 3}}}
		results = append(results, res)
		req.Measured(res)
	}
	r.b.log = append(r.b.log, fmt.Sprintf("%s %d %v", r.side, req.Round, names))
	if r.b.fail != nil {
		if err := r.b.fail(r.side, req.Round); err != nil {
			return results[:1], err
		}
	}
	return results, nil
}

func TestSidesAreInterleavedAndAlike(t *testing.T) {
	b := &bench{}
	out, err := trial.Run(t.Context(), b.plan("candidate", "base"))
	if err != nil || out.State != measure.Complete || out.Rounds != 4 {
		t.Fatalf("outcome %+v, %v", out, err)
	}
	first := map[string]int{}
	for i, r := range b.rounds {
		first[r.Order[0]]++
		a, c := b.log[2*i], b.log[2*i+1]
		if caseOrder(a) != caseOrder(c) {
			t.Errorf("round %d: the sides measured in different orders: %q, %q", i, a, c)
		}
		if s := b.seeds[i]; len(s) != 2 || s[0] != s[1] {
			t.Errorf("round %d: seeds %v, want one for both", i, s)
		}
		if len(r.Sides) != 2 || r.Sides[0].Implementation != r.Order[0] || r.Sides[0].Before == nil || r.Sides[0].After == nil {
			t.Errorf("round %d: sides %+v", i, r.Sides)
		}
	}
	if first["base"] != 2 || first["candidate"] != 2 {
		t.Errorf("who ran first: %v, want each twice", first)
	}
	if n := len(b.results); n != 4*2*3 {
		t.Errorf("%d results, want 24", n)
	}
	orders := map[string]bool{}
	for _, l := range b.log {
		orders[caseOrder(l)] = true
	}
	if len(orders) < 2 {
		t.Errorf("cases were never shuffled: %v", b.log)
	}
}

func caseOrder(line string) string { return line[strings.IndexByte(line, '['):] }

func TestGrowthMeasuresOnlyWhatIsUndecided(t *testing.T) {
	b := &bench{}
	p := b.plan("candidate", "base")
	p.Growth = []int{4, 8, 16}
	var looks []int
	p.Decide = func(final bool) []string {
		rounds := len(b.rounds)
		looks = append(looks, rounds)
		for _, name := range []string{"a", "b", "c"} {
			want, n := rounds, 0
			if name != "b" {
				want = 4
			}
			for _, r := range b.rounds {
				if slices.Contains(r.Cases, name) {
					n++
				}
			}
			if n != want {
				t.Errorf("at the look after %d rounds, %s has %d", rounds, name, n)
			}
		}
		if rounds == 16 != final {
			t.Errorf("look after %d rounds: final = %v", rounds, final)
		}
		return []string{"b"}
	}
	out, err := trial.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(looks, []int{4, 8, 16}) || out.Rounds != 16 {
		t.Errorf("looks %v, outcome %+v", looks, out)
	}
	for _, l := range b.log[8:] {
		if caseOrder(l) != "[b]" {
			t.Errorf("%q measured a decided case", l)
		}
	}
}

// Hardware slowdown drops the whole round, both sides, and measures it again.
func TestSpoiledRoundIsMeasuredAgain(t *testing.T) {
	b := &bench{reasons: func(_ string, n int) gpu.Reasons {
		if n == 2 || n == 5 { // the first side of the second round; the second of its repetition
			return gpu.HWThermal | gpu.SWPowerCap
		}
		return gpu.SWPowerCap // a power cap alone spoils nothing
	}}
	out, err := trial.Run(t.Context(), b.plan("candidate", "base"))
	if err != nil || out.Rounds != 4 {
		t.Fatalf("outcome %+v, %v", out, err)
	}
	if len(b.rounds) != 6 {
		t.Fatalf("%d rounds kept, want 4 that count and 2 that do not", len(b.rounds))
	}
	indices := map[int]bool{}
	for i, r := range b.rounds {
		if dropped := r.Dropped != ""; dropped != (i == 1 || i == 2) {
			t.Errorf("round %d dropped = %q", i, r.Dropped)
		}
		indices[r.Index] = true
	}
	if len(indices) != 6 {
		t.Errorf("two rounds share an index: %v", indices)
	}
	if !slices.Equal(b.rounds[1].Order, b.rounds[2].Order) || !slices.Equal(b.rounds[1].Order, b.rounds[3].Order) {
		t.Error("the repetition of a round has another order, so the trial is no longer balanced")
	}
	codes := warningCodes(out)
	if codes["throttled"] != 2 {
		t.Errorf("warnings %v, want two of throttled", codes)
	}
}

func TestThirdSpoiledAttemptEndsTheTrial(t *testing.T) {
	b := &bench{reasons: func(side string, _ int) gpu.Reasons {
		if side == "candidate" {
			return gpu.HWSlowdown
		}
		return 0
	}}
	p := b.plan("candidate", "base")
	p.Decide = func(final bool) []string {
		if !final {
			t.Error("asked for more rounds on a device that cannot give them")
		}
		return []string{"a", "b", "c"}
	}
	out, err := trial.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if out.Rounds != 0 || len(b.rounds) != 3 || out.State != measure.Throttled || !strings.Contains(out.Reason, "dropped 3 times in a row") {
		t.Errorf("%d rounds, outcome %+v", len(b.rounds), out)
	}
	if codes := warningCodes(out); codes["one_sided_throttling"] != 1 {
		t.Errorf("warnings %v: only the candidate was slowed down, and nobody says so", codes)
	}
}

func warningCodes(o trial.Outcome) map[string]int {
	codes := map[string]int{}
	for _, w := range o.Warnings {
		codes[w.Code]++
	}
	return codes
}

// A reading that fails may have missed a slowdown.
func TestUnreadableDeviceDropsTheRound(t *testing.T) {
	b := &bench{readErr: errors.New("GPU is lost")}
	out, err := trial.Run(t.Context(), b.plan("candidate", "base"))
	if err != nil || out.State != measure.Throttled || len(b.rounds) != 3 || !strings.Contains(b.rounds[0].Dropped, "GPU is lost") {
		t.Errorf("%d rounds, outcome %+v, %v", len(b.rounds), out, err)
	}
	if codes := warningCodes(out); codes["device_unread"] != 3 || codes["one_sided_throttling"] != 0 {
		t.Errorf("warnings %v", codes)
	}
}

func TestHotDeviceIsWarnedOf(t *testing.T) {
	b := &bench{}
	p := b.plan("candidate")
	p.Watch = func(context.Context) (gpu.State, func() (gpu.State, error), error) {
		return gpu.State{}, func() (gpu.State, error) { return gpu.State{TemperatureC: 81}, nil }, nil
	}
	out, err := trial.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if codes := warningCodes(out); codes["temperature"] != 4 || len(codes) != 1 {
		t.Errorf("warnings %v, want one of temperature a round", codes)
	}
}

func TestBudgets(t *testing.T) {
	tests := []struct {
		name         string
		time         time.Duration
		dollars      float64
		wantRounds   int
		wantState    measure.EndState
		wantInReason string
	}{
		{"none", 0, 0, 8, measure.Complete, ""},
		{"time for five rounds", 11 * time.Second, 0, 5, measure.OverBudget, "time budget of 11s"},
		{"not even one, but one is always measured", time.Second, 0, 1, measure.OverBudget, "time budget"},
		{"money for three rounds", 0, 0.006, 3, measure.OverBudget, "budget of $0.0060"}, // $3.60/h: a round of 2 s is $0.002
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := &bench{}
			p := b.plan("candidate", "base")
			p.Budget, p.Dollars, p.PricePerHour = tt.time, tt.dollars, 3.6
			p.Decide = func(bool) []string { return []string{"a"} }
			out, err := trial.Run(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			if out.Rounds != tt.wantRounds || out.State != tt.wantState || !strings.Contains(out.Reason, tt.wantInReason) {
				t.Errorf("outcome %+v", out)
			}
			if want := float64(2 * out.Rounds); out.Seconds != want || out.Dollars < want*0.001*0.999 || out.Dollars > want*0.001*1.001 {
				t.Errorf("%v s and $%v for %d rounds", out.Seconds, out.Dollars, out.Rounds)
			}
		})
	}
}

func TestBrokenSideEndsTheTrialAndKeepsWhatWasMeasured(t *testing.T) {
	b := &bench{fail: func(side string, round int) error {
		if side == "base" && round == 2 {
			return errors.New("it crashed\nwith details")
		}
		return nil
	}}
	out, err := trial.Run(t.Context(), b.plan("candidate", "base"))
	se, ok := errors.AsType[*trial.SideError](err)
	if !ok || se.Side != "base" {
		t.Fatalf("error %v, want one that names the base", err)
	}
	if out.State != measure.Failed || out.Reason != "base: it crashed" || out.Rounds != 2 {
		t.Errorf("outcome %+v", out)
	}
	last := b.rounds[len(b.rounds)-1]
	if len(b.rounds) != 3 || last.Dropped == "" {
		t.Errorf("%d rounds kept, the last dropped for %q; want the broken one kept and not counted", len(b.rounds), last.Dropped)
	}
}

func TestCancelKeepsFinishedRounds(t *testing.T) {
	b := &bench{}
	ctx, cancel := context.WithCancelCause(t.Context())
	b.fail = func(_ string, round int) error {
		if round == 2 {
			cancel(errors.New("interrupted by the user"))
			return context.Canceled
		}
		return nil
	}
	out, err := trial.Run(ctx, b.plan("candidate", "base"))
	if err == nil || out.State != measure.Interrupted || out.Reason != "after 2 of 4 rounds" || out.Rounds != 2 || len(b.rounds) != 2 {
		t.Errorf("outcome %+v with %d rounds, %v", out, len(b.rounds), err)
	}
}

func TestFailingRecordStopsTheTrial(t *testing.T) {
	b := &bench{}
	p := b.plan("candidate")
	p.Record = func(measure.Round, []measure.Result) error { return errors.New("disk full") }
	if _, err := trial.Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("have %v, want the disk to be full", err)
	}
}
