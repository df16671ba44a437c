package submit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/goatnote-inc/pawl/stats"
)

// noisyRounds returns rounds of a candidate whose true change is given. Their spread and tails are those of same code on
// two shared cores, in rounds of 60 samples on one core: 3.7 %, and 3 % of the rounds 10 % or more apart.
func noisyRounds(r *rand.Rand, change, spread float64, n int) []float64 {
	const wild, wildSD, calmSD = 0.05, 0.13, 0.024
	list := make([]float64, n)
	for i := range list {
		sd := calmSD
		if r.Float64() < wild {
			sd = wildSD
		}
		list[i] = change + sd*spread/0.037*r.NormFloat64()
	}
	return list
}

// simulateBatch lets candidates race, of which the last one is ahead, and judges the finalists. It reports whether the best
// one is found, and how many rounds of a side the races took.
func simulateBatch(r *rand.Rand, candidates int, gain, spread float64) (found bool, sideRounds int) {
	best := candidates - 1
	truth := func(i int) float64 {
		if i == best {
			return -math.Log1p(gain)
		}
		return 0
	}
	alive := make([]int, candidates)
	raced := make([][]float64, candidates)
	for i := range alive {
		alive[i] = i
	}
	for len(alive) > finalists {
		sideRounds += (len(alive) + 1) * raceRounds // and the base
		var rounds [][]float64
		for _, i := range alive {
			raced[i] = append(raced[i], noisyRounds(r, truth(i), spread, raceRounds)...)
			rounds = append(rounds, raced[i])
		}
		places, keep := halve(rounds)
		var next []int
		for _, place := range places[:keep] {
			next = append(next, alive[place])
		}
		alive = next
	}
	winner, low := -1, 0.0
	for _, i := range alive {
		fresh := noisyRounds(r, truth(i), 0.037, judgeRounds)
		slices.Sort(fresh)
		middle := fresh[judgeRounds/4 : judgeRounds-judgeRounds/4] // the judge trims wild rounds, too
		if l := -stats.Mean(middle) - 2*stats.StdDev(fresh)/math.Sqrt(judgeRounds); l > low {
			winner, low = i, l
		}
	}
	return winner == best, sideRounds
}

// judgeRounds is what a judgment of a gain of 6 % takes where rounds differ by 3.7 %, and raceCost what a round of a race,
// which has half of the samples, costs of a round of a judgment.
const (
	judgeRounds = 16
	raceCost    = 0.6
)

// A batch finds the one of 32 that is 6 % ahead in at least 9 of 10 tries, with at most 1.5 times the rounds of measuring
// it alone four times.
func TestHalving_FindsTheBest(t *testing.T) {
	t.Parallel()
	const tries = 2000
	for _, test := range []struct {
		name         string
		candidates   int
		gain, spread float64
		min          float64
	}{
		{"rounds as measured", 32, 0.06, 0.037, 0.95},
		{"rounds of a race twice as variable", 32, 0.06, 0.037 * math.Sqrt2, 0.9},
		{"the largest batch", MaxBatch, 0.06, 0.037, 0.9},
		{"few candidates", 5, 0.06, 0.037, 0.95},
	} {
		r := rand.New(rand.NewPCG(21, 1))
		found, cost := 0, 0
		for range tries {
			ok, sideRounds := simulateBatch(r, test.candidates, test.gain, test.spread)
			if cost = sideRounds; ok {
				found++
			}
		}
		share := float64(found) / tries
		alone := 2.0 * judgeRounds // base and candidate
		ratio := (raceCost*float64(cost) + finalists*alone) / (4 * alone)
		t.Logf("%s: found in %.1f %%, %d side rounds of races, %.2f times the time of four measurements alone", test.name, 100*share, cost, ratio)
		if share < test.min {
			t.Errorf("%s: found in %.1f %%, want %.0f", test.name, 100*share, 100*test.min)
		}
		if test.candidates == 32 && ratio > 1.5 {
			t.Errorf("%s: %.2f times the time of four measurements alone", test.name, ratio)
		}
	}
}
