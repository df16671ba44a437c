package store_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"
)

// TestLabSearch measures searches in a million series, with fsync on:
//
//	PAWL_LAB=FOLDER go test ./internal/server/store -run LabSearch -v -timeout 1h
//
// The table is written to server-search.md of the folder PAWL_LAB too.
func TestLabSearch(t *testing.T) {
	if os.Getenv("PAWL_LAB") == "" {
		t.Skip("a lab: set PAWL_LAB")
	}
	const n = 1_000_000
	s, pg := labStore(t, t.TempDir())
	url := pg.URL("postgres")
	project := projectNamed(t, s, "lab")
	began := time.Now()
	fillSeries(t, url, project, n)
	out := labTable(t, "server-search")
	conn := owner(t, url)
	out("| what | figure |\n| --- | --- |\n| series | %d, filled and indexed in %.0f s |\n", n, time.Since(began).Seconds())
	out("| index of words | %.0f B a series |\n", float64(ask1(t, conn, `select pg_total_relation_size('pawl.series_word')`))/n)
	out("\n| search for | p50 | p95 | p99 | target p95 |\n| --- | --- | --- | --- | --- |\n")

	rng := rand.New(rand.NewPCG(1, 2))
	kernels := []string{"attention", "gemm", "layernorm", "softmax", "quantize", "spmm", "topk", "fft"}
	kernel := func() string { return kernels[rng.IntN(len(kernels))] }
	for _, c := range []struct {
		name, target string
		text         func() string
		none         bool
	}{
		{"the first letters of a kernel, as they are typed", "50 ms", func() string { k := kernel(); return k[:2+rng.IntN(len(k)-1)] }, false},
		{"a kernel and a suite", "50 ms", func() string { return fmt.Sprintf("%s suite%d", kernel(), rng.IntN(100)) }, false},
		{"one config", "50 ms", func() string { return fmt.Sprintf("b%d", rng.IntN(n)) }, false},
		{"an owner and a kernel", "50 ms", func() string { return fmt.Sprintf("team%d %s", rng.IntN(7), kernel()) }, false},
		{"a word that no series has", "50 ms", func() string { return fmt.Sprintf("zebra%d", rng.IntN(n)) }, true},
		{"two common words that no series has both of", "", func() string { return "attention gemm" }, true},
		{"two words among each other that no series has both of", "", func() string { return "h0 suite21" }, true},
	} {
		var took []time.Duration
		for range 100 {
			text := c.text()
			began := time.Now()
			hits, err := s.Search(t.Context(), 0, true, text)
			took = append(took, time.Since(began))
			if err != nil || (len(hits) == 0) != c.none {
				t.Fatalf("%q finds %d: %v", text, len(hits), err)
			}
		}
		slices.Sort(took)
		at := func(share float64) float64 { return took[int(share*float64(len(took)-1))].Seconds() * 1e3 }
		out("| %s | %.1f ms | %.1f ms | %.1f ms | %s |\n", c.name, at(0.5), at(0.95), at(0.99), c.target)
	}
}
