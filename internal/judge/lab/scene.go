package lab

import (
	"math"
	"math/rand/v2"

	"github.com/goatnote-inc/pawl/stats"
)

// Shape is the distribution of rounds.
type Shape string

// The shapes. All have the requested standard deviation.
const (
	Gaussian Shape = "Gaussian"
	// T3 is Student's t with 3 degrees of freedom: one round in a hundred is an outlier.
	T3 Shape = "t3"
	// Bimodal has two speeds, as clocks and memory layouts cause them. Each round randomly takes one of
	// them for all of its samples.
	Bimodal Shape = "bimodal"
	// Lognormal and Pareto are skewed: a round is never much faster, and occasionally much slower.
	Lognormal Shape = "lognormal"
	Pareto    Shape = "Pareto 2.2"
	// SideModes has two speeds like Bimodal, but each side has its own probability of the slow one. So one
	// side really is slower, by chance.
	SideModes Shape = "modes by side"
	// Sticky has two speeds that a side keeps for some rounds: one round in four draws it again.
	Sticky Shape = "sticky modes"
)

// Shapes are the shapes on which everything is measured.
var Shapes = []Shape{Gaussian, T3, Bimodal}

// apartModes is the distance of each of the two modes from the middle. The rest of the standard deviation
// of 1 is around the modes.
const apartModes = 0.95

// draw returns one value from a distribution with mean 0 and standard deviation 1.
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

// side returns a function that draws the values of one side, round after round.
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

// Scene is a simulated machine with a kernel on it. All spreads are standard deviations of logarithms:
// 0.015 is 1.5 %.
//
// The time of a round of a side is
//
//	Value * exp(session + drift + machine + own + effect), rounded to Step
//
// where session is drawn once per session, machine once per round and shared by both sides, and own once
// per round and side. Only own and the timer's step remain in the difference of rounds that were measured
// together.
type Scene struct {
	Shape  Shape   `json:"shape"`  // distribution of own
	Spread float64 `json:"spread"` // spread of own: between rounds of each side
	Effect float64 `json:"effect"` // 0.04 means the candidate takes 4 % longer

	Machine   float64 `json:"machine"`
	Session   float64 `json:"session"`
	Drift     float64 `json:"drift,omitempty"`   // slowdown over 32 rounds; the sides swap places every round
	Linger    float64 `json:"linger,omitempty"`  // autocorrelation of own between successive rounds
	Wander    float64 `json:"wander,omitempty"`  // random walk of each side, in spreads per round
	Unequal   bool    `json:"unequal,omitempty"` // the candidate's own has twice the spread of the base's; their total is unchanged
	Alike     float64 `json:"alike,omitempty"`   // correlation of own between cases of a suite
	Wild      float64 `json:"wild,omitempty"`    // share of rounds in which a random side takes 10 to 100 % longer
	Bursts    bool    `json:"bursts,omitempty"`  // in two neighboring rounds of eight, a random side takes 30 % longer
	SlowerNow float64 `json:"today,omitempty"`   // slowdown of the machine since the sessions were stored
	Kept      int     `json:"kept,omitempty"`    // stored sessions; 0 means storedSessions

	Value   float64 `json:"value"` // time of the kernel, ns
	Step    float64 `json:"step"`  // step of the timer, ns
	Samples int     `json:"samples"`
	Noise   Noise   `json:"-"` // noise of samples inside a round
}

// NewScene returns the scene that others vary: a kernel of a third of a millisecond, and the timer of
// the recorded L4.
func NewScene(shape Shape, spread, effect float64) Scene {
	return Scene{
		Shape: shape, Spread: spread, Effect: effect,
		Machine: 0.01, Session: 0.01,
		Value: 320e3, Step: 1024,
		Samples: 100, Noise: recordedNoise,
	}
}

// Noise generates the samples inside a round.
type Noise interface {
	// samples returns the samples of a round around center.
	samples(rng *rand.Rand, n int, center float64) []float64
	// moves reports whether the median of the samples may differ from center. If it cannot, a method
	// that needs only medians needs no samples.
	moves() bool
}

// correlatedNoise is noise in which each sample resembles the previous one.
type correlatedNoise struct {
	Spread float64 // spread of a sample
	Lag1   float64 // autocorrelation of neighboring samples
}

// recordedNoise describes the typical recording of an L4. A test compares it with Fit.
var recordedNoise = correlatedNoise{Spread: 0.05, Lag1: 0.80}

func (e correlatedNoise) moves() bool { return false }

func (e correlatedNoise) samples(rng *rand.Rand, n int, center float64) []float64 {
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
