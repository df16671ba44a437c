package runner

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// Plan describes what a run would do and cost, before any time is spent.
type Plan struct {
	Suite   string   `json:"suite"`
	Device  string   `json:"device"`
	Sides   []string `json:"sides"`
	Cases   []string `json:"cases"`          // names; empty when only the harness can list them
	Open    bool     `json:"open,omitempty"` // the harness will list more cases
	Rounds  []int    `json:"rounds"`
	Samples int      `json:"samples,omitempty"` // per round; 0 for a plain command, which decides itself
	Budget  float64  `json:"budget_seconds,omitempty"`
	Seed    uint64   `json:"seed,string"`
	Builds  []string `json:"builds,omitempty"`
	MinCost Cost     `json:"least"` // every case decided at the first look
	Most    Cost     `json:"most"`  // all rounds, or the budget
	Basis   string   `json:"basis"` // source of the time estimates
	Clocks  string   `json:"clocks"`
}

// Cost is time on the device and its price.
type Cost struct {
	Seconds float64 `json:"seconds"`
	Dollars float64 `json:"dollars,omitempty"`
}

// NewCost returns the cost of seconds on the device of a suite.
func NewCost(s *suite.Suite, seconds float64) Cost {
	return Cost{Seconds: seconds, Dollars: seconds / time.Hour.Seconds() * s.Device.PricePerHour}
}

// Estimates in seconds, used when there is no record of an earlier run.
const (
	guessStart  = 1.0   // until a process is ready
	guessWarm   = 0.3   // to warm a case up
	guessSample = 0.002 // to take a sample
)

// Forecast plans a run without building, measuring or acquiring the device.
func Forecast(ctx context.Context, o Options) (Plan, error) {
	if err := o.check(); err != nil {
		return Plan{}, &UsageError{err}
	}
	inv, err := device.List(ctx, device.Options{})
	if err != nil {
		return Plan{}, err
	}
	dev, err := inv.Select(o.Suite.Device.Kind, o.Suite.Device.Select)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{
		Suite: o.Suite.Name, Device: dev.Identity().Name, Rounds: o.growth(), Samples: o.Suite.Measure.Samples,
		Budget: o.budget().Seconds(), Seed: o.Seed, Open: o.Suite.NeedsHarness(), Clocks: o.Suite.Device.Clocks.String(),
		Sides: []string{suite.Candidate},
	}
	if o.Samples > 0 {
		p.Samples = o.Samples
	}
	if o.plain() {
		p.Samples = 0
	}
	if o.Base != "" || o.Again {
		p.Sides = append(p.Sides, suite.Base)
	}
	if o.hasSlowedSide() {
		p.Sides = append(p.Sides, SlowedSide)
	}
	for _, i := range o.references() {
		p.Sides = append(p.Sides, i.Name)
	}
	for _, c := range o.wanted() {
		p.Cases = append(p.Cases, c.Name())
	}
	if len(p.Cases) == 0 && !p.Open && !o.plain() {
		return Plan{}, o.noCase()
	}
	if o.Base != "" {
		if _, _, err := o.base(ctx); err != nil {
			return Plan{}, err
		}
	}
	variants := o.Suite.Variants()
	if len(variants) == 0 { // only the harness can list the cases
		variants = o.Suite.VariantsOf(suite.Candidate)
	}
	for _, v := range variants {
		if b := v.Build.String(); b != "" && !slices.Contains(p.Builds, b) {
			p.Builds = append(p.Builds, b)
		}
	}
	p.estimate(o)
	return p, nil
}

// estimate computes costs from the last matching record, or from the guesses above.
func (p *Plan) estimate(o Options) {
	last := lastRun(o)
	p.Basis = last.basis
	cases := last.cases
	if !p.Open || cases == 0 || o.Case != "" { // the number of cases comes only from the last run
		cases = float64(max(len(p.Cases), 1))
	}
	round := float64(len(p.Sides)) * (guessStart + cases*(last.warm+last.sample*float64(p.Samples)))
	cost := func(rounds int) Cost {
		s := round * float64(rounds)
		if p.Budget > 0 {
			s = min(s, p.Budget)
		}
		return NewCost(o.Suite, s)
	}
	p.MinCost = cost(p.Rounds[0])
	p.Most = cost(p.Rounds[len(p.Rounds)-1])
}

// pace is the time that a case takes, in seconds.
type pace struct {
	warm   float64 // before its first sample
	sample float64
	cases  float64 // number of cases per side; 0 when unknown
	basis  string
}

// lastRun returns the pace of the last run of the suite on this machine, or a guess.
func lastRun(o Options) pace {
	current := filepath.Join(filepath.Dir(o.Out), "current.json")
	for _, name := range []string{o.Out, previous(o.Out), current, previous(current)} {
		var sampling, samples float64
		run, err := measure.ScanFile(name, func(c *measure.Case, r measure.CaseRound) error {
			if c.Unit == "ns" && c.Metric == "" && len(r.Samples) > 0 {
				samples += float64(len(r.Samples))
				sampling += stats.Mean(r.Samples) * float64(len(r.Samples)*max(r.Batch, 1)) / 1e9
			}
			return nil
		})
		if err != nil || run.Suite.Name != o.Suite.Name {
			continue
		}
		var total, measured, sides float64
		for _, r := range run.Rounds {
			for _, s := range r.Sides {
				total += s.Seconds - guessStart
				measured += float64(max(len(r.Cases), 1))
				sides++
			}
		}
		if sides == 0 {
			continue
		}
		p := pace{cases: measured / sides, basis: "the last run, " + name}
		if samples > 0 && !o.plain() { // a plain command chooses its own number of samples
			p.sample = sampling / samples
		}
		taken := p.sample * samples / measured
		p.warm = max(total/measured-taken, 0.01)
		return p
	}
	warm := guessWarm
	if len(usageMetrics(o.Suite)) > 0 {
		warm += trial.Sustained.Seconds()
	}
	return pace{warm: warm, sample: guessSample, basis: "a guess: nothing was measured here yet"}
}
