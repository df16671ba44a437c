package untrusted

import (
	"errors"
	"fmt"
	"math"

	"github.com/goatnote-inc/pawl/measure"
)

// Limits of a plausible run. Beyond them the statistics would be useless or take too long.
const (
	maxRounds = 4096
	maxCases  = 20_000
	maxTime   = 1e15 // nanoseconds: about eleven days
)

// plausible rejects numbers that no timer produces, before anything is computed from them.
func plausible(run *measure.Run) error {
	if len(run.Cases) > maxCases || len(run.Rounds) > maxRounds {
		return fmt.Errorf("too many cases or rounds (%d cases, %d rounds)", len(run.Cases), len(run.Rounds))
	}
	if run.Source != measure.Measured {
		return errors.New("it was not measured by pawl")
	}
	sides := map[string]bool{}
	for _, im := range run.Implementations {
		if sides[im.Name] {
			return fmt.Errorf("the side %.40q occurs twice", im.Name)
		}
		sides[im.Name] = true
	}
	keys := map[measure.CaseKey]bool{}
	for _, c := range run.Cases {
		key := c.CaseKey
		if key.Cache == measure.Hot {
			key.Cache = ""
		}
		if key.Metric == measure.MetricTime {
			key.Metric = ""
		}
		if keys[key] {
			return fmt.Errorf("the case %.80q occurs twice", c.String())
		}
		keys[key] = true
		if err := plausibleCase(c); err != nil {
			return fmt.Errorf("%.80q: %w", c.String(), err)
		}
	}
	return nil
}

func plausibleCase(c measure.Case) error {
	if len(c.Rounds) > maxRounds {
		return fmt.Errorf("too many rounds (%d)", len(c.Rounds))
	}
	seen := map[int]bool{}
	for _, r := range c.Rounds {
		if r.Round < 0 || r.Round > maxRounds || seen[r.Round] {
			return fmt.Errorf("round %d occurs twice or is out of range", r.Round)
		}
		seen[r.Round] = true
		for _, v := range r.Samples {
			time := c.Metric == "" || c.Metric == measure.MetricTime
			if time && !(v > 0 && v < maxTime) || math.Abs(v) > 1e30 {
				return fmt.Errorf("a sample of %v is not plausible", v)
			}
		}
	}
	return nil
}
