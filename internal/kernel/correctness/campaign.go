package correctness

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// Plan describes what a campaign tries, and its limits.
type Plan struct {
	Benchmark     string
	Arguments     func(suite.Params) ([]tensor.Argument, error)
	Replay        []Failure // tried first
	Points        []Point
	Tolerance     suite.Tolerance
	Deterministic string        // "bitwise", "bounded" or "no": see suite.Check
	Seed          uint64        // seed of the poison; each point has its own seed
	Dir           string        // absolute folder for input files
	Corpus        *Corpus       // stores failures; nil stores none
	Shrink        Budget        // limit for shrinking one failure
	MostShrunk    int           // max failures, of different kinds, to shrink
	Time          time.Duration // no further point is started after it; 0 means no limit
	Memory        int64         // max bytes for the tensors of a point
	Version       string        // version of pawl
	Now           func() time.Time
}

const (
	defaultMemory    = 4 << 30
	defaultMaxShrunk = 3
)

// Run tries all points: first those of the corpus, then those of the plan in their
// order. While the subject works on a point, the reference computes the next one. The
// reference always reads the inputs of a point before the subject sees them. Run calls
// emit from one goroutine. It returns a report even with an error. The error says why the
// campaign ended early: it was interrupted, or nothing more can be tested.
func Run(ctx context.Context, p Plan, s Subject, r Reference, emit func(Event)) (*Report, error) {
	if p.Memory == 0 {
		p.Memory = defaultMemory
	}
	if p.Shrink == (Budget{}) {
		p.Shrink = DefaultBudget
	}
	if p.MostShrunk == 0 {
		p.MostShrunk = defaultMaxShrunk
	}
	c := &campaign{
		Plan: p, subject: s, reference: &serialReference{Reference: r}, emit: emit,
		report: &Report{Benchmark: p.Benchmark, Seed: p.Seed}, kinds: map[string]bool{}, warned: map[string]bool{}, wants: map[string][]tensor.Tensor{},
	}
	began := p.Now()
	err := c.run(ctx, began)
	c.report.Took = p.Now().Sub(began)
	return c.report, err
}

type campaign struct {
	Plan
	subject   Subject
	reference Reference
	emit      func(Event)
	report    *Report

	total         int
	kinds         map[string]bool            // kinds of failures that were shrunk
	warned        map[string]bool            // makes each warning appear once
	wants         map[string][]tensor.Tensor // by config: sampled results of earlier points
	ran, ranTwice float64                    // elements
	poisons       int
}

// serialReference serializes requests to a reference, from preparing the next point and from shrinking.
type serialReference struct {
	Reference
	sync.Mutex
}

func (o *serialReference) Compute(ctx context.Context, t Task, naive bool) (Expected, error) {
	o.Lock()
	defer o.Unlock()
	return o.Reference.Compute(ctx, t, naive)
}

// preparedPoint is a point with its inputs and correct result.
type preparedPoint struct {
	point    Point
	replayed bool
	task     Task
	right    Expected
	skip     string // why it cannot be tried
	err      error  // why nothing more can be tried
}

func (c *campaign) run(ctx context.Context, began time.Time) error {
	points := c.queue()
	c.total = len(points)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ahead := make(chan preparedPoint)
	var wait sync.WaitGroup
	wait.Go(func() {
		defer close(ahead)
		for _, q := range points {
			c.prepare(ctx, &q)
			select {
			case ahead <- q:
			case <-ctx.Done():
				q.discard()
				return
			}
			if q.err != nil {
				return
			}
		}
	})
	defer wait.Wait()
	defer cancel()
	done := 0
	defer func() { c.report.Untried = c.total - done }()
	for q := range ahead {
		if c.Time > 0 && done > 0 && c.Now().Sub(began) >= c.Time {
			q.discard()
			c.warn(fmt.Sprintf("the time limit of %v is reached: %d of %d points were not tried", c.Time, c.total-done, c.total))
			return nil
		}
		err := c.try(ctx, q)
		q.discard()
		if err != nil {
			return err
		}
		done++
	}
	return context.Cause(ctx)
}

// queue returns all points to try, those of the corpus first, without duplicates.
func (c *campaign) queue() []preparedPoint {
	var list []preparedPoint
	seen := map[string]bool{}
	for _, f := range c.Replay {
		if len(c.Points) > 0 && !sameNames(f.Params, c.Points[0].Params) {
			c.warn(fmt.Sprintf("the failure %s of the corpus is skipped: its parameters differ from those of the benchmark", f.name()))
			continue
		}
		if !seen[f.key()] {
			seen[f.key()] = true
			list = append(list, preparedPoint{point: f.Point, replayed: true})
		}
	}
	for _, p := range c.Points {
		if !seen[p.key()] {
			seen[p.key()] = true
			list = append(list, preparedPoint{point: p})
		}
	}
	return list
}

func (c *campaign) warn(text string) {
	if !c.warned[text] {
		c.warned[text] = true
		c.report.Warnings = append(c.report.Warnings, text)
		c.emit(Event{Done: len(c.report.Results), Total: c.total, Warning: text})
	}
}

// prepare creates the inputs of a point and asks the reference for the result.
func (c *campaign) prepare(ctx context.Context, q *preparedPoint) {
	arguments, err := c.Arguments(q.point.Params)
	if err != nil {
		q.skip = err.Error()
		return
	}
	if need := memory(arguments); need > float64(c.Memory) {
		q.skip = fmt.Sprintf("its tensors take %.1f GB; the limit is %.1f GB", need/1e9, float64(c.Memory)/1e9)
		return
	}
	tensors, err := Inputs(arguments, q.point.Inputs, q.point.Seed)
	if err != nil {
		q.skip = err.Error()
		return
	}
	q.task = Task{Benchmark: c.Benchmark, Params: q.point.Params, Arguments: arguments, Contents: NewContents(tensors, c.Dir)}
	q.right, err = expectedOf(ctx, c.reference, q.task, c.Tolerance, q.point.String())
	switch {
	case errors.Is(err, ErrUnsupported):
		q.skip = err.Error()
	case err != nil:
		q.err = err
	}
}

func (q preparedPoint) discard() {
	if q.task.Contents != nil {
		q.task.Contents.Remove()
	}
}

// memory estimates the bytes of a point's tensors: inputs, outputs of two runs, and
// correct and naive results.
func memory(arguments []tensor.Argument) float64 {
	sum := 0.0
	for _, a := range arguments {
		n := elements(a)
		switch a.Role {
		case tensor.In:
			sum += n * float64(a.DType.Size())
		case tensor.Out, tensor.InOut:
			sum += n * float64(8*a.DType.Lanes()+4*a.DType.Size())
		case tensor.Value:
		}
	}
	return sum
}

// elements returns the elements of an argument as a float: a shape from a corpus may overflow.
func elements(a tensor.Argument) float64 {
	n := 1.0
	for i, size := range a.Shape {
		if len(a.Strides) == len(a.Shape) {
			n += float64(size-1) * float64(a.Strides[i])
		} else {
			n *= float64(size)
		}
	}
	return n
}

// Cost returns a function that estimates the work of a config, for ordering points: the
// elements of all its tensors or, without any, the product of its sizes.
func Cost(arguments func(suite.Params) ([]tensor.Argument, error)) func(suite.Params) float64 {
	return func(p suite.Params) float64 {
		list, err := arguments(p)
		if err != nil || len(list) == 0 {
			return volume(p)
		}
		sum := 0.0
		for _, a := range list {
			if a.Role != tensor.Value {
				sum += elements(a)
			}
		}
		return sum
	}
}
