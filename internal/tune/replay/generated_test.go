package replay_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/tune/replay"
)

// generated is a small space with the traits of real ones: an interaction, an aligned
// block size that matters, failures, noise.
func generated(t testing.TB) *replay.Recording {
	t.Helper()
	var b strings.Builder
	b.WriteString("block,tile,unroll,shared,status,time_ms,eval_cost_s,times_ms\n")
	for block := 16; block <= 256; block += 16 {
		for tile := 1; tile <= 6; tile++ {
			for unroll := 1; unroll <= 8; unroll *= 2 {
				for shared := range 2 {
					if block*tile > 1024 {
						fmt.Fprintf(&b, "%d,%d,%d,%d,compile_error,,0.4,\n", block, tile, unroll, shared)
						continue
					}
					time := 1 + math.Abs(math.Log2(float64(block*tile)/384)) + 0.1*math.Abs(float64(unroll-4)) + 0.3*float64(1-shared)*float64(tile)
					if block%32 != 0 {
						time *= 1.5
					}
					fmt.Fprintf(&b, "%d,%d,%d,%d,ok,%.4f,%.2f,%.4f %.4f %.4f\n", block, tile, unroll, shared, time, 0.5+0.1*float64(unroll), time, time*1.02, time*0.99)
				}
			}
		}
	}
	return read(t, b.String())
}
