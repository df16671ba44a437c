package stats_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/stats"
)

// The exact interval of a median is at least fifty times as fast as drawing it with
// SciPy, vectorised, 10,000 resamples of 100 samples. On a quiet machine it is 700 times
// as fast. A busy machine slows SciPy's long runs more than these short ones, so the
// factor only grows.
func TestMedianIntervalIsFasterThanDrawing(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	rng := rand.New(rand.NewPCG(13, 1))
	for name, x := range map[string][]float64{
		"smooth":  normals(rng, 100, 60, 1),
		"rounded": rounded(normals(rng, 100, 60, 1), 0.5),
	} {
		input, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), python(t), "testdata/speed.py")
		cmd.Stdin = bytes.NewReader(input)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("running speed.py: %v", err)
		}
		var scipy struct {
			Seconds   []float64
			Low, High float64
		}
		if err := json.Unmarshal(out, &scipy); err != nil {
			t.Fatal(err)
		}
		var exact []float64
		var got stats.Interval
		for range 20 {
			const calls = 20
			start := time.Now()
			for range calls {
				got = stats.MedianInterval(x, 0.95, 0)
			}
			exact = append(exact, time.Since(start).Seconds()/calls)
		}
		t.Logf("%s, 100 samples: scipy %.1f ms (%.1f to %.1f), exact %.0f us (%.0f to %.0f), %.0f times as fast", name,
			1e3*stats.Median(scipy.Seconds), 1e3*slices.Min(scipy.Seconds), 1e3*slices.Max(scipy.Seconds),
			1e6*stats.Median(exact), 1e6*slices.Min(exact), 1e6*slices.Max(exact), slices.Min(scipy.Seconds)/slices.Min(exact))
		if slices.Min(scipy.Seconds) < 50*slices.Min(exact) {
			t.Errorf("%s: scipy %v s, exact %v s: less than 50 times", name, slices.Min(scipy.Seconds), slices.Min(exact))
		}
		// The same question was answered. Means of two rounded samples lie a quarter apart.
		near(t, name+" low", got.Low, scipy.Low, 0.25/60)
		near(t, name+" high", got.High, scipy.High, 0.25/60)
	}
}
