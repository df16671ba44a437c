// Package pointcodectest generates realistic histories for tests of code that stores points.
package pointcodectest

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// History returns a realistic series: 1 % of noise, a commit every few hours from the start of 2026,
// occasionally a better level, every column in use.
func History(n int, seed uint64) []pointcodec.Point {
	rng := rand.New(rand.NewPCG(seed, 1))
	at := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	report, level := int64(1_000_000), 50_000*math.Exp(rng.NormFloat64())
	baseline := level
	points := make([]pointcodec.Point, n)
	for i := range points {
		at = at.Add(time.Duration(rng.ExpFloat64()*4*3600) * time.Second)
		report += 1 + rng.Int64N(300)
		verdict, moved := ratchet.Maintained, false
		if rng.IntN(60) == 0 {
			level *= 1 - 0.05*rng.Float64()
			baseline, verdict, moved = level, ratchet.Improvement, true
		}
		value := level * (1 + 0.01*rng.NormFloat64())
		half := value * 0.005 * (1 + 0.3*math.Abs(rng.NormFloat64()))
		flags, _ := pointcodec.Pack(measure.Trusted, verdict, moved)
		points[i] = pointcodec.Point{
			At: at.UnixMicro(), Report: report,
			Value: float32(value), Low: float32(value - half*(0.8+0.4*rng.Float64())), High: float32(value + half*(0.8+0.4*rng.Float64())),
			Spread: float32(0.01 * math.Exp(0.3*rng.NormFloat64())), Baseline: float32(baseline),
			Rounds: 10 + int32(rng.IntN(3))*5, Flags: flags,
		}
	}
	return points
}
