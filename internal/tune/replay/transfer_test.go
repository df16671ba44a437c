package replay_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/tune/replay"
)

// What is the most that another GPU can teach in 20 evaluations? Whoever knows every
// point of it tries its best 20 here. That is below what a warm start is asked for, and
// below what it reaches: the docs name these figures as its limit.
func TestTransferLimit(t *testing.T) {
	data := os.Getenv("PAWL_DATA")
	if data == "" {
		t.Skip("PAWL_DATA is not set: no recorded spaces here")
	}
	paths, err := filepath.Glob(filepath.Join(data, "tuning-spaces", "*.csv.gz"))
	if err != nil || len(paths) == 0 {
		t.Skipf("no recorded spaces: %v", err)
	}
	families := map[string][]*replay.Recording{}
	for _, p := range paths {
		rec, err := replay.Open(p)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(p), ".csv.gz")
		rec.Name = name
		family, _, _ := strings.Cut(name, "_")
		families[family] = append(families[family], rec)
	}
	sum, pairs := 0.0, 0
	for _, recs := range families {
		for _, from := range recs {
			for _, to := range recs {
				if from == to {
					continue
				}
				f := bestOf(from, to, 20)
				t.Logf("%s to %s: %.3f", from.Name, to.Name, f)
				sum, pairs = sum+f, pairs+1
			}
		}
	}
	mean := sum / float64(pairs)
	t.Logf("mean over %d pairs: %.3f", pairs, mean)
	if pairs != 28 || math.Abs(mean-0.850) > 0.005 {
		t.Errorf("the mean over %d pairs is %.3f: docs/explanation/tuning.md says 0.850 over 28", pairs, mean)
	}
}

// bestOf is the fraction of the optimum that the best n points of one recording reach
// on another.
func bestOf(from, to *replay.Recording, n int) float64 {
	var order []int
	for i, r := range from.Rows {
		if !r.Failed() {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(math.Copysign(1, from.Rows[a].Time-from.Rows[b].Time)) })
	there := map[string]replay.Row{}
	for i, r := range to.Rows {
		there[fmt.Sprint(to.Space.Config(i))] = r
	}
	best := 0.0
	for _, i := range order[:min(n, len(order))] {
		if r, ok := there[fmt.Sprint(from.Space.Config(i))]; ok && !r.Failed() {
			best = max(best, to.Optimum/r.Time)
		}
	}
	return best
}
