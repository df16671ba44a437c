package runner

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/correctness"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// tuneJudge checks a point's results before it is measured. The correct results do not depend on
// the point, so they are computed once.
type tuneJudge struct {
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

// openJudge creates the judge, if the suite defines correct results.
func (t *tuner) openJudge(ctx context.Context) error {
	b := t.benchmark
	if b.Check == nil {
		t.unchecked = "the suite does not define correct results: add check to " + b.Name
		return nil
	}
	f, err := t.searching(FuzzOptions{})
	if err != nil {
		return err
	}
	if name := b.Check.Implementation; name != "" {
		to := target{Benchmark: b}
		for _, p := range t.checkedConfigs() {
			to.points = append(to.points, correctness.Point{Params: p})
		}
		if err := f.buildImplementation(ctx, name, to, io.Discard); err != nil {
			return &trial.SideError{Side: name, Err: err}
		}
	}
	log, err := t.log("oracle.log")
	if err != nil {
		return err
	}
	t.atEnd(func(context.Context) error { return log.Close() })
	reference, end := f.reference(b, log)
	t.atEnd(func(ctx context.Context) error {
		_ = end(ctx) // how it ends does not affect results
		return nil
	})
	t.judge = &tuneJudge{check: b.Check, tensors: f.tensors, right: cachedReference{reference, map[*correctness.Contents]correctness.Expected{}}}
	for i, p := range t.checkedConfigs() {
		arguments, err := b.Arguments(p)
		if err != nil {
			return err
		}
		inputs, err := correctness.Inputs(arguments, b.Check.Inputs[i%len(b.Check.Inputs)], t.Seed+uint64(i))
		if err != nil {
			return err
		}
		task := correctness.Task{Benchmark: b.Name, Params: p, Arguments: arguments, Contents: correctness.NewContents(inputs, f.tensors), Poison: t.Seed}
		t.judge.tasks = append(t.judge.tasks, task)
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
func (j *tuneJudge) dropUnsupported(ctx context.Context, b suite.Benchmark, session *harness.Session) error {
	var can []correctness.Task
	for _, task := range j.tasks {
		_, err := j.run(ctx, b, session, task)
		if errors.Is(err, correctness.ErrUnsupported) {
			continue
		}
		if err != nil {
			return err
		}
		can = append(can, task)
	}
	j.tasks = can
	return nil
}

// look describes what is wrong with the results of a point; empty if nothing is.
func (j *tuneJudge) look(ctx context.Context, b suite.Benchmark, session *harness.Session) (string, error) {
	for _, task := range j.tasks {
		got, err := j.run(ctx, b, session, task)
		if errors.Is(err, correctness.ErrUnsupported) {
			return fmt.Sprintf("it does not support {%s}: %v", task.Params, err), nil
		}
		if err != nil {
			return "", err
		}
		list, err := correctness.CompareWithReference(ctx, j.right, task, got, j.check.Tolerance)
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
func (j *tuneJudge) run(ctx context.Context, b suite.Benchmark, session *harness.Session, task correctness.Task) ([]tensor.Tensor, error) {
	var err error
	if task.Arguments, err = b.Arguments(task.Params); err != nil { // sizes may depend on the point
		return nil, err
	}
	subject := &correctness.HarnessSubject{
		Implementation: suite.Candidate, Complete: b.Complete,
		Process: correctness.Process{Dir: j.tensors, Start: func(context.Context) (*harness.Session, error) { return session, nil }},
	}
	return subject.Run(ctx, task)
}
