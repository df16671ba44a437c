package trial

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
	"github.com/goatnote-inc/pawl/measure"
)

// Verification configures how a trial checks a process, which may report anything. What it asks,
// and when, is drawn from a secret that no process can predict.
type Verification struct {
	Secret *rand.Rand
	Dir    string // private folder for tensors
	First  int    // index of the first round that this process of pawl measures
	// Verify compares the outputs of a run with the correct result, and says what is wrong.
	// Nil if the suite does not define correct results.
	Verify func(ctx context.Context, c Case, inputs, outputs []tensor.Tensor) (wrong string, err error)
	// Checked reports whether the suite defines the correct result of a case. Draw returns the key
	// from which both sides of a round draw, for a purpose.
	Checked func(c Case) bool
	Draw    func(round int, c Case, purpose string) [32]byte
	// Agree returns how the candidate's sums differ from the base's by more than the tolerance allows. There must
	// be sums of every sample.
	Agree func(c Case, samples int, base, candidate []float64) string
	// Score makes pawl's own clock, outside the process, the only one that counts. Inputs then creates
	// the inputs of a run of a case, from a seed that no other run has. Sum adds the outputs of a run to
	// sums, with signs drawn from key; number is the index of the run among all runs.
	Score  bool
	Inputs func(c Case, seed uint64) ([]tensor.Tensor, error)
	Sum    func(c Case, sums []float64, outputs []tensor.Tensor, number, runs int, key uint64) error
}

func (p *process) scores() bool { return p.Doubt != nil && p.Doubt.Score }

// caseCheck holds what is checked of a case whose samples come from a process.
type caseCheck struct {
	round int
	keep  int // the sample whose result is compared; negative means none
	kept  []harness.Kept
	sums  harness.Sums
}

// WrongResult is the prefix of the error of a round in which a compared result is wrong.
const WrongResult = "wrong result in a timed run: "

// verifyShare is the number of later rounds per compared result of the candidate. The first round of a process of
// pawl always compares a result, for all sides: comparisons of sums need the tolerances that it learns.
const verifyShare = 3

// drawChecks draws what will be checked of the prepared case.
func (p *process) drawChecks(c Case) {
	p.check = caseCheck{round: p.round, keep: -1}
	d := p.Doubt
	if d == nil || d.Verify == nil || d.Score || len(c.Arguments) == 0 || !p.session.Welcome.Has(harness.FeatureKeep) {
		return
	}
	if c.Samples > 0 && (p.round == d.First || c.Key.Implementation == measure.Candidate && d.Secret.IntN(verifyShare) == 0) {
		p.check.keep = d.Secret.IntN(c.Samples)
	}
}

// keepIn asks for the result of the drawn sample, if it is among the next ones.
func (p *process) keepIn(have, next int) *harness.Keep {
	at := p.check.keep - have
	if p.Doubt == nil || p.check.keep < 0 || at < 0 || at >= next || len(p.check.kept) > 0 {
		return nil
	}
	return &harness.Keep{Dir: p.Doubt.Dir, Count: 1, Seed: p.Doubt.Secret.Uint64()}
}

// checkCase checks a case after its samples are taken: a result, and pawl's own clock. If
// something is wrong, an error replaces the samples.
func (p *process) checkCase(ctx context.Context, c Case, cr *measure.CaseRound) error {
	if p.Doubt == nil || cr.Error != "" {
		return nil
	}
	for _, k := range p.check.kept {
		wrong, err := p.verifyKept(ctx, c, k)
		if err != nil {
			return fmt.Errorf("cannot compare a result of %s: %w", c.Key.Name(), err)
		}
		if wrong != "" {
			*cr = measure.CaseRound{Error: WrongResult + wrong, Samples: measure.Samples{}, Warmup: cr.Warmup, Quantum: cr.Quantum}
			return nil
		}
		cr.Verified++
	}
	if p.Doubt.Score {
		return nil // its samples already come from pawl's own clock
	}
	return p.timeExternally(ctx, c, cr)
}

// verifyKept compares a kept sample. If a file cannot be read, the process that wrote it is at
// fault.
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

// now is pawl's own clock. It is not the trial's clock, which a test may replace.
var now = time.Now

// verifies reports whether every timed run of a case is compared.
func (p *process) verifies(c Case) bool {
	d := p.Doubt
	return d != nil && d.Checked != nil && !d.Score && len(c.Arguments) > 0 && p.session.Welcome.Has(harness.FeatureVerify) && d.Checked(c)
}

// inputKey returns the key from which a case draws its inputs in this round, the same for all sides.
// It is empty if the inputs stay as the harness makes them.
func (p *process) inputKey(c Case) string {
	if !p.verifies(c) {
		return ""
	}
	key := p.Doubt.Draw(p.round, c, "inputs")
	return hex.EncodeToString(key[:])
}

// verify asks for sums of the samples, starting with number first.
func (p *process) verify(c Case, first int) *harness.Verify {
	if !p.verifies(c) {
		return nil
	}
	key := p.Doubt.Draw(p.round, c, "signs")
	return &harness.Verify{Key: binary.LittleEndian.Uint64(key[:]), First: first}
}

// compareSides compares the outputs of the timed runs of both sides in a round, on the same inputs. The base's
// outputs are trusted here, because samples of them are compared with the oracle (in the first round; in
// all rounds with Score). A case whose base has failed is not compared. If a candidate differs, an error
// replaces its samples.
func (t *trial) compareSides(results []measure.Result) {
	base := map[string]measure.Result{}
	for _, r := range results {
		if r.Case.Implementation != measure.Base {
			continue
		}
		base[r.Case.Name()] = r
		t.failed[r.Case.Name()] = t.failed[r.Case.Name()] || r.Round.Error != ""
	}
	for i := range results {
		r := &results[i]
		b, ok := base[r.Case.Name()]
		if r.Case.Implementation != measure.Candidate || !ok || t.failed[r.Case.Name()] || r.Round.Error != "" || len(r.Sums) == 0 || len(b.Sums) == 0 || b.Round.Batch != r.Round.Batch {
			continue
		}
		t.agreeOn(r, b)
	}
}

func (t *trial) agreeOn(r *measure.Result, base measure.Result) {
	cr := &r.Round
	for _, s := range t.Sides {
		sessions, ok := s.Runner.(Sessions)
		if !ok || s.Name != measure.Candidate || sessions.Doubt == nil || sessions.Doubt.Agree == nil {
			continue
		}
		for _, c := range s.Cases {
			if c.Key != r.Case {
				continue
			}
			if wrong := sessions.Doubt.Agree(c, len(cr.Samples), base.Sums, r.Sums); wrong != "" {
				*cr = measure.CaseRound{Round: cr.Round, Error: WrongResult + wrong, Samples: measure.Samples{}, Warmup: cr.Warmup, Quantum: cr.Quantum}
				return
			}
			cr.Compared = len(cr.Samples) * max(cr.Batch, 1)
		}
	}
}
