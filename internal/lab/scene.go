package lab

import (
	"math"
	"math/rand/v2"

	"github.com/goatnote-inc/pawl/stats"
)

// Shape is how rounds scatter.
type Shape string

// The shapes. All have the standard deviation they are asked for.
const (
	Gaussian Shape = "Gaussian"
	// T3 is Student's t with 3 degrees of freedom: one round in a hundred is wild.
	T3 Shape = "t3"
	// Bimodal has two speeds, as clocks and memory layouts make them: each round takes
	// one of them by chance, the same for all of its samples.
	Bimodal Shape = "bimodal"
	// Lognormal and Pareto lean to one side: a round is never much quicker, and now and then much slower.
	Lognormal Shape = "lognormal"
	Pareto    Shape = "Pareto 2.2"
	// SideModes has two speeds as Bimodal has, but each side has its own chance of the slow one, so that
	// one side is truly slower by chance.
	SideModes Shape = "modes by side"
	// Sticky has two speeds that a side keeps for some rounds: in one of four it is drawn anew.
	Sticky Shape = "sticky modes"
)

// Shapes are those of which everything is measured.
var Shapes = []Shape{Gaussian, T3, Bimodal}

// apartModes is how far each of the two modes is from the middle; the rest of the
// standard deviation of 1 is around the modes.
const apartModes = 0.95

// draw is one value of mean 0 and standard deviation 1.
func (s Shape) draw(rng *rand.Rand) float64 {
	switch s {
	case T3:
		var squares float64
		for range 3 {
			z := rng.NormFloat64()
			squares += z * z
		}
		return rng.NormFloat64() / math.Sqrt(squares)
	case Bimodal:
		mode := apartModes
		if rng.Uint64()&1 == 0 {
			mode = -apartModes
		}
		return mode + math.Sqrt(1-apartModes*apartModes)*rng.NormFloat64()
	case Lognormal:
		return (math.Exp(rng.NormFloat64()) - math.Exp(0.5)) / math.Sqrt((math.E-1)*math.E)
	case Pareto:
		const a = 2.2
		return (math.Pow(1-rng.Float64(), -1/a) - a/(a-1)) / math.Sqrt(a/((a-1)*(a-1)*(a-2)))
	default:
		return rng.NormFloat64()
	}
}

// side draws the values of one side, round after round.
func (s Shape) side(rng *rand.Rand) func() float64 {
	around := math.Sqrt(1 - apartModes*apartModes)
	switch s {
	case SideModes:
		chance := 0.2 + 0.6*rng.Float64()
		return func() float64 {
			v := around * rng.NormFloat64()
			if rng.Float64() < chance {
				return v + apartModes
			}
			return v - apartModes
		}
	case Sticky:
		mode := apartModes * float64(2*rng.IntN(2)-1)
		return func() float64 {
			if rng.IntN(4) == 0 {
				mode = apartModes * float64(2*rng.IntN(2)-1)
			}
			return mode + around*rng.NormFloat64()
		}
	default:
		return func() float64 { return s.draw(rng) }
	}
}

// Scene is a machine and a kernel on it, as the generator makes them. All spreads are
// standard deviations of logarithms: 0.015 is 1.5 %.
//
// The time of a round of a side is
//
//	Value * exp(session + drift + machine + own + effect), rounded to Step
//
// where session is drawn once a session, machine once a round and shared by both sides,
// and own once a round and side. Only own and the timer's step stay in a difference of
// rounds that were measured together.
type Scene struct {
	Shape  Shape   `json:"shape"`  // of own
	Spread float64 `json:"spread"` // of own: between rounds, of each side
	Effect float64 `json:"effect"` // 0.04: the candidate takes 4 % longer

	Machine float64 `json:"machine"`
	Session float64 `json:"session"`
	Drift   float64 `json:"drift,omitempty"`   // slower by this share over 32 rounds; the sides change places every round
	Linger  float64 `json:"linger,omitempty"`  // how much own resembles that of the round before: its autocorrelation
	Wander  float64 `json:"wander,omitempty"`  // each side moves by this many spreads a round, and does not come back
	Unequal bool    `json:"unequal,omitempty"` // the candidate's own spreads twice as much as the base's; together they spread as much
	Alike   float64 `json:"alike,omitempty"`   // how much own resembles that of other cases of a suite: the correlation
	Wild    float64 `json:"wild,omitempty"`    // share of rounds in which one side, by chance, takes 10 to 100 % longer
	Bursts  bool    `json:"bursts,omitempty"`  // in two neighboring rounds of eight, one side, by chance, takes 30 % longer
	Today   float64 `json:"today,omitempty"`   // the machine takes so much longer now than when sessions were stored
	Kept    int     `json:"kept,omitempty"`    // stored sessions; 0 is storedSessions

	Value   float64 `json:"value"` // ns
	Step    float64 `json:"step"`  // of the timer, ns
	Samples int     `json:"samples"`
	Noise   Noise   `json:"-"` // of samples inside a round
}

// NewScene is the scene that others are variations of: a kernel of a third of a
// millisecond and a timer as the recorded L4 have them.
func NewScene(shape Shape, spread, effect float64) Scene {
	return Scene{
		Shape: shape, Spread: spread, Effect: effect,
		Machine: 0.01, Session: 0.01,
		Value: 320e3, Step: 1024,
		Samples: 100, Noise: recordedNoise,
	}
}

// Noise is what samples inside a round are like.
type Noise interface {
	// samples are those of a round around center.
	samples(rng *rand.Rand, n int, center float64) []float64
	// moves tells whether their median is another than center. Where it is not, a
	// method that needs medians only needs no samples.
	moves() bool
}

// echo is noise in which each sample resembles the one before.
type echo struct {
	Spread float64 // of a sample
	Lag1   float64 // autocorrelation of neighbours
}

// recordedNoise is the typical recording of an L4; Fit finds it again, and a test
// compares.
var recordedNoise = echo{Spread: 0.05, Lag1: 0.80}

func (e echo) moves() bool { return false }

func (e echo) samples(rng *rand.Rand, n int, center float64) []float64 {
	list := make([]float64, n)
	fresh := math.Sqrt(1 - e.Lag1*e.Lag1)
	z := rng.NormFloat64()
	for i := range list {
		list[i] = e.Spread * z
		z = e.Lag1*z + fresh*rng.NormFloat64()
	}
	middle := stats.Median(list)
	for i := range list {
		list[i] = center * math.Exp(list[i]-middle)
	}
	return list
}
