package simulate

import (
	"math"
	"math/rand/v2"

	"github.com/goatnote-inc/pawl/internal/learn/model"
)

// The process of session lengths and final speed-ups, by which forecasts are judged.
const (
	firstLeast, firstMost = 120.0, 300.0 // minutes of the first session, its median
	floorLeast, floorMost = 0.2, 0.5     // of that, where the curve ends
	slopeLeast, slopeMost = 0.2, 0.7     // exponent by which the rest falls with the number of sessions
	minutesSpread         = 0.35         // of the logarithm, session to session

	rateLeast, rateMost = 5.0, 40.0 // sessions in which the speed-up comes two thirds of its way
	startLeast          = 0.95      // median speed-up of the first session
	startMost           = 1.10
	endLeast, endMost   = 1.15, 1.60 // and of late ones
	speedupSpread       = 0.15

	stopFirst, stopLast = 0.25, 0.05 // share of sessions that end before anything is measured
	lostShare           = 0.04       // of sessions lose their host
	lostLeast, lostMost = 30.0, 120.0
)

// Pasts draws n sessions in a row of one team: minutes that fall along a learning curve,
// final speed-ups that rise towards a ceiling, both with a log-normal spread; early ones end
// more often at a gate with nothing measured, and now and then a host is lost, which costs
// minutes and the measurement.
func Pasts(seed uint64, n int) []model.Past {
	r := rand.New(rand.NewPCG(seed, streamPasts))
	first := uniform(r, firstLeast, firstMost)
	floor := first * uniform(r, floorLeast, floorMost)
	slope := uniform(r, slopeLeast, slopeMost)
	start, end := uniform(r, startLeast, startMost), uniform(r, endLeast, endMost)
	rate := uniform(r, rateLeast, rateMost)

	all := make([]model.Past, 0, n)
	for i := range n {
		learned := 1 - math.Exp(-float64(i)/rate)
		minutes := (floor + (first-floor)*math.Pow(float64(i+1), -slope)) * logNormal(r, minutesSpread)
		speedup := math.Exp(math.Log(start)+(math.Log(end)-math.Log(start))*learned) * logNormal(r, speedupSpread)
		if r.Float64() < stopFirst+(stopLast-stopFirst)*learned {
			speedup = 0
		}
		lost, costs := r.Float64() < lostShare, uniform(r, lostLeast, lostMost)
		if lost {
			minutes, speedup = minutes+costs, 0
		}
		all = append(all, model.Past{Minutes: minutes, Speedup: speedup})
	}
	return all
}
