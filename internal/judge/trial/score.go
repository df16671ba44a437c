package trial

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet/integrity"
	"github.com/goatnote-inc/pawl/stats"
)

// ScoreSamples is how many slopes a round takes of a scored case. Statistics count rounds,
// not slopes.
const ScoreSamples = 8

// A scored process runs on inputs it has not seen, and must write every result before its
// reply counts, so that it cannot do less than the work. These limits bound one slope.
const (
	scoreBytes = 64 << 20 // tensor bytes per slope
	scoreTime  = 20e6     // target time of the largest reading, in nanoseconds
)

// scored is the state of a scored case, for which the process's own clock is not trusted.
type scored struct {
	maxRuns int  // max runs per reading
	paired  bool // another side takes the same readings on the same inputs
}

// scoredRun is one run: the seed of its inputs, and the file with its result.
type scoredRun struct {
	seed   uint64
	output string
}

// readyScored warms up and estimates how long a run takes.
func (p *process) readyScored(ctx context.Context, c Case, cr *measure.CaseRound) error {
	p.scored = scored{maxRuns: outsideSizes * 2}
	for range max(c.Warmup, warmChunk) {
		took, _, err := p.scoredRead(ctx, c, p.Doubt.Secret, 0, 1)
		if err != nil {
			return err
		}
		cr.Warmup = append(cr.Warmup, took)
	}
	p.scored.maxRuns = int(max(scoreTime/stats.Median(cr.Warmup), 2*outsideSizes))
	if bytes := tensorBytes(c.Arguments...); bytes > 0 {
		p.scored.maxRuns = max(min(p.scored.maxRuns, 2*scoreBytes/(outsideSizes*bytes)), integrity.MinSizes)
	}
	cr.Outside = &measure.OutsideTiming{Clock: measure.TimerWall}
	return nil
}

// takeScored adds one slope and checks all results of it. Its requests are the same on both sides
// of a round, and drawn from a secret.
func (p *process) takeScored(ctx context.Context, c Case, cr *measure.CaseRound) error {
	drawn := rand.New(rand.NewChaCha8(p.Doubt.Draw(p.round, c, fmt.Sprintf("slope %d", len(cr.Samples)))))
	o := measure.OutsideTiming{Clock: cr.Outside.Clock}
	var runs []scoredRun
	for i, k := range sizes(drawn, float64(p.scored.maxRuns)*outsideSizes/2) {
		took, list, err := p.scoredRead(ctx, c, drawn, i, k)
		if err != nil {
			return err
		}
		o.Runs, o.Times = append(o.Runs, k), append(o.Times, took)
		runs = append(runs, list...)
	}
	cr.Outside.Runs, cr.Outside.Times = append(cr.Outside.Runs, o.Runs...), append(cr.Outside.Times, o.Times...)
	line, _ := integrity.Fit(&o)
	cr.Samples = append(cr.Samples, max(line.Run, 1)) // the fit over all readings catches a value below one nanosecond
	cr.Batch = 1
	return p.checkScored(ctx, c, cr, runs)
}

// scoredRead asks for runs, each on unique inputs. It removes the files of earlier runs
// first.
func (p *process) scoredRead(ctx context.Context, c Case, drawn *rand.Rand, reading, k int) (float64, []scoredRun, error) {
	ask := harness.Run{Iterations: k, Poison: drawn.Uint64()}
	var runs []scoredRun
	for i := range k {
		in := filepath.Join(p.Doubt.Dir, fmt.Sprintf("in-%d-%d.safetensors", reading, i))
		out := filepath.Join(p.Doubt.Dir, fmt.Sprintf("out-%d-%d.safetensors", reading, i))
		run := scoredRun{seed: drawn.Uint64(), output: out}
		inputs, err := p.Doubt.Inputs(c, run.seed)
		if err != nil {
			return 0, nil, err
		}
		for _, path := range []string{in, out} {
			if err := os.RemoveAll(path); err != nil {
				return 0, nil, fmt.Errorf("cannot remove an earlier file: %w", err)
			}
		}
		if err := tensor.Save(in, inputs); err != nil {
			return 0, nil, err
		}
		runs = append(runs, run)
		ask.Inputs, ask.Outputs = append(ask.Inputs, in), append(ask.Outputs, out)
	}
	took, err := p.read(ctx, measure.TimerWall, ask)
	return took, runs, err
}

// checkScored reads the outputs of every run of a slope, for the comparison with the other side, and
// compares one of them with the oracle. The process could not know which one. For it, pawl creates the
// inputs again, in case the process changed their file.
func (p *process) checkScored(ctx context.Context, c Case, cr *measure.CaseRound, runs []scoredRun) error {
	key := p.Doubt.Draw(p.round, c, "signs")
	compared := p.Doubt.Secret.IntN(len(runs))
	blocks := 0
	for _, a := range c.Arguments {
		if a.Role == tensor.Out || a.Role == tensor.InOut {
			blocks += harness.SumBlocks
		}
	}
	sums := make([]float64, blocks*harness.BlockSums)
	for i, run := range runs {
		outputs, unread := tensor.Load(run.output, resultLimit(c))
		if unread != nil {
			*cr = measure.CaseRound{Error: "a run left no result: " + unread.Error(), Samples: measure.Samples{}}
			return nil //nolint:nilerr // it is the process's fault, and said
		}
		wrong := ""
		if unlike := p.Doubt.Sum(c, sums, outputs, i, len(runs), binary.LittleEndian.Uint64(key[:])); unlike != nil {
			wrong = unlike.Error()
		} else if i == compared {
			inputs, err := p.Doubt.Inputs(c, run.seed)
			if err == nil {
				wrong, err = p.Doubt.Verify(ctx, c, inputs, outputs)
			}
			if err != nil {
				return fmt.Errorf("cannot compare a result of %s: %w", c.Key.Name(), err)
			}
			cr.Verified++
		}
		if wrong != "" {
			*cr = measure.CaseRound{Error: WrongResult + wrong, Samples: measure.Samples{}}
			return nil
		}
	}
	if p.scored.paired {
		p.check.sums = append(p.check.sums, sums...)
	}
	return nil
}

// resultLimit bounds the bytes of a file with tensors of a case.
func resultLimit(c Case) int64 {
	limit := int64(1 << 20)
	for _, a := range c.Arguments {
		n := int64(tensorBytes(a))
		if len(a.Strides) > 0 { // gaps need storage too
			n *= 4
		}
		limit += n
	}
	return limit
}

// tensorBytes returns the size of the tensors that a run reads and writes.
func tensorBytes(arguments ...tensor.Argument) int {
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
