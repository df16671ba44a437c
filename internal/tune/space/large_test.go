//go:build !race

package space_test

import (
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/tune/space"
)

// large is a matrix multiplication as libraries tune it: 1.05e9 in the product, and
// about a million of them valid.
func large() space.Definition {
	return space.Definition{
		Parameters: []space.Parameter{
			{Name: "MWG", Values: ints(16, 32, 64, 128, 256)},
			{Name: "NWG", Values: ints(16, 32, 64, 128, 256)},
			{Name: "KWG", Values: ints(8, 16, 32, 64)},
			{Name: "MDIMC", Values: ints(4, 8, 16, 32)},
			{Name: "NDIMC", Values: ints(4, 8, 16, 32)},
			{Name: "MDIMA", Values: ints(4, 8, 16, 32)},
			{Name: "NDIMB", Values: ints(4, 8, 16, 32)},
			{Name: "KWI", Values: ints(1, 2, 4, 8)},
			{Name: "VWM", Values: ints(1, 2, 4, 8)},
			{Name: "VWN", Values: ints(1, 2, 4, 8)},
			{Name: "STRM", Values: []any{false, true}},
			{Name: "STRN", Values: []any{false, true}},
			{Name: "SA", Values: []any{false, true}},
			{Name: "SB", Values: []any{false, true}},
			{Name: "unroll", Values: ints(1, 2, 4, 8, 16)},
			{Name: "stages", Values: ints(1, 2)},
			{Name: "pad", Values: ints(0, 1, 2, 4), When: "SA and MDIMA == MDIMC"},
		},
		Constraints: []string{
			"KWG % KWI == 0", "MWG % (MDIMC * VWM) == 0", "NWG % (NDIMC * VWN) == 0",
			"MWG % (MDIMA * VWM) == 0", "NWG % (NDIMB * VWN) == 0",
			"KWG % (MDIMC * NDIMC / MDIMA) == 0", "KWG % (MDIMC * NDIMC / NDIMB) == 0",
			"(SA ? KWG * MWG : 0) + (SB ? KWG * NWG : 0) <= 2048", "128 <= MDIMC * NDIMC <= 256",
			"unroll <= KWG / KWI / 2", "VWM == VWN or STRM == STRN", "KWI * VWM <= 8", "KWI * VWN <= 8", "STRM or not STRN", "stages == 1 or SA and SB", "MWG * NWG / (MDIMC * NDIMC) <= 64",
		},
	}
}

// How long it takes is logged, not judged: the benchmark below is for a quiet machine.
func TestLargeSpaceIsEnumerated(t *testing.T) {
	product := 1.0
	for _, p := range large().Parameters {
		product *= float64(len(p.Values))
	}
	start := time.Now()
	s := whole(t, large())
	t.Logf("%d of %.2g points in %v", s.Len(), product, time.Since(start))
	if s.Len() < 1_000_000 || product < 1e9 || !s.Complete() {
		t.Errorf("%d of %.2g points, complete %v: not the space this test is about", s.Len(), product, s.Complete())
	}
}

func BenchmarkEnumerate(b *testing.B) {
	for b.Loop() {
		b.ReportMetric(float64(whole(b, large()).Len()), "points")
	}
}
