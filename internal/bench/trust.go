package bench

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	mathrand "math/rand/v2"
	"os"

	"github.com/goatnote-inc/pawl/internal/trial"
	"github.com/goatnote-inc/pawl/measure"
)

// trust is how far the sides of the run are believed.
func (o Options) trust() measure.Trust {
	return cmp.Or(o.Trust, o.Suite.Trust, measure.Trusted)
}

// secret draws what no side can foresee. It is told in the record when all is over.
func (r *run) drawSecret() *mathrand.Rand {
	var seed [32]byte
	_, _ = rand.Read(seed[:]) // never fails
	r.ending.Secret = hex.EncodeToString(seed[:])
	return mathrand.New(mathrand.NewChaCha8(seed))
}

// doubts is what the trial does because a side may say anything.
func (r *run) doubts(s side) (*trial.Doubt, error) {
	dir, err := os.MkdirTemp(memory(), "pawl-"+s.name+"-")
	if err != nil {
		return nil, fmt.Errorf("make a place for tensors: %w", err)
	}
	r.atEnd(func(context.Context) error { return os.RemoveAll(dir) })
	if r.secret == nil {
		r.secret = r.drawSecret()
	}
	return &trial.Doubt{Secret: r.secret, Dir: dir, Score: r.trust() == measure.SelfTimed}, nil
}

// memory is a place for files that need no disk; empty for the usual one.
func memory() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return ""
}
