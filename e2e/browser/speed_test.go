package browser_test

import (
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/measure"
)

// long fills one series with so many points, and gives its page.
func (s *site) long(t *testing.T, points int) string {
	t.Helper()
	s.ingestAll(t, func(yield func(*client.Report) bool) {
		for n := range points {
			if !yield(longReport(n, points)) {
				return
			}
		}
	})
	s.look(t)
	list, err := s.store.SeriesList(t.Context(), s.project.ID, store.SeriesQuery{})
	if err != nil || len(list) != 1 {
		t.Fatal(len(list), err)
	}
	return fmt.Sprintf("/p/kernels/series/%d", list[0].ID)
}

func longReport(n, of int) *client.Report {
	at := now.Add(-time.Duration(of-n) * 40 * time.Minute)
	value := 1e6 * (1 + 0.01*math.Sin(float64(n)*12.9898) + 0.05*float64(n/(of/4+1)))
	return &client.Report{
		Schema: client.SchemaReport, Run: fmt.Sprintf("01LONG%020d", n), Measured: at, Suite: "long",
		Commit: client.Commit{SHA: fmt.Sprintf("%040x", n+1), At: &at, Title: "kernels: change something"}, Branch: "main",
		Trust: measure.Checked, Device: gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA L4"}, Testbed: measure.Testbed{Kind: gpu.NVIDIA, Device: "NVIDIA L4"},
		Points: []client.Point{{
			CaseKey: measure.CaseKey{Benchmark: "matmul", Config: "N4096", Implementation: measure.Candidate}, Unit: "ns", Timer: measure.TimerDevice,
			Value: value, Low: value * 0.995, High: value * 1.005, Spread: 0.004, Rounds: 10, Samples: 300, Verdict: "maintained",
		}},
	}
}

// Looking closer at a history that was thinned out asks the server for more of it.
func TestCloser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	s := newSite(t)
	page := s.long(t, 200)
	found := browse(t, "closer.mjs", map[string]any{"url": s.url, "path": page + "?buckets=10"})
	tell(t, found)
	if f := found[0].Figures; f["first"] >= 100 || f["closer"] == 0 {
		t.Errorf("%v points at first, %v closer", f["first"], f["closer"])
	}
}

// The figure of the issue: hover and zoom on 10,000 points, p95 below 50 ms. It is
// measured, with PAWL_LAB set, on a machine that does nothing else.
func TestLabSpeed(t *testing.T) {
	if os.Getenv("PAWL_LAB") == "" {
		t.Skip("PAWL_LAB is not set")
	}
	s := newSite(t)
	page := s.long(t, 10_000)
	var took []float64
	for range 40 {
		began := time.Now()
		fetch(t, s.url+page)
		took = append(took, time.Since(began).Seconds()*1000)
	}
	t.Logf("series page of 10,000 points: p95 %.0f ms", p95(took))
	found := browse(t, "speed.mjs", map[string]any{"url": s.url, "path": page + "?buckets=5000", "times": 200})
	tell(t, found)
	f := found[0].Figures
	if f["points"] != 10_000 || f["hover p95 ms"] >= 50 || f["zoom p95 ms"] >= 50 {
		t.Errorf("hover and zoom: %v", f)
	}
}
