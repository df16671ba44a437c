package ratchet

import (
	"fmt"
	"math"
)

// Thresholds for changes that are reported without failing a change.
const (
	tailRose   = 0.10 // P95 or P99 worse by this much more than the median
	spreadRose = 1.5  // ratio of the spread to the base's
	spreadSeen = 0.03 // smallest spread worth reporting
)

// watch describes changes other than the median. Tails and shapes are too noisy to gate on, but readers
// often ask about them first.
func watch(f Facts) []string {
	var list []string
	worse := func(now, base float64) float64 {
		if !(now > 0 && base > 0) {
			return 0
		}
		return math.Expm1(math.Log(now / base))
	}
	for _, tail := range []struct {
		name      string
		now, base float64
	}{{"P95", f.Now.P95, f.Base.P95}, {"P99", f.Now.P99, f.Base.P99}} {
		if up := worse(tail.now, tail.base); f.Better != "higher" && up > tailRose && up > f.Change+tailRose {
			list = append(list, fmt.Sprintf("%s rose by %s, the median by %s", tail.name, percent(up), percent(f.Change)))
		}
	}
	if f.Now.Modes != f.Base.Modes && f.Now.Modes > 1 {
		list = append(list, fmt.Sprintf("samples cluster around %d values, in the base around %d", f.Now.Modes, f.Base.Modes))
	}
	if f.Now.CV > spreadSeen && f.Now.CV > spreadRose*f.Base.CV {
		list = append(list, fmt.Sprintf("spread %s, in the base %s", percent(f.Now.CV), percent(f.Base.CV)))
	}
	return list
}

func percent(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }
