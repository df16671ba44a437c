package tuning

import (
	"errors"
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/tune"
	"github.com/goatnote-inc/pawl/measure"
)

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
		p.policy = tune.ProofPolicy(runner.Policy(s), len(p.proof.Finalists))
		p.proof.Rounds, p.proof.Seconds = claimed.Rounds, run.End.Seconds
		p.judge(run)
	}
	p.conclude()
	return &p.proof, nil
}
