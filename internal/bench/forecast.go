package bench

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/internal/device"
	"github.com/goatnote-inc/pawl/internal/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// Plan is what a run would do and what it would take, before any of it is spent.
type Plan struct {
	Suite   string   `json:"suite"`
	Device  string   `json:"device"`
	Sides   []string `json:"sides"`
	Cases   []string `json:"cases"`          // names; empty when the harness has to list them
	Open    bool     `json:"open,omitempty"` // more cases will be listed by the harness
	Rounds  []int    `json:"rounds"`
	Samples int      `json:"samples"`
	Budget  float64  `json:"budget_seconds,omitempty"`
	Seed    uint64   `json:"seed,string"`
	Builds  []string `json:"builds,omitempty"`
	Least   Cost     `json:"least"` // every case decided at the first look
	Most    Cost     `json:"most"`  // all rounds, or the budget
	Basis   string   `json:"basis"` // what the times are taken from
	Clocks  string   `json:"clocks"`
}

// Cost is time on the device and what it costs.
type Cost struct {
	Seconds float64 `json:"seconds"`
	Dollars float64 `json:"dollars,omitempty"`
}

// Without a record of an earlier run these are all there is to go by.
const (
	guessStart = 1.0 // seconds for a process to be ready
	guessCase  = 0.5 // seconds to warm up and measure a case
)

// Forecast plans a run without building, measuring or taking the device.
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
	if o.Base != "" || o.Again {
		p.Sides = append(p.Sides, suite.Base)
	}
	for _, i := range o.references() {
		p.Sides = append(p.Sides, i.Name)
	}
	for _, c := range o.Suite.Cases() {
		if c.Implementation == suite.Candidate && o.wants(c.Name(), c.Benchmark) {
			p.Cases = append(p.Cases, c.Name())
		}
	}
	for _, v := range o.Suite.Variants() {
		if !slices.Contains(p.Builds, v.Build.Command) && v.Build.Command != "" {
			p.Builds = append(p.Builds, v.Build.Command)
		}
	}
	p.estimate(o)
	return p, nil
}

// estimate takes the time of a round from the last record that fits, else guesses.
func (p *Plan) estimate(o Options) {
	perCase, cases, basis := lastRun(o)
	p.Basis = basis
	if !p.Open || cases == 0 || o.Case != "" { // what the harness lists is known from the last run only
		cases = float64(max(len(p.Cases), 1))
	}
	round := float64(len(p.Sides)) * (guessStart + perCase*cases)
	cost := func(rounds int) Cost {
		s := round * float64(rounds)
		if p.Budget > 0 {
			s = min(s, p.Budget)
		}
		return Cost{Seconds: s, Dollars: s / time.Hour.Seconds() * o.Suite.Device.PricePerHour}
	}
	p.Least = cost(p.Rounds[0])
	p.Most = cost(p.Rounds[len(p.Rounds)-1])
}

// lastRun tells what a case took, and how many a side had, when the suite was
// last measured here.
func lastRun(o Options) (seconds, cases float64, basis string) {
	current := filepath.Join(filepath.Dir(o.Out), "current.json")
	for _, name := range []string{o.Out, previous(o.Out), current, previous(current)} {
		run, err := measure.ScanFile(name, func(*measure.Case, measure.CaseRound) error { return nil })
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
		if sides > 0 {
			return max(total/measured, 0.01), measured / sides, "the last run, " + name
		}
	}
	return guessCase, 0, "a guess: nothing was measured here yet"
}
