package runner

import (
	"fmt"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// derived returns the computed metrics of a case that get their own series: those that the user wrote or
// gates on. Reports compute plain GFLOP/s and GB/s from the time.
func derived(c suite.Case) []suite.Metric {
	var list []suite.Metric
	for _, m := range c.Metrics {
		if !m.Reported() && (m.Gate || m.Limit != nil || m.Name != "gflops" && m.Name != "gbps") {
			list = append(list, m)
		}
	}
	return list
}

// declareMetrics adds the derived series of a case to the record's cases.
func (r *Setup) declareMetrics(c suite.Case, of measure.Case) {
	for _, m := range derived(c) {
		series := of
		series.Metric, series.Unit, series.Better, series.Gate = m.Name, m.Unit, m.Better, m.Gate
		series.Limit, series.Flops, series.Bytes = m.Limit, 0, 0
		r.declared = append(r.declared, series)
	}
	r.metrics[of.CaseKey] = c
}

// derive computes the derived series of a round.
func (r *Setup) derive(results []measure.Result) ([]measure.Result, error) {
	var out []measure.Result
	for _, res := range results {
		c := r.metrics[res.Case]
		for _, m := range derived(c) {
			values, err := m.Of(c, res.Round.Samples)
			if err != nil {
				return nil, fmt.Errorf("cannot compute %s of %s: %w", m.Name, res.Case, err)
			}
			key := res.Case
			key.Metric = m.Name
			out = append(out, measure.Result{Case: key, Round: measure.CaseRound{
				Round: res.Round.Round, Batch: res.Round.Batch, SamplesPerTurn: res.Round.SamplesPerTurn, Error: res.Round.Error, Samples: values,
			}})
		}
	}
	return out, nil
}
