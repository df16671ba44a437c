package trial

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/goatnote-inc/pawl/internal/harness"
	"github.com/goatnote-inc/pawl/internal/integrity"
	"github.com/goatnote-inc/pawl/internal/tensor"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// ScoreSamples is how many slopes a round takes of a scored case; rounds are what is
// counted.
const ScoreSamples = 8

// A process that times itself is asked for runs on inputs that it has not seen, and
// has to leave every result before its answer counts: it can do no less than the work.
const (
	scoreBytes = 64 << 20 // of tensors between a request and its answer
	scoreTime  = 20e6     // nanoseconds that the largest reading should take
)

// scored is a case on its way in a process that is not believed.
type scored struct {
	fresh func(seed uint64, path string) error // writes inputs that no run has seen
	most  int                                  // runs in a reading
	last  harness.Run                          // the reading that was asked for last
}

// readyScored makes fresh inputs for the case and learns how long a run takes.
func (p *process) readyScored(ctx context.Context, c Case, cr *measure.CaseRound) error {
	fresh, err := p.Doubt.Inputs(c, p.Doubt.Secret.Uint64())
	if err != nil {
		return err
	}
	p.scored = scored{fresh: fresh, most: outsideSizes * 2}
	for range max(c.Warmup, warmChunk) {
		took, err := p.scoredRead(ctx, 1)
		if err != nil {
			return err
		}
		cr.Warmup = append(cr.Warmup, took)
	}
	p.scored.most = int(max(scoreTime/stats.Median(cr.Warmup), 2*outsideSizes))
	if bytes := tensorBytes(c.Arguments); bytes > 0 {
		p.scored.most = max(min(p.scored.most, scoreBytes/bytes), integrity.LeastSizes)
	}
	cr.Outside = &measure.Outside{Clock: measure.TimerWall}
	return nil
}

// takeScored adds one slope, and compares one of the results it took.
func (p *process) takeScored(ctx context.Context, c Case, cr *measure.CaseRound) error {
	o := measure.Outside{Clock: cr.Outside.Clock}
	for _, k := range sizes(p.Doubt.Secret, float64(p.scored.most)*outsideSizes/2) {
		took, err := p.scoredRead(ctx, k)
		if err != nil {
			return err
		}
		o.Runs, o.Times = append(o.Runs, k), append(o.Times, took)
	}
	cr.Outside.Runs, cr.Outside.Times = append(cr.Outside.Runs, o.Runs...), append(cr.Outside.Times, o.Times...)
	line, _ := integrity.Fit(&o)
	cr.Samples = append(cr.Samples, max(line.Run, 1)) // what is below one nanosecond is found out by the line of all
	cr.Batch = 1
	return p.compareOne(ctx, c, cr, o.Runs[len(o.Runs)-1])
}

// scoredRead asks for runs, each on inputs that no other has. What earlier ones left is
// taken away.
func (p *process) scoredRead(ctx context.Context, k int) (float64, error) {
	p.scored.last = harness.Run{Iterations: k, Poison: p.Doubt.Secret.Uint64()}
	for i := range k {
		in, out := filepath.Join(p.Doubt.Dir, fmt.Sprintf("in-%d.safetensors", i)), filepath.Join(p.Doubt.Dir, fmt.Sprintf("out-%d.safetensors", i))
		if err := p.scored.fresh(p.Doubt.Secret.Uint64(), in); err != nil {
			return 0, err
		}
		if err := os.RemoveAll(out); err != nil {
			return 0, fmt.Errorf("take an earlier result away: %w", err)
		}
		p.scored.last.Inputs, p.scored.last.Outputs = append(p.scored.last.Inputs, in), append(p.scored.last.Outputs, out)
	}
	return p.read(ctx, measure.TimerWall, p.scored.last)
}

// compareOne looks at the result of one run of the last reading; which, the process
// could not know when it made them.
func (p *process) compareOne(ctx context.Context, c Case, cr *measure.CaseRound, k int) error {
	if p.Doubt.Verify == nil {
		return nil
	}
	i := p.Doubt.Secret.IntN(k)
	outputs, missing := snapshot(p.Doubt.Dir, filepath.Base(p.scored.last.Outputs[i]), int64(tensorBytes(c.Arguments))+1<<20)
	if missing != nil {
		*cr = measure.CaseRound{Error: "a run left no result: " + missing.Error(), Samples: measure.Samples{}}
		return nil //nolint:nilerr // it is the process's fault, and said
	}
	wrong, err := p.Doubt.Verify(ctx, c, p.scored.last.Inputs[i], outputs)
	switch {
	case err != nil:
		return fmt.Errorf("compare a result of %s: %w", c.Key.Name(), err)
	case wrong != "":
		*cr = measure.CaseRound{Error: WrongResult + wrong, Samples: measure.Samples{}}
	default:
		cr.Verified++
	}
	return nil
}

// tensorBytes is what a run reads and leaves.
func tensorBytes(arguments []tensor.Argument) int {
	total := 0
	for _, a := range arguments {
		n := a.DType.Size()
		for _, s := range a.Shape {
			n *= s
		}
		total += n
	}
	return total
}
