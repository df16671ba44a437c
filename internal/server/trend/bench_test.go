package trend_test

import (
	"testing"

	"github.com/goatnote-inc/pawl/internal/server/trend"
)

// A look after one more point, as after every report.
func BenchmarkFind_OneMorePoint(b *testing.B) {
	for name, values := range map[string][]float64{
		"quiet, 300":  series(1, 301, 0.01, step(1000, 0)),
		"quiet, 1500": series(1, 1501, 0.01, step(2000, 0)),
		"step, 300":   series(1, 301, 0.01, step(200, 0.1)),
	} {
		b.Run(name, func(b *testing.B) {
			n := len(values)
			_, st := trend.Find(values[:n-1], trend.Settings{}, trend.State{})
			for b.Loop() {
				trend.Find(values, trend.Settings{}, st)
			}
		})
	}
}

// A history that is read from the start, as after a late report.
func BenchmarkFind_Whole(b *testing.B) {
	values := series(1, 300, 0.01, step(200, 0.1))
	for b.Loop() {
		trend.Find(values, trend.Settings{}, trend.State{})
	}
}
