package trial

import (
	"context"
	"errors"
	"time"

	"github.com/goatnote-inc/pawl/internal/harness"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// Warm-up ends when the kernel is steady; these bound it.
const (
	warmBusy      = 300 * time.Millisecond // a device needs this long under load to raise its clocks
	warmChunk     = 10                     // samples between two tests for steadiness
	warmMost      = 10                     // times the least number of warm-up samples
	warmTolerance = 0.01
)

// Sessions is a Runner for harnesses that speak the protocol. Cases whose
// harness command differs (because a parameter is compiled in) run in processes of
// their own, one after the other.
type Sessions struct {
	Command func(Case) harness.Command
	Hello   harness.Hello
	// Met is told what each harness says of itself; may be nil.
	Met func(harness.Welcome)
}

// Round measures the cases of one side in fresh processes.
func (s Sessions) Round(ctx context.Context, r Request) ([]measure.Result, error) {
	var results []measure.Result
	for _, group := range groupByCommand(r.Cases, s.Command) {
		got, err := s.process(ctx, r, group)
		results = append(results, got...)
		if err != nil {
			return results, err
		}
	}
	return results, nil
}

type commandGroup struct {
	command harness.Command
	cases   []Case
}

func groupByCommand(cases []Case, command func(Case) harness.Command) []commandGroup {
	var groups []commandGroup
	index := map[string]int{}
	for _, c := range cases {
		cmd := command(c)
		key := cmd.Dir + "\x00" + cmd.Line
		i, ok := index[key]
		if !ok {
			i = len(groups)
			index[key] = i
			groups = append(groups, commandGroup{command: cmd})
		}
		groups[i].cases = append(groups[i].cases, c)
	}
	return groups
}

func (s Sessions) process(ctx context.Context, r Request, g commandGroup) ([]measure.Result, error) {
	session, err := harness.Start(ctx, g.command, s.Hello)
	if err != nil {
		return nil, err
	}
	defer session.Kill()
	if s.Met != nil {
		s.Met(session.Welcome)
	}
	var results []measure.Result
	for i, c := range g.cases {
		busy := warmBusy
		if i > 0 {
			busy = 0 // the device is warm already; whether the kernel is, is detected
		}
		cr, err := measureCase(ctx, session, c, r.Seed, busy)
		if e, ok := errors.AsType[*harness.Error](err); ok && !e.Broken() {
			cr, err = measure.CaseRound{Error: e.Detail, Samples: measure.Samples{}}, nil
		}
		if err != nil {
			return results, err
		}
		cr.Round = r.Round
		result := measure.Result{Case: c.Key, Round: cr}
		results = append(results, result)
		r.Measured(result)
	}
	return results, session.Bye(ctx)
}

func measureCase(ctx context.Context, session *harness.Session, c Case, seed uint64, busy time.Duration) (measure.CaseRound, error) {
	prepared, err := session.Prepare(ctx, harness.Prepare{
		Benchmark: c.Key.Benchmark, Implementation: c.Implementation, Params: c.Params,
		Cache: cacheOf(c.Key), Timer: c.Timer, Seed: seed, Bytes: c.Bytes,
	})
	if err != nil {
		return measure.CaseRound{}, err
	}
	warm, steady, err := warmUp(ctx, session, c, prepared.Quantum, busy)
	if err != nil {
		return measure.CaseRound{}, err
	}
	m, err := session.Measure(ctx, c.Key.Name(), harness.Measure{Samples: c.Samples})
	if err != nil {
		return measure.CaseRound{}, err
	}
	return measure.CaseRound{
		Batch: m.Batch, Quantum: prepared.Quantum, Warmup: warm, Samples: m.Samples,
		Wall: m.Wall, CPU: m.CPU, Clocks: m.Clocks, Unsteady: !steady, Note: m.Note,
	}, nil
}

// warmUp runs a case until it is steady, at least as often as the plan says.
func warmUp(ctx context.Context, session *harness.Session, c Case, quantum float64, busy time.Duration) (measure.Samples, bool, error) {
	var warm measure.Samples
	for len(warm) < warmMost*max(c.Warmup, warmChunk) {
		ask := harness.Measure{Samples: warmChunk, Warmup: true}
		if len(warm) == 0 {
			ask.Samples, ask.Busy = max(c.Warmup, 1), busy.Nanoseconds()
		}
		m, err := session.Measure(ctx, "warm-up of "+c.Key.Name(), ask)
		if err != nil {
			return nil, false, err
		}
		warm = append(warm, m.Samples...)
		if stats.Steady(warm, warmChunk, warmTolerance, quantum) {
			return warm, true, nil
		}
	}
	return warm, false, nil
}

func cacheOf(k measure.CaseKey) measure.Cache {
	if k.Cache == measure.Cold {
		return measure.Cold
	}
	return measure.Hot
}
