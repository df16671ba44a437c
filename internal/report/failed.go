package report

import (
	"github.com/goatnote-inc/pawl/internal/report/summary"
	"github.com/goatnote-inc/pawl/measure"
)

// Failure describes one side that did not measure every case.
type Failure struct {
	Implementation string
	Cases          []string // names, in the order of the record
	Error          string   // of the first failed case
}

// Failed lists the sides on which a case failed, in the order of the run's implementations.
// It ignores rounds that do not count.
func Failed(run *measure.Run) []Failure {
	var list []Failure
	summaries := summary.Of(run)
	for _, i := range run.Implementations {
		f := Failure{Implementation: i.Name}
		for _, s := range summaries {
			for _, side := range s.Sides {
				if side.Implementation != i.Name || side.Error == "" || s.Metric != "" {
					continue
				}
				if f.Cases = append(f.Cases, s.Name); f.Error == "" {
					f.Error = side.Error
				}
			}
		}
		if len(f.Cases) > 0 {
			list = append(list, f)
		}
	}
	return list
}
