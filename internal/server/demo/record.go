package demo

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// samplesTaken is the number of samples per round.
const samplesTaken = 30

// Record returns the run that a report describes. The medians of its samples are close to the report's
// values. It also contains the base that the run was judged against.
func Record(r *client.Report) *measure.Run {
	sum := sha256.Sum256([]byte(r.Run))
	chance := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])))
	run := &measure.Run{Header: measure.Header{
		Schema: measure.SchemaRun, ID: r.Run, Created: r.Measured, Pawl: r.Pawl, Source: measure.Measured, Trust: r.Trust,
		Suite: measure.SuiteRef{Name: r.Suite, Path: "pawl.yaml"}, Device: r.Device, Testbed: r.Testbed,
		Implementations: []measure.Implementation{{Name: measure.Base, Commit: r.Commit.Parent}, {Name: measure.Candidate, Commit: r.Commit.SHA}},
		Plan:            measure.Plan{Seed: chance.Uint64(), Growth: []int{8, 16}, Samples: samplesTaken},
	}}
	rounds := 0
	for _, p := range r.Points {
		rounds = max(rounds, p.Rounds)
		ratio := map[ratchet.Verdict]float64{ratchet.Regression: 1.085, ratchet.Improvement: 0.92}[p.Verdict]
		if ratio == 0 {
			ratio = 1
		}
		for _, side := range []struct {
			name  string
			value float64
		}{{measure.Base, p.Value / ratio}, {measure.Candidate, p.Value}} {
			c := measure.Case{CaseKey: p.CaseKey, Unit: p.Unit, Better: p.Better, Gate: true, Timer: p.Timer}
			c.Implementation = side.name
			for n := range p.Rounds {
				c.Rounds = append(c.Rounds, round(chance, n, side.value, p.Spread))
			}
			run.Cases = append(run.Cases, c)
		}
	}
	for n := range rounds {
		run.Rounds = append(run.Rounds, measure.Round{Index: n, Seed: chance.Uint64(), Order: []string{measure.Base, measure.Candidate}})
	}
	return run
}

// round generates samples around a value: most are close, some late.
func round(r *rand.Rand, n int, value, spread float64) measure.CaseRound {
	middle := value * math.Exp(spread*0.6*r.NormFloat64())
	c := measure.CaseRound{Round: n}
	for range samplesTaken {
		late := 0.0
		if r.IntN(12) == 0 {
			late = spread * 4 * r.Float64()
		}
		c.Samples = append(c.Samples, math.Round(middle*math.Exp(spread*0.5*r.NormFloat64()+late)))
	}
	return c
}

// Files returns the files that the sender of a report uploads before it: the record and its samples. It
// adds their names to the report.
func Files(r *client.Report) ([]client.File, error) { return FilesOf(r, Record(r)) }

// FilesOf is Files with a different record of the run.
func FilesOf(r *client.Report, run *measure.Run) ([]client.File, error) {
	files, err := client.RecordFiles(run)
	if err != nil {
		return nil, fmt.Errorf("cannot make up the files of run %s: %w", r.Run, err)
	}
	r.Blobs = nil
	for _, f := range files {
		r.Blobs = append(r.Blobs, f.Blob)
	}
	return files, nil
}
