package trial

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/goatnote-inc/pawl/internal/harness"
	"github.com/goatnote-inc/pawl/internal/tensor"
	"github.com/goatnote-inc/pawl/measure"
)

// Doubt is what a trial does because a process may say anything. What it asks, and
// when, is drawn from a secret that no process can foresee.
type Doubt struct {
	Secret *rand.Rand
	Dir    string // for tensors; nobody else's
	// Verify compares what a run left with what is right, and says what is wrong. Nil
	// where the suite does not say what is right.
	Verify func(ctx context.Context, c Case, inputs, outputs []tensor.Tensor) (wrong string, err error)
	// Checked reports whether the suite says what is right of a case. Draw makes the key of what both
	// sides of a round draw, for a purpose.
	Checked func(c Case) bool
	Draw    func(round int, c Case, purpose string) [32]byte
	// Agree returns how the candidate's sums differ from the base's by more than the tolerance allows. There must
	// be sums of every sample.
	Agree func(c Case, samples int, base, candidate []float64) string
	// Score makes the clock outside the only one that counts. Inputs makes what a run of a case works
	// on then, from a seed that no other run has. Sum adds the outputs of a run to sums, with signs drawn
	// from key; number and runs say which of how many runs it is.
	Score  bool
	Inputs func(c Case, seed uint64) ([]tensor.Tensor, error)
	Sum    func(c Case, sums []float64, outputs []tensor.Tensor, number, runs int, key uint64) error
}

func (p *process) scores() bool { return p.Doubt != nil && p.Doubt.Score }

// believed is a case of which a process was asked for samples, and what of it is
// to be looked at.
type believed struct {
	round int
	keep  int // the sample whose result is compared; below 0 for none
	kept  []harness.Kept
	sums  harness.Sums
}

// WrongResult begins what a record says of a round in which a result was compared and is wrong.
const WrongResult = "wrong result in a timed run: "

// verifyShare is how many of the later rounds have a result compared; the first has.
const verifyShare = 3

// expect draws what will be looked at in the case that is ready.
func (p *process) expect(c Case) {
	p.looking = believed{round: p.round, keep: -1}
	d := p.Doubt
	if d == nil || d.Verify == nil || d.Score || len(c.Arguments) == 0 || !p.session.Welcome.Has(harness.FeatureKeep) {
		return
	}
	if c.Samples > 0 && (p.round == 0 || c.Key.Implementation == measure.Candidate && d.Secret.IntN(verifyShare) == 0) {
		p.looking.keep = d.Secret.IntN(c.Samples)
	}
}

// keepIn asks for the result of a sample, if it is among the next ones.
func (p *process) keepIn(have, next int) *harness.Keep {
	at := p.looking.keep - have
	if p.Doubt == nil || p.looking.keep < 0 || at < 0 || at >= next || len(p.looking.kept) > 0 {
		return nil
	}
	return &harness.Keep{Dir: p.Doubt.Dir, Count: 1, Seed: p.Doubt.Secret.Uint64()}
}

// doubt looks at a case after its samples were taken: at a result, and at the clock
// outside. What is found wrong takes the samples' place.
func (p *process) doubt(ctx context.Context, c Case, cr *measure.CaseRound) error {
	if p.Doubt == nil || cr.Error != "" {
		return nil
	}
	for _, k := range p.looking.kept {
		wrong, err := p.verifyKept(ctx, c, k)
		if err != nil {
			return fmt.Errorf("compare a result of %s: %w", c.Key.Name(), err)
		}
		if wrong != "" {
			*cr = measure.CaseRound{Error: WrongResult + wrong, Samples: measure.Samples{}, Warmup: cr.Warmup, Quantum: cr.Quantum}
			return nil
		}
		cr.Verified++
	}
	if p.Doubt.Score {
		return nil // its samples are the clock outside
	}
	return p.outside(ctx, c, cr)
}

// verifyKept compares a sample that was kept. A file that cannot be read is the fault of the process
// that wrote it.
func (p *process) verifyKept(ctx context.Context, c Case, k harness.Kept) (string, error) {
	inputs, unread := tensor.Load(k.Inputs, resultLimit(c))
	if unread != nil {
		return "its inputs cannot be read: " + unread.Error(), nil //nolint:nilerr // its writer's fault, and said
	}
	outputs, unread := tensor.Load(k.Outputs, resultLimit(c))
	if unread != nil {
		return "its outputs cannot be read: " + unread.Error(), nil //nolint:nilerr // its writer's fault, and said
	}
	return p.Doubt.Verify(ctx, c, inputs, outputs)
}

// now is the clock outside. It is not the trial's: that one may be made up by a test.
var now = time.Now
