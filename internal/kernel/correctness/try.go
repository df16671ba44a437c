package correctness

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// try runs the subject on a point, reports the result, and shrinks a failure. An error
// ends the campaign.
func (c *campaign) try(ctx context.Context, q preparedPoint) error {
	result, err := c.judge(ctx, q, c.repeats(q.task.Arguments))
	if err != nil {
		return err
	}
	if result.Status == Passed {
		c.warnIfWeak(q)
	}
	c.report.add(result)
	c.emit(Event{Done: len(c.report.Results), Total: c.total, Result: &result})
	if result.Status != Failed || c.kinds[result.kind()] || len(c.kinds) >= c.MostShrunk {
		return nil
	}
	c.kinds[result.kind()] = true
	q.discard()
	return c.shrink(ctx, result)
}

// judge runs the subject once or twice and compares the outputs.
func (c *campaign) judge(ctx context.Context, q preparedPoint, twice bool) (Result, error) {
	result := Result{Point: q.point, Replayed: q.replayed, Status: Skipped, Reason: clean(q.skip)}
	if q.err != nil || q.skip != "" {
		return result, q.err
	}
	first, err := c.runOnce(ctx, &q.task, &result)
	if err != nil || first == nil {
		return result, err
	}
	result.Status, result.Reason = Passed, ""
	result.Comparisons = compareOutputs(q.task, first, q.right, c.Tolerance, &q.task.Poison)
	if c.fail(&result, "") || !twice {
		return result, nil
	}
	second, err := c.runOnce(ctx, &q.task, &result)
	if err != nil || second == nil {
		return result, err
	}
	c.compareRuns(q, &result, first, second)
	return result, nil
}

// runOnce runs the subject. If there are no outputs, result says why.
func (c *campaign) runOnce(ctx context.Context, t *Task, result *Result) ([]tensor.Tensor, error) {
	c.poisons++
	t.Poison = derive(c.Seed, "poison", c.poisons)
	began := c.Now()
	list, err := c.subject.Run(ctx, *t)
	result.Took += c.Now().Sub(began)
	if fault, ok := errors.AsType[*FaultError](err); ok {
		result.Status, result.Fault, result.Reason = Failed, fault.Kind, fault.Message
		return nil, nil
	}
	if errors.Is(err, ErrUnsupported) {
		result.Status, result.Reason = Skipped, clean(err.Error())
		return nil, nil
	}
	return list, err
}

// fail marks a result as failed if one of its comparisons failed.
func (c *campaign) fail(result *Result, when string) bool {
	for _, x := range result.Comparisons {
		if !x.OK {
			result.Status, result.Reason = Failed, when+x.Sentence()
			return true
		}
	}
	return false
}

// repeats reports whether to run a point twice. If bitwise determinism is promised, every
// point is. Otherwise all small points are, and others up to a quarter of the total work.
func (c *campaign) repeats(arguments []tensor.Argument) bool {
	const small = 1 << 20
	n := 0.0
	for _, a := range arguments {
		n += elements(a)
	}
	c.ran += n
	switch {
	case c.Deterministic == "no":
		return false
	case c.Deterministic == string(Bitwise) || n <= small || c.ranTwice+n <= c.ran/4:
		c.ranTwice += n
		return true
	}
	return false
}

// compareRuns compares two runs on the same inputs with each other.
func (c *campaign) compareRuns(q preparedPoint, result *Result, first, second []tensor.Tensor) {
	result.Repeated = Bitwise
	var different []Comparison
	for i, a := range outputs(q.task.Arguments) {
		one, two := tensor.Find(first, a.Name), tensor.Find(second, a.Name)
		if two == nil || !bytes.Equal(one.Elements(), two.Elements()) {
			result.Repeated = Bounded
			x := result.Comparisons[i]
			if two != nil {
				exact := Compare(Sides{Want: *one, Got: *two}, Rules{Close: &Close{Matched: 1}})
				x.Wrong, x.Worst, x.MaxAbs = max(exact.Wrong, 1), exact.Worst, exact.MaxAbs
			}
			x.OK, x.Failed = false, RuleDeterministic
			x.Rules = append(x.Rules, RuleResult{Rule: RuleDeterministic, Value: float64(x.Wrong)})
			different = append(different, x)
		}
	}
	if result.Repeated == Bitwise {
		return
	}
	comparisons := result.Comparisons
	result.Comparisons = compareOutputs(q.task, second, q.right, c.Tolerance, &q.task.Poison)
	if c.fail(result, "in the second of two runs on the same inputs: ") {
		return
	}
	result.Comparisons = comparisons
	if c.Deterministic == string(Bitwise) {
		result.Comparisons = different
		c.fail(result, "")
	}
}

// warnIfWeak warns of a point that a wrong kernel would also pass. It skips contents
// that are meant to give the same result everywhere.
func (c *campaign) warnIfWeak(q preparedPoint) {
	switch q.point.Inputs {
	case Normal, Uniform, Large:
	default:
		return
	}
	const mostConfigs = 64
	key := paramsKey(q.point.Params)
	before := c.wants[key]
	if before == nil && len(c.wants) >= mostConfigs {
		return
	}
	var kept []tensor.Tensor
	for _, a := range outputs(q.task.Arguments) {
		want := *tensor.Find(q.right.Want, a.Name)
		rules := RulesFor(c.Tolerance, a.DType, false)
		if why := Weakness(want, a.DType, tensor.Find(before, a.Name), rules); why != "" {
			c.warn(fmt.Sprintf("weak test: output %q of %s: %s", a.Name, suite.ConfigName(q.point.Params), why))
		}
		values := make([]float64, thin(want).Len())
		thin(want).Read(values, 0)
		d := a.DType.Lane()
		sample := tensor.Tensor{Name: a.Name, DType: d, Shape: []int{len(values)}, Data: make([]byte, len(values)*d.Size())}
		tensor.Encode(d, sample.Data, values)
		kept = append(kept, sample)
	}
	c.wants[key] = kept
}

// shrink shrinks a failure and stores it.
func (c *campaign) shrink(ctx context.Context, first Result) error {
	c.emit(Event{Done: len(c.report.Results), Total: c.total, Shrinking: &first.Point})
	failed := map[string]Result{first.key(): first}
	var broken error
	fails := func(ctx context.Context, p Point) bool {
		q := preparedPoint{point: p}
		c.prepare(ctx, &q)
		defer q.discard()
		result, err := c.judge(ctx, q, first.Repeated != "")
		if err != nil {
			broken = err
		} else if result.Status == Failed {
			failed[p.key()] = result
			return true
		}
		return false
	}
	shrunk := Shrink(ctx, first.Point, c.Shrink, c.Now, fails)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	found := ShrunkFailure{First: first, Smallest: failed[shrunk.Point.key()], Evaluations: shrunk.Evaluations, Stopped: shrunk.Stopped}
	again, cancel := context.WithTimeout(ctx, c.Shrink.Time)
	defer cancel()
	found.Again = fails(again, shrunk.Point)
	if broken != nil && !errors.Is(broken, context.DeadlineExceeded) {
		c.warn(fmt.Sprintf("the search for a smaller failure is incomplete: %v", broken))
	}
	if c.Corpus != nil {
		var err error
		found.File, err = c.Corpus.Add(Failure{
			Point: shrunk.Point, Benchmark: c.Benchmark, Rule: found.Smallest.rule(), Message: clean(found.Smallest.Reason),
			Found: c.Now().UTC().Truncate(1e9), Pawl: c.Version,
		})
		if err != nil {
			c.warn(err.Error())
		}
	}
	c.report.Found = append(c.report.Found, found)
	c.emit(Event{Done: len(c.report.Results), Total: c.total, Found: &found})
	return nil
}
