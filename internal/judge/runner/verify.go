package runner

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/correctness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// verifier compares the results of timed runs with the correct ones. Each reference runs in its own
// process for the whole run.
type verifier struct {
	*fuzz
	log        io.Writer
	references map[string]correctness.Reference // by benchmark

	slack map[string]map[string]correctness.Slack // tolerances, by case and output
}

// newVerifier returns nil if the suite defines no correct results.
func (r *Setup) newVerifier() (*verifier, error) {
	if r.plain() || !slices.ContainsFunc(r.Suite.Benchmarks, func(b suite.Benchmark) bool { return b.Check != nil }) {
		return nil, nil // nothing to compare with is not an error
	}
	f, err := r.searching(FuzzOptions{})
	if err != nil {
		return nil, err
	}
	log, err := r.openLog("oracle.log")
	if err != nil {
		return nil, err
	}
	return &verifier{fuzz: f, log: log, references: map[string]correctness.Reference{}, slack: map[string]map[string]correctness.Slack{}}, nil
}

// verify describes what is wrong with the result of a run; empty if nothing is.
func (v *verifier) verify(ctx context.Context, c trial.Case, inputs, outputs []tensor.Tensor) (string, error) {
	b := v.Suite.Benchmark(c.Key.Benchmark)
	if b.Check == nil {
		return "", nil
	}
	params, ok := paramsOf(v.Options, c)
	if !ok {
		return "", fmt.Errorf("%s is not a case of the suite", c.Key.Name())
	}
	task := correctness.Task{Benchmark: b.Name, Params: params, Arguments: c.Arguments, Contents: correctness.NewContents(inputs, v.tensors)}
	defer task.Contents.Remove()
	list, err := correctness.CompareWithReference(ctx, v.right(b), task, outputs, b.Check.Tolerance)
	if err != nil {
		return "", err
	}
	for _, o := range list {
		if !o.OK {
			return o.Sentence(), nil
		}
		v.recordTolerance(c, o)
	}
	return "", nil
}

// right returns the reference of a benchmark, starting it on first use.
func (v *verifier) right(b suite.Benchmark) correctness.Reference {
	if v.references[b.Name] == nil {
		v.references[b.Name] = v.openReference(b, v.log)
	}
	return v.references[b.Name]
}

// paramsOf returns the parameters of a case in their order.
func paramsOf(o Options, c trial.Case) (suite.Params, bool) {
	for _, config := range o.Suite.Benchmark(c.Key.Benchmark).Configs {
		if config.Name == c.Key.Config {
			return config.Params, true
		}
	}
	return nil, false
}
