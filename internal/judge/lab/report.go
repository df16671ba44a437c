package lab

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// Schema is the schema name of the judge's figures.
const Schema = "pawl.lab.judge/v1"

// Report holds the measured figures about the judge.
type Report struct {
	Schema         string         `json:"schema"`
	Seed           uint64         `json:"seed"`
	Quick          bool           `json:"quick,omitempty"`
	Claims         []Claim        `json:"claims"`
	Methods        []Described    `json:"methods"`
	Fit            *Fit           `json:"fit,omitempty"`
	Configurations int            `json:"configurations,omitempty"` // of tuning spaces that were read
	Rows           []Row          `json:"rows"`
	Curses         []Curse        `json:"curses,omitempty"`
	Creeps         []Creep        `json:"creeps,omitempty"`
	Speed          *Speed         `json:"speed,omitempty"`
	Policy         ratchet.Policy `json:"policy"`
}

// Described is the name and rule of a method.
type Described struct {
	Name string `json:"name"`
	Rule string `json:"rule"`
}

// Speed is how long a verdict on a large run takes. It is the only figure in the report that depends
// on the machine.
type Speed struct {
	Cases   int     `json:"cases"`
	Rounds  int     `json:"rounds"`
	Samples int     `json:"samples"`
	Seconds float64 `json:"seconds"` // minimum of several attempts
}

// find returns the row of a method on a scene.
func (r *Report) find(corpus, method string, shape Shape, spread, effect float64) (Row, bool) {
	i := slices.IndexFunc(r.Rows, func(row Row) bool {
		return row.Corpus == corpus && row.Method == method && row.Shape == shape && row.Spread == spread && row.Effect == effect && row.Note == ""
	})
	if i < 0 {
		return Row{}, false
	}
	return r.Rows[i], true
}

// speed times a verdict on 100 cases with 16 rounds of 100 samples per side.
func (l *judgeLab) speed(ctx context.Context) error {
	s := Speed{Cases: 100, Rounds: 16, Samples: 100, Seconds: math.Inf(1)}
	scene := NewScene(Gaussian, 0.008, 0)
	rng := rand.New(rand.NewPCG(l.Seed, 0))
	list := make([]ratchet.Evidence, s.Cases)
	for i := range list {
		e := sideBySide(0)
		e.Case = measure.CaseKey{Benchmark: "k" + strconv.Itoa(i), Implementation: measure.Candidate}
		scene.Effect = 0.02 * rng.NormFloat64()
		c := scene.Compare(l.Seed, uint64(i))
		for r := range s.Rounds {
			e.Base, e.Candidate = append(e.Base, c.Round(Base, r)), append(e.Candidate, c.Round(Candidate, r))
		}
		list[i] = e
	}
	for range 5 {
		if err := ctx.Err(); err != nil {
			return err
		}
		began := time.Now()
		ratchet.Judge(l.policy, list)
		s.Seconds = min(s.Seconds, time.Since(began).Seconds())
	}
	l.Say(fmt.Sprintf("a verdict on %d cases takes %.3f s", s.Cases, s.Seconds))
	l.report.Speed = &s
	return nil
}

func percent(x float64) string { return strconv.FormatFloat(100*x, 'g', 4, 64) + " %" }
