package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// Warm-up ends when the kernel is steady. These constants bound it.
const (
	warmChunk     = 10 // samples between two tests for steadiness
	maxWarmFactor = 10 // multiple of the min number of warm-up samples
	warmTolerance = 0.01
)

// Sessions is a Runner for harnesses that speak the protocol. Cases with different
// harness commands (because a parameter is compiled in) run in separate processes,
// one after the other.
type Sessions struct {
	Command func(Case) harness.Command
	Hello   harness.Hello
	Doubt   *Verification // nil trusts the process
	Work    Work
	Meter   Meter    // nil if the suite lists none of UsageMetrics
	Metrics []string // those of UsageMetrics that the suite lists
}

// Round measures the cases of one side in fresh processes.
func (s Sessions) Round(ctx context.Context, r Request) ([]measure.Result, error) {
	p := s.open(r.Seed, r.Round)
	p.heat = r.heat
	defer p.kill()
	var results []measure.Result
	for _, c := range byCommand(r.Cases, s.Command) {
		cr, err := p.ready(ctx, c)
		if err == nil && cr.Error == "" {
			p.setRuns(r.Batch[c.Key.Name()], cr.Batch)
			err = p.take(ctx, c, &cr, p.samples)
		}
		if err == nil {
			err = p.use(ctx, &cr)
		}
		if err == nil {
			err = p.checkCase(ctx, c, &cr)
		}
		if err != nil {
			return results, err
		}
		result := measure.Result{Case: c.Key, Round: cr, Sums: p.check.sums, Values: p.values}
		results = append(results, result)
		r.Measured(result)
	}
	return results, p.bye(ctx)
}

// byCommand groups cases with the same command, so that each process is started once
// per round.
func byCommand(cases []Case, command func(Case) harness.Command) []Case {
	var order []string
	groups := map[string][]Case{}
	for _, c := range cases {
		key := commandKey(command(c))
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], c)
	}
	var out []Case
	for _, key := range order {
		out = append(out, groups[key]...)
	}
	return out
}

func commandKey(c harness.Command) string {
	return fmt.Sprintf("%q", append([]string{c.Dir, c.Line}, c.Env...))
}

// process is the fresh process of one side in one round. It measures case by case.
type process struct {
	Sessions
	seed    uint64
	round   int
	session *harness.Session // nil before the first case
	key     string           // key of the running command
	lost    int              // consecutive processes lost to a case
	check   caseCheck        // what is checked of the prepared case
	batch   int              // runs per sample, if pawl sets it; 0 means the harness decides
	samples int              // number to take of the prepared case
	values  []measure.Values // other metrics of the prepared case
	scored  scored
	heat    *deviceActivity
	tree    *harness.Tree // its processes; nil if it runs alone
	failure error         // why it refused the last case, or was lost to it; nil if neither

	core     int              // the CPU core that it is bound to; -1 for none
	warmCore int              // the core to warm up on; -1 for none
	work     harness.WorkTime // before the last warm-up
}

func (s Sessions) open(seed uint64, round int) *process {
	return &process{Sessions: s, seed: seed, round: round, core: -1, warmCore: -1}
}

// ready prepares a case and warms it up. If the harness refuses the case, Error has
// the reason. An error means that the process is lost.
func (p *process) ready(ctx context.Context, c Case) (measure.CaseRound, error) {
	if err := p.start(ctx, p.Command(c)); err != nil {
		return measure.CaseRound{}, err
	}
	p.bind(p.warmCore)
	p.batch, p.samples, p.values = 0, c.Samples, nil
	prepared, err := p.session.Prepare(ctx, harness.Prepare{
		Benchmark: c.Key.Benchmark, Implementation: c.Implementation, Params: c.Params,
		Cache: cmp.Or(c.Key.Cache, measure.Hot), Timer: c.Timer, Seed: p.seed, Key: p.inputKey(c), Bytes: c.Bytes,
		Arguments: c.Arguments, Launch: c.Launch,
	})
	if err != nil {
		return p.refused(ctx, err)
	}
	p.drawChecks(c)
	busy := p.heat.warmUpTime() // warmUp also detects whether the kernel is warm
	cr := measure.CaseRound{Quantum: prepared.Quantum, Samples: measure.Samples{}}
	if p.tree != nil {
		p.work = p.tree.WorkTime()
	}
	if p.scores() {
		err = p.readyScored(ctx, c, &cr)
	} else {
		err = p.warmUp(ctx, c, &cr, busy)
	}
	if err != nil {
		return p.refused(ctx, err)
	}
	return cr, nil
}

// start starts the command unless it is already running.
func (p *process) start(ctx context.Context, c harness.Command) error {
	if p.session != nil {
		if p.key == commandKey(c) {
			return nil
		}
		if err := p.bye(ctx); err != nil {
			return err
		}
	}
	c.Tree = p.tree
	session, err := harness.Start(ctx, c, p.Hello)
	if err != nil {
		return err
	}
	p.session, p.key, p.core = session, commandKey(c), -1
	return nil
}

// take adds samples of the prepared case.
func (p *process) take(ctx context.Context, c Case, cr *measure.CaseRound, samples int) error {
	if p.scores() {
		for range samples {
			if err := p.takeScored(ctx, c, cr); err != nil || cr.Error != "" {
				return p.refuse(ctx, cr, err)
			}
		}
		return nil
	}
	m, err := p.session.Measure(ctx, c.Key.Name(), harness.Measure{
		Samples: samples, Keep: p.keepIn(len(cr.Samples), samples), Batch: p.batch, Verify: p.verify(c, len(cr.Samples)),
	})
	if err != nil {
		return p.refuse(ctx, cr, err)
	}
	p.heat.worked()
	p.lost = 0
	if !p.count(&m) {
		*cr = measure.CaseRound{Error: fmt.Sprintf("its harness chose its own number of runs per sample: %d", m.Batch), Samples: measure.Samples{}, Warmup: cr.Warmup, Quantum: cr.Quantum}
		return nil
	}
	p.check.kept = append(p.check.kept, m.Kept...)
	cr.Batch, cr.Note = m.Batch, m.Note
	cr.Samples = append(cr.Samples, m.Samples...)
	cr.Wall = append(cr.Wall, m.Wall...)
	cr.CPU = append(cr.CPU, m.CPU...)
	cr.Clocks = append(cr.Clocks, m.Clocks...)
	p.check.sums = append(p.check.sums, m.Sums...)
	if p.values, err = harness.MergeValues(p.values, m.Values); err != nil {
		*cr = measure.CaseRound{Error: err.Error(), Samples: measure.Samples{}, Warmup: cr.Warmup, Quantum: cr.Quantum}
	}
	return nil
}

// bye ends the process cleanly.
func (p *process) bye(ctx context.Context) error {
	if p.session == nil {
		return nil
	}
	err := p.session.Bye(ctx)
	p.session = nil
	return err
}

func (p *process) kill() {
	if p.session != nil {
		p.session.Kill()
	}
}

// refuse replaces the samples so far by an error: part of a round does not count.
func (p *process) refuse(ctx context.Context, cr *measure.CaseRound, err error) error {
	if err == nil {
		return nil
	}
	failed, err := p.refused(ctx, err)
	if failed.Error != "" {
		failed.Warmup, failed.Quantum = cr.Warmup, cr.Quantum
		*cr = failed
	}
	return err
}

// Lost is the prefix of the error of a case whose process crashed, hung or lost its device.
const Lost = "the process was lost: "

// maxLost is how many consecutive processes may be lost, each to a case. One more ends the run.
const maxLost = 4

// refused turns an error reply, or the loss of the process, into a case without samples. The next
// case then starts a new process. A lost oracle, or a harness that breaks the protocol, is not the
// fault of a case and stays an error.
func (p *process) refused(ctx context.Context, err error) (measure.CaseRound, error) {
	p.failure = err
	e, ok := errors.AsType[*harness.Error](err)
	switch {
	case !ok || ctx.Err() != nil:
	case !e.Broken():
		return measure.CaseRound{Error: e.Detail, Samples: measure.Samples{}}, nil
	case p.session == nil || !p.session.Lost(e) || p.lost == maxLost:
	default:
		p.lost++
		p.kill()
		p.session = nil
		return measure.CaseRound{Error: Lost + inOneLine(e), Samples: measure.Samples{}}, nil
	}
	return measure.CaseRound{}, err
}

// inOneLine returns what happened, what to do about it, and the last line the process printed.
func inOneLine(e *harness.Error) string {
	text := firstLine(e.Error())
	if e.Hint != "" {
		text += "; " + firstLine(e.Hint)
	}
	if printed := strings.TrimSpace(e.Stderr); printed != "" {
		text += "; its last output: " + strings.TrimSpace(printed[strings.LastIndexByte(printed, '\n')+1:])
	}
	return text
}

// warmUp runs a case until it is steady, with at least the planned number of samples.
func (p *process) warmUp(ctx context.Context, c Case, cr *measure.CaseRound, busy time.Duration) error {
	for len(cr.Warmup) < maxWarmFactor*max(c.Warmup, warmChunk) {
		ask := harness.Measure{Samples: warmChunk, Warmup: true}
		if len(cr.Warmup) == 0 {
			ask.Samples, ask.Busy = max(c.Warmup, 1), busy.Nanoseconds()
		}
		m, err := p.session.Measure(ctx, "warm-up of "+c.Key.Name(), ask)
		if err != nil {
			return err
		}
		p.heat.worked()
		cr.Batch = m.Batch
		cr.Warmup = append(cr.Warmup, m.Samples...)
		if stats.Steady(cr.Warmup, warmChunk, warmTolerance, cr.Quantum) {
			return nil
		}
	}
	cr.Unsteady = true
	return nil
}

const (
	warmBusy = 300 * time.Millisecond // time under load that a device needs to raise its clocks
	warmFor  = 100 * time.Millisecond // time without load for which it keeps them
)

// deviceActivity records when the device last worked, for any side. Nil means a device that is always cold.
type deviceActivity struct{ last time.Time }

// warmUpTime returns how long the device must work before it is warm.
func (h *deviceActivity) warmUpTime() time.Duration {
	if h != nil && now().Sub(h.last) < warmFor {
		return 0
	}
	return warmBusy
}

func (h *deviceActivity) worked() {
	if h != nil {
		h.last = now()
	}
}
