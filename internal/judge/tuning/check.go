package tuning

import (
	"context"
	"errors"
	"fmt"

	"github.com/goatnote-inc/pawl/internal/kernel/correctness"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// checker checks a point's results before it is measured. The correct results do not depend on
// the point, so they are computed once.
type checker struct {
	check   *suite.Check
	tasks   []correctness.Task
	right   cachedReference
	tensors string
}

// cachedReference is a reference that caches its answer to each task.
type cachedReference struct {
	correctness.Reference
	known map[*correctness.Contents]correctness.Expected
}

// Compute implements oracle.Reference.
func (r cachedReference) Compute(ctx context.Context, t correctness.Task, naive bool) (correctness.Expected, error) {
	if right, ok := r.known[t.Contents]; ok {
		return right, nil
	}
	right, err := r.Reference.Compute(ctx, t, naive)
	if err == nil {
		r.known[t.Contents] = right
	}
	return right, err
}

// openChecker creates the checker, if the suite defines correct results.
func (t *tuner) openChecker(ctx context.Context) error {
	b := t.benchmark
	if b.Check == nil {
		t.unchecked = "the suite does not define correct results: add check to " + b.Name
		return nil
	}
	configs := t.checkedConfigs()
	reference, tensors, err := t.Reference(ctx, b, configs)
	if err != nil {
		return err
	}
	t.checker = &checker{check: b.Check, tensors: tensors, right: cachedReference{reference, map[*correctness.Contents]correctness.Expected{}}}
	for i, p := range configs {
		arguments, err := b.Arguments(p)
		if err != nil {
			return err
		}
		inputs, err := correctness.Inputs(arguments, b.Check.Inputs[i%len(b.Check.Inputs)], t.Seed+uint64(i))
		if err != nil {
			return err
		}
		task := correctness.Task{Benchmark: b.Name, Params: p, Arguments: arguments, Contents: correctness.NewContents(inputs, tensors), Poison: t.Seed}
		t.checker.tasks = append(t.checker.tasks, task)
	}
	return nil
}

// checkedConfigs returns the configs whose results are checked: that of the case, and the smallest one that the suite
// tries, whose sizes most likely leave a partial block. Both must run in the process that is measured.
func (t *tuner) checkedConfigs() []suite.Params {
	list := []suite.Params{t.target.Params}
	cost := correctness.Cost(t.benchmark.Arguments)
	var least suite.Params
	for _, c := range t.benchmark.Check.Fuzz.Configs {
		v, err := t.Suite.VariantFor(suite.Candidate, t.benchmark.Complete(c.Params))
		same := err == nil && v.Build.Key() == t.usual.Build.Key() && v.Harness.Key() == t.usual.Harness.Key()
		if same && c.Params.String() != t.target.Params.String() && (least == nil || cost(c.Params) < cost(least)) {
			least = c.Params
		}
	}
	if least != nil {
		list = append(list, least)
	}
	return list
}

// dropUnsupported drops the tasks that the default does not support: the harness has no checks, or the kernel
// does not support the size.
func (k *checker) dropUnsupported(ctx context.Context, b suite.Benchmark, session *harness.Session) error {
	var can []correctness.Task
	for _, task := range k.tasks {
		_, err := k.run(ctx, b, session, task)
		if errors.Is(err, correctness.ErrUnsupported) {
			continue
		}
		if err != nil {
			return err
		}
		can = append(can, task)
	}
	k.tasks = can
	return nil
}

// look describes what is wrong with the results of a point; empty if nothing is.
func (k *checker) look(ctx context.Context, b suite.Benchmark, session *harness.Session) (string, error) {
	for _, task := range k.tasks {
		got, err := k.run(ctx, b, session, task)
		if errors.Is(err, correctness.ErrUnsupported) {
			return fmt.Sprintf("it does not support {%s}: %v", task.Params, err), nil
		}
		if err != nil {
			return "", err
		}
		list, err := correctness.CompareWithReference(ctx, k.right, task, got, k.check.Tolerance)
		if err != nil {
			return "", err
		}
		for _, c := range list {
			if !c.OK {
				return fmt.Sprintf("{%s}: %s", task.Params, c.Sentence()), nil
			}
		}
	}
	return "", nil
}

// run runs a point once on given inputs, in the process that will be measured.
func (k *checker) run(ctx context.Context, b suite.Benchmark, session *harness.Session, task correctness.Task) ([]tensor.Tensor, error) {
	var err error
	if task.Arguments, err = b.Arguments(task.Params); err != nil { // sizes may depend on the point
		return nil, err
	}
	subject := &correctness.HarnessSubject{
		Implementation: suite.Candidate, Complete: b.Complete,
		Process: correctness.Process{Dir: k.tensors, Start: func(context.Context) (*harness.Session, error) { return session, nil }},
	}
	return subject.Run(ctx, task)
}
