package claim

import (
	"fmt"
	"maps"
	"slices"

	"github.com/goatnote-inc/pawl/internal/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// term is what the base's suite says of one series.
type term struct {
	key    measure.CaseKey
	better measure.Better
	gate   bool
	listed bool // by the record: the suite leaves the cases to the harness
}

// hold makes the base's word count.
func (t term) hold(e *ratchet.Evidence) {
	e.Gate, e.Better = t.gate, t.better
	if e.HasCandidate && !e.HasBase && !t.listed {
		e.HasBase, e.BaseError = true, "the record holds nothing of the base"
	}
}

// missing is the evidence of a case that the record leaves out.
func (t term) missing() ratchet.Evidence {
	return ratchet.Evidence{Case: t.key, Better: t.better, Gate: t.gate, HasBase: true}
}

// known are the series of the base's suite, by name. Where it leaves cases to the
// harness, those of the record are put to it as a harness would list them.
func (t Terms) known(run *measure.Run) (map[string]term, error) {
	s := t.Suite
	written := s.Cases()
	if s.NeedsHarness() {
		filled, err := s.Fill(listed(run, s))
		if err != nil {
			return nil, fmt.Errorf("the cases of the record do not fit the base's suite: %w", err)
		}
		s = filled
	}
	var names []string
	for _, c := range written {
		names = append(names, c.Name())
	}
	slices.Sort(names)
	known := map[string]term{}
	for _, c := range s.Cases() {
		if c.Implementation != suite.Candidate {
			continue
		}
		_, own := slices.BinarySearch(names, c.Name())
		known[c.Name()] = term{key: c.CaseKey, better: measure.Lower, gate: c.Gate, listed: !own}
		for _, m := range c.Metrics {
			key := c.CaseKey
			key.Metric = m.Name
			known[key.Name()] = term{key: key, better: m.Better, gate: m.Gate, listed: !own}
		}
	}
	return known, nil
}

// names are the cases that must be in a record: their times, which every metric is made
// of.
func (t Terms) names(known map[string]term) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if x := known[name]; x.key.Metric == "" && !x.listed {
			list = append(list, name)
		}
	}
	return list
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
