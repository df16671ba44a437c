package harness

import (
	"fmt"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// Bounds of what a harness may report of a case in addition to its time.
const (
	maxMetrics = 64
	maxUnit    = 32 // bytes
)

// MergeValues adds the values of a further reply to those of the earlier ones. A metric keeps its unit and direction.
func MergeValues(list, more []measure.Values) ([]measure.Values, error) {
	for _, v := range more {
		i := slices.IndexFunc(list, func(have measure.Values) bool { return have.Metric == v.Metric })
		switch {
		case i < 0 && len(list) == maxMetrics:
			return list, fmt.Errorf("it reports more than %d metrics", maxMetrics)
		case i < 0:
			list = append(list, v)
		case list[i].Unit != v.Unit || list[i].Better != v.Better:
			return list, fmt.Errorf("it reports %.64q in %.32q (better: %.8q) and then in %.32q (better: %.8q)", v.Metric, list[i].Unit, list[i].Better, v.Unit, v.Better)
		default:
			list[i].Samples = append(list[i].Samples, v.Samples...)
		}
	}
	return list, nil
}

// valuesProblem returns what is wrong with reported values; empty if nothing is. Zero and negative values are valid:
// they are not times.
func valuesProblem(list []measure.Values) string {
	for _, v := range list {
		switch {
		case !suite.ValidMetric(v.Metric):
			return fmt.Sprintf("%.64q cannot be the name of a reported metric", v.Metric)
		case v.Unit == "" || len(v.Unit) > maxUnit || printable(v.Unit) != v.Unit:
			return fmt.Sprintf("the metric %s needs a unit of at most %d printable bytes, got %.40q", v.Metric, maxUnit, v.Unit)
		case v.Better != measure.Lower && v.Better != measure.Higher:
			return fmt.Sprintf("the metric %s must say that lower or higher is better, got %.20q", v.Metric, v.Better)
		case len(v.Samples) == 0:
			return fmt.Sprintf("the metric %s has no values", v.Metric)
		}
		if i := slices.IndexFunc(v.Samples, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }); i >= 0 {
			return fmt.Sprintf("value %d of the metric %s is %v; it must be finite", i+1, v.Metric, v.Samples[i])
		}
	}
	return ""
}
