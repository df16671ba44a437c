package tune_test

import (
	"math"
	"testing"

	"github.com/goatnote-inc/pawl/internal/tune"
)

func TestRemaining(t *testing.T) {
	falling := []float64{100, 100, 90, 90, 80, 80, 72, 72, 70, 70}
	for _, tt := range []struct {
		name  string
		best  []float64
		more  int
		want  float64
		known bool
	}{
		{"too few", falling[:5], 10, 0, false},
		{"as many again: what the later half brought", falling, 10, 1 - 70.0/80, true},
		{"two more: what the last two brought", falling, 2, 1 - 70.0/72, true},
		{"none more", falling, 0, 0, true},
		{"it stands still", []float64{9, 5, 5, 5, 5, 5, 5, 5, 5, 5}, 100, 0, true},
		{"nothing works", make([]float64, 10), 10, 0, false},
	} {
		if got, known := tune.Remaining(tt.best, tt.more); math.Abs(got-tt.want) > 1e-12 || known != tt.known {
			t.Errorf("%s: %g, %v, want %g, %v", tt.name, got, known, tt.want, tt.known)
		}
	}
}
