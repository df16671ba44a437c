package sweep

import (
	"errors"
	"fmt"
	"math"

	"github.com/goatnote-inc/pawl/measure"
)

// ErrNothingToCompare is wrapped by the error for a run in which fewer than two
// implementations have samples.
var ErrNothingToCompare = errors.New("nothing to compare")

// Analyze compares the implementations of a run.
func Analyze(run *measure.Run) (*Result, error) {
	g := gather(run)
	names, absent := g.present()
	if len(names) < 2 {
		return nil, fmt.Errorf("%w: run %s has times of %s, but a sweep needs two implementations", ErrNothingToCompare, run.ID, listed(names))
	}
	r := &Result{
		Schema: Schema, Run: run.ID, Digest: run.Digest, Suite: run.Suite.Name, Device: run.Device.Name,
		Level: Level, Claims: Claims, Rounds: g.rounds, Subject: names[0], Implementations: names, Absent: absent,
		Overall: g.overall(names),
	}
	for _, other := range names[1:] {
		r.Speedups = append(r.Speedups, g.speedup(names[0], other))
	}
	w := powers{}
	for _, c := range g.configs {
		r.Configs = append(r.Configs, c.compare(names, w))
	}
	return r, nil
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return names[0] + " only"
}

// present returns the implementations with times of at least one config. One without any,
// such as a library that is not installed, is listed in absent and not compared.
func (g gathered) present() (names []string, absent []Omission) {
	for _, name := range g.implementations {
		has, reason := 0, ""
		for _, c := range g.configs {
			if len(c.of[name].rounds()) > 0 {
				has++
			} else if s := c.of[name]; s != nil && reason == "" {
				reason = s.lacks
			}
		}
		if has > 0 {
			names = append(names, name)
		} else {
			absent = append(absent, Omission{name, reason})
		}
	}
	return names, absent
}

// compare ranks the implementations on the config.
func (c *config) compare(names []string, w powers) Config {
	out := Config{
		Name: c.Name(), Benchmark: c.Benchmark, Config: c.Config, Cache: c.Cache, Params: c.Params,
		Timer: c.Timer, Flops: finite(c.Flops), Bytes: finite(c.Bytes), Standings: []Standing{},
	}
	var entrants []entrant
	for _, name := range names {
		if s := c.of[name]; len(s.rounds()) > 0 {
			entrants = append(entrants, entrant{name, s})
		} else {
			out.Lacking = append(out.Lacking, Omission{name, c.reason(name)})
		}
	}
	if len(entrants) == 0 {
		return out
	}
	standings, pairs, evidence := rank(entrants)
	out.Standings, out.Pairs, out.Power = standings, pairs, w.of(evidence)
	return out
}

func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}
