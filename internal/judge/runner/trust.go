package runner

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	mathrand "math/rand/v2"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// trust returns how far the sides of the run are trusted.
func (o Options) trust() measure.Trust {
	return cmp.Or(o.Trust, o.Suite.Trust, measure.Trusted)
}

// random returns a source that no side can predict. The record contains its seed when the run ends.
func (r *Setup) random() *mathrand.Rand {
	if r.secret == nil {
		var seed [32]byte
		_, _ = rand.Read(seed[:]) // never fails
		r.ending.Secret = hex.EncodeToString(seed[:])
		r.secret = mathrand.New(mathrand.NewChaCha8(seed))
	}
	return r.secret
}

// draw returns secret bytes for a purpose, the same for all sides of a round. They reveal nothing
// about those for another purpose, round or case.
func (r *Setup) draw(round int, c trial.Case, purpose string) (key [32]byte) {
	r.random() // draws the secret
	mac := hmac.New(sha256.New, []byte(r.ending.Secret))
	fmt.Fprintf(mac, "%s %d %s", purpose, round, c.Key.Name())
	mac.Sum(key[:0])
	return key
}

// verification returns the checks that the trial makes because a side's own reports are not trusted.
func (r *Setup) verification(s side) (*trial.Verification, error) {
	dir, err := r.folder()
	if err != nil {
		return nil, err
	}
	d := &trial.Verification{Secret: r.random(), Dir: dir, Score: r.trust() == measure.SelfTimed, Inputs: freshInputs, Sum: addSums}
	if r.verifying == nil {
		if r.verifying, err = r.newVerifier(); err != nil {
			return nil, err
		}
	}
	if r.verifying != nil && s.from == suite.Candidate {
		d.Verify, d.Checked, d.Agree = r.verifying.verify, r.verifying.checked, r.verifying.agree
		d.Draw = r.draw
	}
	return d, r.needsForScore(d)
}

// needsForScore returns an error if the suite lacks something needed to score an untrusted process.
func (r *Setup) needsForScore(d *trial.Verification) error {
	if !d.Score {
		return nil
	}
	if d.Verify == nil {
		return &UsageError{errors.New("trust self-timed requires a definition of correct results: add check to the benchmarks of the suite")}
	}
	for _, c := range r.cases[suite.Candidate] {
		if len(c.Arguments) == 0 || r.Suite.Benchmark(c.Key.Benchmark).Check == nil {
			return &UsageError{fmt.Errorf("trust self-timed requires arguments and check of %s in the suite", c.Key.Benchmark)}
		}
	}
	return nil
}
