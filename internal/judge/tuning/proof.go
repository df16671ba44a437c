package tuning

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/internal/judge/ledger"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/tune"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// ProofOptions describe how to prove the result of a search. The suite, the
// device and the seed are in runner.Options.
type ProofOptions struct {
	Budget time.Duration  // total time; 0 for no limit
	Fuzz   time.Duration  // time to search for wrong results of each finalist; 0 for none
	Ledger *ledger.Ledger // also measure its baseline's commit; nil for none
}

// finalistSides are the names of the finalists' sides, best of the search first. Three are enough not to miss the best
// one behind a lucky winner.
var finalistSides = []string{"best", "second", "third"}

// Prove measures the best few points of a search again, beside the defaults, in rounds of fresh
// processes and on every config of the benchmark. It does not use the search's own times: the best
// of many looks better than it is. If it fails, it also returns the proof so far.
func Prove(ctx context.Context, o runner.Options, found *tune.Report, what ProofOptions) (*tune.Proof, error) {
	o = o.WithDefaults()
	p := &prover{ProofOptions: what, found: found, startedAt: o.Now()}
	if err := p.chooseFinalists(ctx, o); err != nil {
		return nil, err
	}
	if len(p.proof.Finalists) == 0 {
		p.conclude()
		return &p.proof, nil
	}
	err := p.measure(ctx)
	p.proof.Seconds = p.Now().Sub(p.startedAt).Seconds()
	return &p.proof, err
}

// prover is the state of a proof.
type prover struct {
	runner.Options
	ProofOptions
	found     *tune.Report
	proof     tune.Proof
	benchmark suite.Benchmark
	policy    ratchet.Policy
	suites    map[string]*suite.Suite // by side
	startedAt time.Time
}

// chooseFinalists chooses the finalists and the sides to compare them with.
func (p *prover) chooseFinalists(ctx context.Context, o runner.Options) (err error) {
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return fmt.Errorf("cannot find the suite's folder: %w", err)
	}
	name := benchmarkIn(o.Suite, p.found.Header.Case)
	if o.Suite, err = o.Suite.Tuned(name, nil); err != nil {
		return &runner.UsageError{Err: err}
	}
	o.Case, o.Names, o.Base, o.ForceMeasure = "", nil, "", true
	o.Results, o.Out = o.Out, filepath.Join(filepath.Dir(p.found.Journal), "proof.json")
	if p.Ledger != nil {
		state, err := p.Ledger.Read(ctx)
		if err != nil {
			return err
		}
		o.Baseline = runner.BaselineCommit(state.Baselines)
	}
	o.Built, o.Decide = p.ready, p.decide
	p.Options, p.benchmark = o, o.Suite.Benchmarks[0]
	p.suites = map[string]*suite.Suite{}
	for i, e := range finalists(p.found, len(finalistSides)) {
		if e.Value >= p.found.Default.Value {
			break // slower points need no proof
		}
		side := finalistSides[i]
		if p.suites[side], err = o.Suite.Tuned(name, e.Point); err != nil {
			return err
		}
		p.proof.Finalists = append(p.proof.Finalists, tune.Finalist{N: e.N, Point: e.Point, Side: side})
	}
	p.fit()
	p.policy = tune.ProofPolicy(o.Suite.JudgePolicy(), len(p.proof.Finalists))
	return nil
}

// finalists returns the best n points of a search, best first, without the default. A proof must
// measure them again, because the best of many looks better than it is.
func finalists(found *tune.Report, n int) []tune.Evaluation {
	ranked := slices.DeleteFunc(tune.Ranked(found.Evaluations), func(e tune.Evaluation) bool { return e.N == 0 || e.Lost })
	return ranked[:min(n, len(ranked))]
}

// fit drops what the budget has no time for: finalists first, then the other configs. An answer
// about one point on one config is better than none about everything.
func (p *prover) fit() {
	budget, all := p.ProofOptions.Budget.Seconds(), len(p.proof.Finalists)
	if budget <= 0 || all == 0 {
		return
	}
	// Each process starts, warms up, is measured in turns with the others, and has one result checked.
	each := 0.5 + 2*p.found.Default.Measure
	finalists, one := tune.Fit(all, len(p.benchmark.Configs), p.Suite.Measure.Rounds[0], each, budget)
	p.proof.Finalists = p.proof.Finalists[:finalists]
	switch {
	case one:
		p.Names = []string{p.found.Header.Case}
		p.proof.Reduced = fmt.Sprintf("%d of %d finalists were measured, and only on %s: the budget allows no more", finalists, all, p.found.Header.Case)
	case finalists < all:
		p.proof.Reduced = fmt.Sprintf("%d of %d finalists were measured: the budget allows no more", finalists, all)
	}
}

// benchmarkIn returns the name of the benchmark that a case belongs to.
func benchmarkIn(s *suite.Suite, name string) string {
	for _, c := range s.Cases() {
		if c.Name() == name {
			return c.Benchmark
		}
	}
	return name
}

// measure runs the rounds. If a finalist fails, it is dropped and the others are measured again:
// a point that crashes on another config must not hide one that does not.
func (p *prover) measure(ctx context.Context) error {
	for {
		p.Points = nil
		for _, f := range p.proof.Finalists {
			if f.ResultError == "" {
				p.Points = append(p.Points, runner.Point{Side: f.Side, Suite: p.suites[f.Side]})
			}
		}
		res, err := runner.Run(ctx, p.Options)
		broke, ok := errors.AsType[*trial.SideError](err)
		if f := p.finalist(broke); ok && f != nil && ctx.Err() == nil {
			f.ResultError = oneLine(broke.Err.Error())
			if p.left() > 0 {
				continue
			}
			err = nil
		}
		if res.Path != "" {
			p.proof.Record, p.proof.Rounds = res.Path, res.Outcome.Rounds
			run, loadErr := measure.Load(res.Path)
			if loadErr != nil {
				return errors.Join(err, loadErr)
			}
			p.judge(run)
		}
		p.conclude()
		if errors.Is(err, errNoFinalist) {
			return nil
		}
		return err
	}
}

// finalist returns the finalist whose side failed; nil for any other side.
func (p *prover) finalist(e *trial.SideError) *tune.Finalist {
	if e == nil {
		return nil
	}
	i := slices.IndexFunc(p.proof.Finalists, func(f tune.Finalist) bool { return f.Side == e.Side })
	if i < 0 {
		return nil
	}
	return &p.proof.Finalists[i]
}

// left counts the finalists with no known failure.
func (p *prover) left() int {
	n := 0
	for _, f := range p.proof.Finalists {
		if f.ResultError == "" {
			n++
		}
	}
	return n
}

// decide asks the judge which configs need more rounds: those still undecided for any finalist.
func (p *prover) decide(seen *measure.Run, over bool) []string {
	if over {
		return nil
	}
	var questions [][]ratchet.Evidence
	for _, f := range p.proof.Finalists {
		if f.ResultError == "" {
			questions = append(questions, p.evidence(seen, runner.DefaultSide, f.Side))
		}
	}
	return ratchet.MoreRounds(p.policy, questions...)
}

// evidence compares the times of two sides on the cases that both have.
func (p *prover) evidence(run *measure.Run, base, candidate string) []ratchet.Evidence {
	list := ratchet.Gather([]*measure.Run{run}, []*measure.Run{run}, base, candidate)
	return slices.DeleteFunc(list, func(e ratchet.Evidence) bool {
		return e.Case.Metric != "" || !e.HasBase || !e.HasCandidate
	})
}

// judge compares every finalist with the defaults, and with the baseline if there is one.
func (p *prover) judge(run *measure.Run) {
	tuned := p.found.Header.Case
	for _, im := range run.Implementations {
		if im.Name == runner.BaselineSide {
			p.proof.Baseline = im.Commit
		}
	}
	for i := range p.proof.Finalists {
		f := &p.proof.Finalists[i]
		judged := map[string]tune.Comparison{}
		for _, j := range ratchet.Judge(p.policy, p.evidence(run, runner.DefaultSide, f.Side)).Cases {
			judged[j.Name] = tune.NewComparison(j)
			if j.Verdict == ratchet.Broken && f.ResultError == "" {
				f.ResultError = j.Name + ": " + j.Sentence
			}
		}
		f.Cases = nil
		for _, c := range p.benchmark.Configs {
			name := p.caseName(c)
			if ok, why := p.benchmark.Allows(c.Params, f.Point); !ok {
				f.Cases = append(f.Cases, tune.Comparison{Case: name, Excluded: why})
			} else if x, ok := judged[name]; ok {
				f.Cases = append(f.Cases, x)
			}
		}
		if p.proof.Baseline == "" {
			continue
		}
		for _, j := range ratchet.Judge(p.policy, p.evidence(run, runner.BaselineSide, f.Side)).Cases {
			if j.Name == tuned {
				x := tune.NewComparison(j)
				f.Baseline = &x
			}
		}
	}
}

func (p *prover) caseName(c suite.Config) string {
	return measure.CaseKey{Benchmark: p.benchmark.Name, Config: c.Name}.Name()
}

func (p *prover) conclude() {
	var configs []tune.Config
	for _, c := range p.benchmark.Configs {
		configs = append(configs, tune.Config{Case: p.caseName(c), Params: c.Params.Map()})
	}
	p.proof.Conclude(p.found.Header.Case, configs, p.benchmark.Tune.Defaults())
}

// errNoFinalist ends a proof in which every finalist gave wrong results.
var errNoFinalist = errors.New("no finalist gives correct results")

// ready runs between building and measuring: it checks results and sets the rest of the budget.
func (p *prover) ready(ctx context.Context, r *runner.Setup) error {
	if err := p.check(ctx, r); err != nil {
		return err
	}
	if p.ProofOptions.Budget > 0 {
		r.Budget = max(1, p.ProofOptions.Budget-p.Now().Sub(p.startedAt))
	}
	return nil
}

// check searches for wrong results of the finalists before they are measured, on all sizes that the
// suite tries; the search checked only two. Wrong finalists leave the run.
func (p *prover) check(ctx context.Context, r *runner.Setup) error {
	if p.benchmark.Check == nil || p.Fuzz <= 0 {
		return nil
	}
	for i := range p.proof.Finalists {
		f := &p.proof.Finalists[i]
		if f.ResultError != "" || f.Checked > 0 { // already checked, before another one failed
			continue
		}
		reports, err := r.FuzzPoint(ctx, f.Side, p.Fuzz)
		for _, report := range reports {
			f.Checked += report.Passed + report.Failed
			for _, x := range report.Found {
				if f.ResultError == "" {
					f.ResultError = oneLine(fmt.Sprintf("%s/%s: %s", report.Benchmark, suite.ConfigName(x.Smallest.Params), x.Smallest.Reason))
				}
			}
		}
		if err != nil {
			return err
		}
		r.Emit(ProofChecked{Side: f.Side, Point: f.Point, Checked: f.Checked, Wrong: f.ResultError})
		if f.ResultError != "" {
			r.DropPoint(f.Side)
		}
	}
	if p.left() == 0 {
		return errNoFinalist
	}
	return nil
}

// JudgeProof judges a proof again from its samples, with the policy and the space of a suite. So a
// default can change without trusting the conclusions of the machine that measured. From the claim
// it takes only the points, which the suite must contain, and what was found wrong with them.
func JudgeProof(s *suite.Suite, tuned string, claimed *tune.Proof, run *measure.Run) (*tune.Proof, error) {
	name := benchmarkIn(s, tuned)
	own, err := s.Tuned(name, nil)
	if err != nil {
		return nil, err
	}
	p := &prover{found: &tune.Report{Header: tune.Header{Case: tuned}}, benchmark: own.Benchmarks[0]}
	if !slices.ContainsFunc(p.benchmark.Configs, func(c suite.Config) bool { return p.caseName(c) == tuned }) {
		return nil, fmt.Errorf("the suite has no case %.80q", tuned)
	}
	if len(claimed.Finalists) > len(finalistSides) {
		return nil, fmt.Errorf("a proof has at most %d finalists", len(finalistSides))
	}
	for i, f := range claimed.Finalists {
		if f.Side != finalistSides[i] {
			return nil, fmt.Errorf("finalist %d is named %.40q, expected %s", i+1, f.Side, finalistSides[i])
		}
		if _, err := s.Tuned(name, f.Point); err != nil {
			return nil, err
		}
		p.proof.Finalists = append(p.proof.Finalists, tune.Finalist{N: f.N, Point: f.Point, Side: f.Side, ResultError: f.ResultError, Checked: f.Checked})
	}
	switch {
	case run == nil && len(claimed.Finalists) > 0:
		return nil, errors.New("there are no samples of the finalists")
	case run == nil:
	case run.Source == measure.Imported || run.End.State == measure.Failed:
		return nil, fmt.Errorf("its samples cannot be judged: %s, %s", run.Source, run.End.State)
	default:
		p.policy = tune.ProofPolicy(s.JudgePolicy(), len(p.proof.Finalists))
		p.proof.Rounds, p.proof.Seconds = claimed.Rounds, run.End.Seconds
		p.judge(run)
	}
	p.conclude()
	return &p.proof, nil
}
