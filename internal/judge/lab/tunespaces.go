package lab

import (
	"fmt"
	"math"
	"strings"

	"github.com/goatnote-inc/pawl/internal/tune/replay"
)

// GeneratedSpaces returns two small spaces with traits of real ones, of one kernel on two devices: an
// interaction, a block size that must be aligned, failures and noise.
func GeneratedSpaces() ([]*replay.Recording, error) {
	var list []*replay.Recording
	for _, device := range []struct {
		name string
		best float64 // best value of block times tile
	}{{"generated_small", 384}, {"generated_large", 512}} {
		rec, err := replay.Read(strings.NewReader(generatedSpace(device.best)))
		if err != nil {
			return nil, fmt.Errorf("generated space: %w", err)
		}
		rec.Name = device.name
		list = append(list, rec)
	}
	return list, nil
}

func generatedSpace(best float64) string {
	var b strings.Builder
	b.WriteString("block,tile,unroll,shared,status,time_ms,eval_cost_s,times_ms\n")
	for block := 16; block <= 256; block += 16 {
		for tile := 1; tile <= 6; tile++ {
			for unroll := 1; unroll <= 8; unroll *= 2 {
				for shared := range 2 {
					if block*tile > 1024 {
						fmt.Fprintf(&b, "%d,%d,%d,%d,compile_error,,4,\n", block, tile, unroll, shared)
						continue
					}
					time := 1 + math.Abs(math.Log2(float64(block*tile)/best)) + 0.1*math.Abs(float64(unroll-4)) + 0.3*float64(1-shared)*float64(tile)
					if block%32 != 0 {
						time *= 1.5
					}
					fmt.Fprintf(&b, "%d,%d,%d,%d,ok,%.4f,%.1f,%.4f %.4f %.4f\n", block, tile, unroll, shared, time, 15+float64(unroll), time, time*1.02, time*0.99)
				}
			}
		}
	}
	return b.String()
}
