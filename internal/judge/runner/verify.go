package runner

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"slices"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/correctness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
	"github.com/goatnote-inc/pawl/measure"
)

// verifier compares the results of timed runs with the correct ones. Each reference runs in its own
// process for the whole run.
type verifier struct {
	*fuzz
	log        io.Writer
	references map[string]correctness.Reference // by benchmark

	slack map[string]map[string]correctness.Slack // tolerances, by case and output
}

// newVerifier returns nil if the suite defines no correct results.
func (r *Setup) newVerifier() (*verifier, error) {
	if r.plain() || !slices.ContainsFunc(r.Suite.Benchmarks, func(b suite.Benchmark) bool { return b.Check != nil }) {
		return nil, nil // nothing to compare with is not an error
	}
	f, err := r.searching(FuzzOptions{})
	if err != nil {
		return nil, err
	}
	log, err := r.openLog("oracle.log")
	if err != nil {
		return nil, err
	}
	return &verifier{fuzz: f, log: log, references: map[string]correctness.Reference{}, slack: map[string]map[string]correctness.Slack{}}, nil
}

// verify describes what is wrong with the result of a run; empty if nothing is.
func (v *verifier) verify(ctx context.Context, c trial.Case, inputs, outputs []tensor.Tensor) (string, error) {
	b := v.Suite.Benchmark(c.Key.Benchmark)
	if b.Check == nil {
		return "", nil
	}
	params, ok := paramsOf(v.Options, c)
	if !ok {
		return "", fmt.Errorf("%s is not a case of the suite", c.Key.Name())
	}
	task := correctness.Task{Benchmark: b.Name, Params: params, Arguments: c.Arguments, Contents: correctness.NewContents(inputs, v.tensors)}
	defer task.Contents.Remove()
	list, err := correctness.CompareWithReference(ctx, v.right(b), task, outputs, b.Check.Tolerance)
	if err != nil {
		return "", err
	}
	for _, o := range list {
		if !o.OK {
			return o.Sentence(), nil
		}
		v.recordTolerance(c, o)
	}
	return "", nil
}

// right returns the reference of a benchmark, starting it on first use.
func (v *verifier) right(b suite.Benchmark) correctness.Reference {
	if v.references[b.Name] == nil {
		v.references[b.Name] = v.openReference(b, v.log)
	}
	return v.references[b.Name]
}

// paramsOf returns the parameters of a case in their order.
func paramsOf(o Options, c trial.Case) (suite.Params, bool) {
	for _, config := range o.Suite.Benchmark(c.Key.Benchmark).Configs {
		if config.Name == c.Key.Config {
			return config.Params, true
		}
	}
	return nil, false
}

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
	d := &trial.Verification{Secret: r.random(), Dir: dir, First: r.firstRound(), Score: r.trust() == measure.SelfTimed, Inputs: freshInputs, Sum: addSums}
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
