package sweep

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// series holds the medians of one implementation on one config.
type series struct {
	medians map[int]float64 // by round
	step    float64         // timer resolution, as a fraction of the shortest median
	timer   measure.Timer
	lacks   string // why there are no medians
}

// rounds returns the rounds that have a median, in order.
func (s *series) rounds() []int {
	if s == nil {
		return nil
	}
	list := make([]int, 0, len(s.medians))
	for r := range s.medians {
		list = append(list, r)
	}
	slices.Sort(list)
	return list
}

func (s *series) at(rounds []int) []float64 {
	values := make([]float64, len(rounds))
	for i, r := range rounds {
		values[i] = s.medians[r]
	}
	return values
}

// config is a config with the series of the implementations that measured it.
type config struct {
	measure.Case // of the first implementation that has it, without rounds
	of           map[string]*series
}

// reason says why an implementation has nothing to compare.
func (c *config) reason(implementation string) string {
	s := c.of[implementation]
	if s == nil {
		return "not requested"
	}
	return s.lacks
}

// gathered is a record, grouped by config and implementation.
type gathered struct {
	implementations []string // in the order of the record, the subject first
	configs         []*config
	rounds          int // that count
}

func gather(run *measure.Run) gathered {
	var g gathered
	dropped := map[int]bool{}
	for _, r := range run.Rounds {
		if r.Dropped != "" {
			dropped[r.Index] = true
		} else {
			g.rounds++
		}
	}
	known := map[string]*config{}
	for _, c := range run.Cases {
		if !isTime(c) {
			continue
		}
		if !slices.Contains(g.implementations, c.Implementation) {
			g.implementations = append(g.implementations, c.Implementation)
		}
		of := known[c.Name()]
		if of == nil {
			of = &config{Case: c, of: map[string]*series{}}
			of.Rounds = nil
			known[c.Name()] = of
			g.configs = append(g.configs, of)
		}
		of.of[c.Implementation] = newSeries(c, dropped)
	}
	g.orderImplementations(run)
	for _, c := range g.configs {
		c.oneTimer(g.implementations)
	}
	return g
}

// isTime reports whether a case is a kernel time. Metrics computed from times would only
// repeat them.
func isTime(c measure.Case) bool {
	return c.Unit == "ns" && (c.Metric == "" || c.Metric == measure.MetricTime) && c.Better != measure.Higher
}

// orderImplementations puts the candidate first and keeps the others in record order.
func (g *gathered) orderImplementations(run *measure.Run) {
	place := func(name string) int {
		if name == measure.Candidate {
			return -1
		}
		if i := slices.IndexFunc(run.Implementations, func(i measure.Implementation) bool { return i.Name == name }); i >= 0 {
			return i
		}
		return len(run.Implementations)
	}
	slices.SortStableFunc(g.implementations, func(a, b string) int { return cmp.Compare(place(a), place(b)) })
}

func newSeries(c measure.Case, dropped map[int]bool) *series {
	s := &series{medians: map[int]float64{}, timer: c.Timer}
	for _, r := range c.Rounds {
		switch m := stats.Median(r.Samples); {
		case dropped[r.Round]:
		case r.Error != "":
			s.lacks = "failed: " + r.Error
		case m > 0 && !math.IsInf(m, 0):
			s.medians[r.Round] = m
			s.step = max(s.step, r.Quantum/m)
		}
	}
	switch {
	case len(s.medians) > 0 || s.lacks != "":
	case c.NoSamples:
		s.lacks = "the record has a summary but no samples"
	default:
		s.lacks = "no samples in the rounds that count"
	}
	return s
}

// oneTimer drops implementations whose times come from a different timer than the first
// one's. Device time and host time are not comparable.
func (c *config) oneTimer(order []string) {
	first := ""
	for _, name := range order {
		s := c.of[name]
		switch {
		case s == nil || len(s.medians) == 0:
		case first == "":
			first, c.Timer = name, s.timer
		case s.timer != c.Timer:
			s.lacks = fmt.Sprintf("its timer is %s, but the timer of %s is %s", s.timer, first, c.Timer)
			clear(s.medians)
		}
	}
}
