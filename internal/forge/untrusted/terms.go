package untrusted

import (
	"fmt"
	"maps"
	"slices"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// term holds the rules of the base's suite for one series.
type term struct {
	better   measure.Better
	gate     bool
	limit    *float64
	reported bool
	listed   bool // from the record, because the suite leaves the case to the harness
}

// fullSuite returns the base's suite with all cases. If the suite leaves cases to the harness,
// those of the record are used as the harness's list.
func (t Terms) fullSuite(run *measure.Run) (*suite.Suite, error) {
	if !t.Suite.NeedsHarness() {
		return t.Suite, nil
	}
	filled, err := t.Suite.Fill(listed(run, t.Suite))
	if err != nil {
		return nil, fmt.Errorf("the cases of the record do not match the base's suite: %w", err)
	}
	return filled, nil
}

// terms returns the rules of every series, by name.
func terms(written, whole *suite.Suite) map[string]term {
	own := map[string]bool{}
	for _, c := range written.Cases() {
		own[c.Name()] = true
	}
	known := map[string]term{}
	for _, c := range whole.Cases() {
		if c.Implementation != suite.Candidate {
			continue
		}
		known[c.Name()] = term{better: measure.Lower, gate: c.Gate, listed: !own[c.Name()]}
		for _, m := range c.Metrics {
			key := c.CaseKey
			key.Metric = m.Name
			known[key.Name()] = term{better: m.Better, gate: m.Gate, limit: m.Limit, reported: m.Reported(), listed: !own[c.Name()]}
		}
	}
	return known
}

// listed returns the cases of a record as its harness would have listed them. A benchmark
// whose configs are in the suite is listed without any.
func listed(run *measure.Run, s *suite.Suite) []suite.Listed {
	var list []suite.Listed
	at := map[string]int{}
	for _, b := range s.Benchmarks { // benchmarks of the suite must be present
		at[b.Name] = len(list)
		list = append(list, suite.Listed{Name: b.Name})
	}
	seen := map[measure.CaseKey]bool{}
	for _, c := range run.Cases {
		key := measure.CaseKey{Benchmark: c.Benchmark, Config: c.Config}
		if c.Implementation != measure.Candidate && c.Implementation != measure.Base || seen[key] {
			continue
		}
		seen[key] = true
		i, ok := at[c.Benchmark]
		if !ok {
			if len(s.Benchmarks) > 0 {
				continue // from the change's own suite: the judge calls it new
			}
			i = len(list)
			at[c.Benchmark] = i
			list = append(list, suite.Listed{Name: c.Benchmark})
		}
		if c.Config == "" {
			continue
		}
		config := suite.Config{Name: c.Config}
		for _, name := range slices.Sorted(maps.Keys(c.Params)) {
			config.Params = append(config.Params, suite.Param{Name: name, Value: c.Params[name]})
		}
		list[i].Configs = append(list[i].Configs, config)
	}
	return list
}
