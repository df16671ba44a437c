package calibration

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
	"github.com/goatnote-inc/pawl/stats"
)

// planted is the slowdown of the third side: 17 runs are counted as 16.
const planted = 1.0 / 16

// card is a simulated card. Its rounds go to the real judge.
type card struct {
	r      *rand.Rand
	policy ratchet.Policy
	noise  float64 // spread of a round's ratio
	wild   float64 // share of rounds that something disturbed
	at     time.Time
	state  State
	list   []Record
}

func newCard(seed uint64) *card {
	r := rand.New(rand.NewPCG(seed, 6))
	return &card{
		r: r, policy: ratchet.Default().WithLooks([]int{8, 16, 32}), at: noon,
		noise: 0.002 * math.Exp(2*r.Float64()), // 0.2 % to 1.5 %
		wild:  0.02 * r.Float64(),
	}
}

// rounds draws the logarithms of the ratios of 32 rounds.
func (c *card) rounds() []float64 {
	list := make([]float64, 32)
	for i := range list {
		list[i] = c.noise * c.r.NormFloat64()
		if c.r.Float64() < c.wild {
			list[i] += c.noise * 10 * c.r.NormFloat64()
		}
	}
	return list
}

func evidence(ratios []float64, shift float64) []ratchet.Evidence {
	const center = 1e6
	e := ratchet.Evidence{
		Case: measure.CaseKey{Benchmark: "calibration", Implementation: measure.Candidate}, Unit: "ns", Gate: true, Paired: true, HasBase: true, HasCandidate: true,
	}
	for i, x := range ratios {
		v := center * math.Exp(x+shift)
		e.Base = append(e.Base, ratchet.Round{Index: i, Sorted: stats.Sorted{center}, Median: center})
		e.Candidate = append(e.Candidate, ratchet.Round{Index: i, Sorted: stats.Sorted{v}, Median: v})
	}
	return []ratchet.Evidence{e}
}

// calibrate measures as pawl doctor --gate does: until the judge has decided about both questions.
func (c *card) calibrate() State {
	same, slow := c.rounds(), c.rounds()
	shift := math.Log1p(planted)
	n := 0
	for _, n = range c.policy.Looks {
		if len(ratchet.MoreRounds(c.policy, evidence(same[:n], 0), evidence(slow[:n], shift))) == 0 {
			break
		}
	}
	pass := ratchet.Judge(c.policy, evidence(same[:n], 0)).Cases[0]
	fail := ratchet.Judge(c.policy, evidence(slow[:n], shift)).Cases[0]
	c.at = c.at.Add(24 * time.Hour)
	r := Record{
		At: c.at, Rounds: n, Noise: pass.Facts.Spread, Smallest: pass.Facts.Detectable, Planted: planted,
		FalseAlarm: pass.Verdict == ratchet.Regression || pass.Verdict == ratchet.Improvement, Found: fail.Verdict == ratchet.Regression,
	}
	c.state = c.state.Next(c.list[max(0, len(c.list)-Kept):], r)
	c.list = append(c.list, r)
	return c.state
}

func TestRates_HealthyCards(t *testing.T) {
	testrun.SkipRace(t)
	cards := testrun.Times(20, 100)
	quarantines, calibrations := 0, 0
	for seed := range uint64(cards) {
		c := newCard(seed)
		for range 100 {
			was := c.state.Quarantine
			if c.calibrate().Quarantine != "" && was == "" {
				quarantines++
				t.Logf("card %d, noise %.2f %%: %s after %d calibrations", seed, 100*c.noise, c.state.Quarantine, len(c.list))
			}
			calibrations++
		}
	}
	t.Logf("%d quarantines in %d calibrations of healthy cards", quarantines, calibrations)
	if 1000*quarantines > calibrations {
		t.Errorf("%d quarantines in %d calibrations of healthy cards, want at most 1 in 1,000", quarantines, calibrations)
	}
}

func TestRates_PlantedNoise(t *testing.T) {
	testrun.SkipRace(t)
	cards := testrun.Times(200, 1000)
	found := 0
	for seed := range uint64(cards) {
		c := newCard(1_000_000 + seed)
		for range 20 {
			c.calibrate()
		}
		c.state = State{}
		c.noise *= 5
		for range 3 {
			if c.calibrate().Quarantine != "" {
				found++
				break
			}
		}
	}
	t.Logf("%d of %d cards whose noise grew five times were quarantined within 3 calibrations", found, cards)
	if 100*found < 95*cards {
		t.Errorf("%d of %d cards were quarantined within 3 calibrations, want 95 %%", found, cards)
	}
}
