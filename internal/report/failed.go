package report

import (
	"github.com/goatnote-inc/pawl/measure"
)

// Failure tells of one side that did not measure everything.
type Failure struct {
	Implementation string
	Cases          []string // their names, in the order of the record
	Error          string   // of the first
}

// Failed lists the sides on which a case failed, in the order of the run's
// implementations. Rounds that do not count are not held against anybody.
func Failed(run *measure.Run) []Failure {
	var list []Failure
	summaries := Summarise(run)
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
