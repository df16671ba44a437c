package trial

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/measure"
)

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
