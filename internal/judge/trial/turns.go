package trial

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// turn is how long a side measures before the next side's turn. A shared machine
// changes its speed every tenth of a second; sides that alternate much faster than that
// see the same machine. Stopping and continuing a side takes about 1 ms.
const turn = 8 * time.Millisecond

// canTakeTurns reports whether the sides of a round can run concurrently and measure in
// turns: only harnesses that speak the protocol can.
func (t *trial) canTakeTurns() bool {
	if !t.Turns || len(t.Sides) < 2 {
		return false
	}
	for _, s := range t.Sides {
		if _, ok := s.Runner.(Sessions); !ok {
			return false
		}
	}
	return true
}

// turns measures a round with the fresh processes of all sides running at once. For each
// case it prepares and warms up every side. Then they measure in turns, AB BA AB BA,
// while the others wait for their next request.
func (t *trial) turns(ctx context.Context, order []int, round *measure.Round) ([]measure.Result, error) {
	table := make([]*participant, len(order))
	freezer := new(harness.Freezer)
	defer freezer.Close()
	for i, n := range order {
		side := t.Sides[n]
		sessions, _ := side.Runner.(Sessions)
		table[i] = &participant{side: side, process: sessions.open(round.Seed, round.Index), cases: casesByName(side.Cases), freezer: freezer}
		table[i].process.tree, table[i].process.heat = freezer.Tree(side.Name), &t.heat
		defer table[i].process.kill()
	}
	results, err := t.measureCases(ctx, table, round)
	for _, s := range table {
		if err == nil {
			err = s.turn(func() error { return s.process.bye(ctx) })
		}
		round.Sides = append(round.Sides, measure.Side{
			Implementation: s.side.Name, Started: s.began, Seconds: s.spent.Seconds(), Error: s.failure,
		})
	}
	return results, err
}

// participant is a side that takes part in a round of turns.
type participant struct {
	side    Side
	process *process
	cases   map[string]Case
	began   time.Time
	spent   time.Duration
	failure string
	freezer *harness.Freezer
	held    int64 // bytes of the device's memory, as far as the free memory shows
}

// turn lets only the processes of this side run while f runs.
func (s *participant) turn(f func() error) error {
	return s.wrapError(s.freezer.Turn(s.process.tree, f))
}

// wrapError adds the side to an error.
func (s *participant) wrapError(err error) error {
	if err == nil {
		return nil
	}
	s.failure = firstLine(err.Error())
	return &SideError{Side: s.side.Name, Err: err}
}

func casesByName(cases []Case) map[string]Case {
	m := map[string]Case{}
	for _, c := range cases {
		m[c.Key.Name()] = c
	}
	return m
}

func (t *trial) measureCases(ctx context.Context, table []*participant, round *measure.Round) ([]measure.Result, error) {
	var results []measure.Result
	for _, name := range t.sequence(table, round.Cases) {
		got, err := t.measureCase(ctx, table, name, round.Index)
		results = append(results, got...)
		if err != nil {
			return results, err
		}
	}
	return results, nil
}

// sequence returns the round's order of cases, grouped by command. The first side that
// has a case determines its command.
func (t *trial) sequence(table []*participant, names []string) []string {
	commands := map[string]func(Case) harness.Command{}
	var cases []Case
	for _, name := range names {
		for _, s := range table {
			if c, ok := s.cases[name]; ok {
				cases = append(cases, c)
				commands[c.Key.String()] = s.process.Command
				break
			}
		}
	}
	ordered := byCommand(cases, func(c Case) harness.Command { return commands[c.Key.String()](c) })
	out := make([]string, len(ordered))
	for i, c := range ordered {
		out[i] = c.Key.Name()
	}
	return out
}

// measureCase measures one case on every side that has it.
func (t *trial) measureCase(ctx context.Context, table []*participant, name string, round int) ([]measure.Result, error) {
	var playing []*participant
	states := map[*participant]*measure.CaseRound{}
	longest := 0.0
	for _, s := range table {
		c, ok := s.cases[name]
		if !ok {
			continue
		}
		if s.began.IsZero() {
			s.began = t.Now()
		}
		s.process.warmCore = t.startingCore(name, round)
		cr, err := t.prepare(ctx, table, s, c)
		if err != nil {
			return nil, err
		}
		states[s] = &cr
		if cr.Error == "" {
			playing = append(playing, s)
		}
	}
	pair(playing, states)
	core := t.shareCore(name, round, playing)
	for _, s := range playing {
		longest = max(longest, stats.Median(states[s].Warmup)*float64(max(s.process.batch, 1)))
	}
	if err := t.takeTurns(ctx, slices.Clone(playing), states, name, longest); err != nil {
		return nil, err
	}
	for _, s := range playing {
		if err := s.timed(t.Now, func() error { return s.process.use(ctx, states[s]) }); err != nil {
			return nil, err
		}
	}
	for _, s := range playing { // after all have measured, because checking uses the machine
		if err := s.timed(t.Now, func() error { return s.process.checkCase(ctx, s.cases[name], states[s]) }); err != nil {
			return nil, err
		}
	}
	if err := checkStayedStopped(table, states); err != nil {
		return nil, err
	}
	var results []measure.Result
	for _, s := range table {
		if cr := states[s]; cr != nil {
			cr.Round = round
			if core >= 0 {
				cr.Core = &core
			}
			result := measure.Result{Case: s.cases[name].Key, Round: *cr, Sums: s.process.check.sums, Values: s.process.values}
			results = append(results, result)
			t.Emit(CaseMeasured{Round: round, Side: s.side.Name, Result: result})
		}
	}
	return results, nil
}

// pair gives the samples of all sides the same number of runs, so that they use the same inputs.
func pair(playing []*participant, states map[*participant]*measure.CaseRound) {
	batch, scored := 0, math.MaxInt
	for _, s := range playing {
		batch, scored = max(batch, states[s].Batch), min(scored, s.process.scored.maxRuns)
	}
	for _, s := range playing {
		s.process.setRuns(batch, batch)
		s.process.scored.maxRuns, s.process.scored.paired = scored, true
	}
}

// takeTurns lets each side measure a few samples per turn, and reverses the order after
// each pass.
func (t *trial) takeTurns(ctx context.Context, playing []*participant, states map[*participant]*measure.CaseRound, name string, longest float64) error {
	for len(playing) > 0 {
		for _, s := range playing {
			c, cr := s.cases[name], states[s]
			n := min(TurnSamples(longest), s.process.samples-len(cr.Samples))
			cr.SamplesPerTurn = max(cr.SamplesPerTurn, n)
			if err := s.timed(t.Now, func() error { return s.process.take(ctx, c, cr, n) }); err != nil {
				return err
			}
		}
		playing = slices.DeleteFunc(playing, func(s *participant) bool {
			return states[s].Error != "" || len(states[s].Samples) >= s.process.samples
		})
		slices.Reverse(playing)
	}
	return nil
}

// TurnSamples returns how many samples that take so many nanoseconds fit in a turn. All sides
// of a round take the same number, so that its turns can be paired.
func TurnSamples(sample float64) int {
	if sample <= 0 {
		return 1
	}
	return max(1, int(float64(turn.Nanoseconds())/sample))
}

func (s *participant) timed(now func() time.Time, f func() error) error {
	began := now()
	err := s.turn(f)
	s.spent += now().Sub(began)
	return err
}
