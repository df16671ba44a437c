package claim

import (
	"fmt"
	"maps"
	"slices"

	"github.com/goatnote-inc/pawl/internal/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// term is what the base's suite says of one series.
type term struct {
	better measure.Better
	gate   bool
	listed bool // by the record: the suite leaves the case to the harness
}

// whole is the base's suite with every case. Where it leaves cases to the harness, those
// of the record are put to it as a harness would list them.
func (t Terms) whole(run *measure.Run) (*suite.Suite, error) {
	if !t.Suite.NeedsHarness() {
		return t.Suite, nil
	}
	filled, err := t.Suite.Fill(listed(run, t.Suite))
	if err != nil {
		return nil, fmt.Errorf("the cases of the record do not fit the base's suite: %w", err)
	}
	return filled, nil
}

// terms are those of every series, by name.
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
			known[key.Name()] = term{better: m.Better, gate: m.Gate, listed: !own[c.Name()]}
		}
	}
	return known
}

// listed are the cases of a record as its harness would have listed them. A benchmark
// whose configs stand in the suite is listed without any.
func listed(run *measure.Run, s *suite.Suite) []suite.Listed {
	var list []suite.Listed
	at := map[string]int{}
	for _, b := range s.Benchmarks { // what the suite names must be there
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
				continue // of the change's own suite: the judge calls it new
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
