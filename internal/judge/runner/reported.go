package runner

import (
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// reportedMetrics remembers which metrics the harness reports of each case, by the key of its time.
type reportedMetrics struct {
	names    map[measure.CaseKey][]string
	measured map[measure.CaseKey]bool // cases that have a round
	complete bool                     // a round of a case did not fail
}

// note adds the metrics of an earlier process.
func (m *reportedMetrics) note(cases []measure.Case) {
	for _, c := range cases {
		if c.Reported {
			m.add(c.CaseKey)
		}
	}
}

func (m *reportedMetrics) add(key measure.CaseKey) {
	if m.names == nil {
		m.names = map[measure.CaseKey][]string{}
	}
	m.names[timeOf(key)] = append(m.names[timeOf(key)], key.Metric)
}

// mark notes that a round of these cases was measured.
func (m *reportedMetrics) mark(results []measure.Result) {
	if m.measured == nil {
		m.measured = map[measure.CaseKey]bool{}
	}
	for _, res := range results {
		m.measured[res.Case] = true
		m.complete = m.complete || res.Round.Error == ""
	}
}

// timeOf returns the key of the case that a metric belongs to.
func timeOf(key measure.CaseKey) measure.CaseKey {
	key.Metric = ""
	return key
}

// reportedSeries returns the metrics that harnesses reported in a round, each as a series, and declares new ones. A side
// reports a metric in every round of a case or in none: one that left out its bad rounds would look better than it is.
func (r *Setup) reportedSeries(results []measure.Result) ([]measure.Result, error) {
	var out []measure.Result
	for _, res := range results {
		late := r.reported.measured[res.Case]
		var fresh []measure.Case
		for _, v := range res.Values {
			if slices.Contains(r.reported.names[res.Case], v.Metric) {
				continue
			}
			if r.computes(res.Case, v.Metric) {
				r.noticeComputed(v.Metric)
				continue
			}
			c := r.seriesOf(res.Case, v)
			fresh = append(fresh, c)
			r.reported.add(c.CaseKey)
		}
		if len(fresh) > 0 {
			if err := r.list(fresh); err != nil {
				return nil, err
			}
		}
		for _, name := range r.reported.names[res.Case] {
			isNew := slices.ContainsFunc(fresh, func(c measure.Case) bool { return c.Metric == name })
			series := measure.Result{Case: res.Case, Round: reportedRound(res, name, late && isNew)}
			series.Case.Metric = name
			out = append(out, series)
		}
	}
	r.reported.mark(results)
	return out, nil
}

// reportedRound returns one metric of a round.
func reportedRound(res measure.Result, name string, late bool) measure.CaseRound {
	round := measure.CaseRound{Round: res.Round.Round, Error: res.Round.Error, Samples: measure.Samples{}}
	i := slices.IndexFunc(res.Values, func(v measure.Values) bool { return v.Metric == name })
	switch {
	case round.Error != "":
	case i < 0:
		round.Error = fmt.Sprintf("the harness reported no value of %s in this round", name)
	case late:
		round.Error = fmt.Sprintf("the harness reported no value of %s in earlier rounds", name)
	default:
		round.Samples = res.Values[i].Samples
		if len(round.Samples) == len(res.Round.Samples) { // one for one, so they have the same turns
			round.SamplesPerTurn = res.Round.SamplesPerTurn
		}
	}
	return round
}

// seriesOf declares a reported metric of a case.
func (r *Setup) seriesOf(key measure.CaseKey, v measure.Values) measure.Case {
	c := measure.Case{CaseKey: key, Unit: v.Unit, Better: v.Better, Reported: true}
	i := slices.IndexFunc(r.declared, func(d measure.Case) bool { return d.CaseKey == key })
	if i >= 0 {
		c.Params, c.Timer = r.declared[i].Params, r.declared[i].Timer
	}
	c.Metric = v.Metric
	return c
}

// computes reports whether pawl computes a metric of a case itself.
func (r *Setup) computes(key measure.CaseKey, name string) bool {
	return slices.ContainsFunc(derived(r.metrics[key]), func(m suite.Metric) bool { return m.Name == name })
}

// noticeComputed says once that a reported metric is not used.
func (r *Setup) noticeComputed(name string) {
	n := device.Notice{Code: "metric_computed", Message: fmt.Sprintf("the harness reports %s, which the suite computes: its values are ignored", name)}
	if !slices.ContainsFunc(r.ending.Warnings, func(w measure.Warning) bool { return w.Code == n.Code && w.Message == n.String() }) {
		r.Notice(n)
	}
}

// checkReported returns an error if the suite gates a metric that no case reported: a misspelled name would let every change
// pass. Values are read at trusted only, a run of some cases may miss those that report it, and cases that fail report nothing.
func (r *Setup) checkReported() error {
	if r.trust() != measure.Trusted || r.Case != "" || len(r.Names) > 0 || !r.reported.complete {
		return nil
	}
	for _, m := range r.Suite.Metrics {
		reported := func(c measure.Case) bool { return c.Reported && c.Metric == m.Name }
		if m.Gate && m.Reported() && !slices.ContainsFunc(r.declared, reported) {
			return fmt.Errorf("the suite gates %s, and no case reported it: correct its name in metrics, or report it from the harness", m.Name)
		}
	}
	return nil
}

// applyMetrics sets what the suite says of the metrics that a harness or a command reports. A metric that the suite does
// not list is only watched.
func (r *Setup) applyMetrics(cases []measure.Case) error {
	for i := range cases {
		c := &cases[i]
		if !c.Reported {
			continue
		}
		metrics := r.Suite.Metrics
		if of, ok := r.metrics[timeOf(c.CaseKey)]; ok {
			metrics = of.Metrics // a benchmark can be watched as a whole
		}
		c.Gate, c.Limit = false, nil
		for _, m := range metrics {
			if m.Name != c.Metric || !m.Reported() {
				continue
			}
			if m.Unit != "" && m.Unit != c.Unit {
				return fmt.Errorf("%s is reported in %q, and the suite expects %q: change one of them", c.Name(), c.Unit, m.Unit)
			}
			c.Better, c.Limit = m.Better, m.Limit
			c.Gate = m.Gate && slices.Contains([]string{suite.Candidate, suite.Base, BaselineSide}, c.Implementation)
		}
	}
	return nil
}
