package lab

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/goatnote-inc/pawl/ratchet"
	"github.com/goatnote-inc/pawl/stats"
)

// maxRounds is the maximum number of rounds of a generated comparison, more than any method asks for.
const maxRounds = 64

// driftRounds is the number of rounds over which a scene's drift is specified.
const driftRounds = 32

// generated is a comparison that a scene generates.
type generated struct {
	Scene
	trial           uint64
	rng             *rand.Rand // random source of the rounds
	sampleRNG       *rand.Rand // random source of samples and stored sessions; separate, so that asking for them changes no round
	shared          *sharedNoise
	own             [2][]float64
	draw            [2]func() float64
	walk, lingering [2]float64
	burst           int                 // position in the current eight rounds where the burst of two starts
	rounds          [2][]*ratchet.Round // with samples; filled on demand
}

// sharedNoise is the machine's effect on everything that runs on it.
type sharedNoise struct {
	rng     *rand.Rand
	session float64
	machine []float64
	common  [2][]float64 // by side, what all cases of a suite share
}

// shared returns what a round of a side has in common with that round of other cases.
func (w *sharedNoise) shared(side, round int) float64 {
	for len(w.common[side]) <= round {
		for s := range w.common {
			w.common[s] = append(w.common[s], w.rng.NormFloat64())
		}
	}
	return w.common[side][round]
}

func (w *sharedNoise) at(round int, spread float64) float64 {
	for len(w.machine) <= round {
		w.machine = append(w.machine, spread*w.rng.NormFloat64())
	}
	return w.session + w.machine[round]
}

// Compare generates the comparison with a number. The same scene, seed and number give the same
// comparison.
func (s Scene) Compare(seed, trial uint64) Comparison { return s.suite(seed, trial, 1)[0] }

// suite generates several cases that are measured in the same rounds.
func (s Scene) suite(seed, trial uint64, cases int) []Comparison {
	stream := func(i int) *rand.Rand { return rand.New(rand.NewPCG(seed, trial<<16|uint64(i))) }
	shared := &sharedNoise{rng: stream(0)}
	shared.session = s.Session * shared.rng.NormFloat64()
	list := make([]Comparison, cases)
	for i := range list {
		list[i] = &generated{Scene: s, trial: trial, rng: stream(2*i + 1), sampleRNG: stream(2*i + 2), shared: shared}
	}
	return list
}

func (g *generated) Most(Side) int  { return maxRounds }
func (g *generated) Together() bool { return true }

// offset returns what a round adds on one side only. Both sides are drawn together, so that the order
// of calls does not matter.
func (g *generated) offset(side Side, round int) float64 {
	for len(g.own[side]) <= round {
		g.next()
	}
	return g.own[side][round]
}

// next draws a round of both sides.
func (g *generated) next() {
	fresh := math.Sqrt(1 - g.Linger*g.Linger)
	round := len(g.own[Base])
	scale := [2]float64{g.Spread, g.Spread}
	if g.Unequal {
		scale = [2]float64{g.Spread * math.Sqrt(0.4), g.Spread * math.Sqrt(1.6)}
	}
	for s := range g.own {
		if g.draw[s] == nil {
			g.draw[s] = g.Shape.side(g.rng)
		}
		v := g.draw[s]()
		if round > 0 && g.Linger > 0 {
			v = g.Linger*g.lingering[s] + fresh*v
		}
		g.lingering[s] = v
		if g.Alike > 0 {
			v = math.Sqrt(1-g.Alike)*v + math.Sqrt(g.Alike)*g.shared.shared(s, round)
		}
		if g.Wander > 0 {
			g.walk[s] += g.Wander * g.rng.NormFloat64()
		}
		g.own[s] = append(g.own[s], scale[s]*(v+g.walk[s]))
	}
	if longer := g.disturbance(round); longer > 0 {
		g.own[g.rng.IntN(2)][round] += math.Log1p(longer)
	}
}

// disturbance returns how much longer one side of a round takes because of a disturbance; 0 for none.
func (g *generated) disturbance(round int) float64 {
	if g.Bursts {
		if round%8 == 0 {
			g.burst = g.rng.IntN(7)
		}
		if at := round%8 - g.burst; at == 0 || at == 1 {
			return 0.3
		}
	}
	if g.Wild > 0 && g.rng.Float64() < g.Wild {
		return 0.1 + 0.9*g.rng.Float64()
	}
	return 0
}

// center returns the time of a round of a side.
func (g *generated) center(side Side, round int) float64 {
	log := g.shared.at(round, g.Machine) + g.offset(side, round)
	if side == Candidate {
		log += math.Log1p(g.Effect)
	}
	if g.Drift != 0 {
		at := float64(2 * round)
		if (side == Candidate) == (round%2 == 0) { // this side runs second in this round
			at++
		}
		log += math.Log1p(g.Drift) * at / (2 * driftRounds)
	}
	return g.Value * math.Exp(log)
}

func (s Scene) rounded(x float64) float64 {
	if s.Step == 0 {
		return x
	}
	return max(math.Round(x/s.Step), 1) * s.Step
}

func (g *generated) Median(side Side, i int) ratchet.Round {
	if g.Noise.moves() {
		return g.Round(side, i)
	}
	v := g.rounded(g.center(side, i))
	return ratchet.Round{Index: i, Session: "now", Sorted: stats.Sorted{v}, Median: v, Quantum: g.Step}
}

func (g *generated) Round(side Side, i int) ratchet.Round {
	for len(g.rounds[side]) <= i {
		for s := range g.rounds {
			g.rounds[s] = append(g.rounds[s], g.sampled(Side(s), len(g.rounds[s])))
		}
	}
	return *g.rounds[side][i]
}

func (g *generated) sampled(side Side, i int) *ratchet.Round {
	center := g.center(side, i)
	list := g.Noise.samples(g.sampleRNG, g.Samples, center)
	for k, v := range list {
		list[k] = g.rounded(v)
	}
	slices.Sort(list)
	sorted := stats.Sorted(list)
	middle := g.rounded(center) // exactly what Median returns
	if g.Noise.moves() {
		middle = sorted.Median()
	}
	return &ratchet.Round{Index: i, Session: "now", Sorted: sorted, Median: middle, Quantum: g.Step}
}

// What is stored of a base that cannot be measured again: the number of sessions, and the rounds of
// each. The candidate is measured in one session with more rounds.
const (
	storedSessions = 10
	storedRounds   = 8
	nowRounds      = 16
)

func (g *generated) Stored(reference bool) (ratchet.Baseline, ratchet.Session, []ratchet.Round) {
	var b ratchet.Baseline
	then := g.Scene
	then.SlowerNow = 0
	for i := range cmp.Or(g.Kept, storedSessions) {
		b.Sessions = append(b.Sessions, then.session(g.sampleRNG, fmt.Sprint("stored ", i), 0, storedRounds, reference))
	}
	now := g.session(g.sampleRNG, "now", math.Log1p(g.Effect), nowRounds, reference)
	return b, now, roundsOf(now)
}

// session generates one measuring session of a side that is slower by effect (a logarithm), and of a
// reference beside it. Sessions share no noise with each other.
func (s Scene) session(rng *rand.Rand, id string, effect float64, rounds int, referred bool) ratchet.Session {
	out := withLabTerms(ratchet.Session{Run: ratchet.RunRef{ID: id}, Unit: "ns", Quantum: s.Step})
	shared := s.Session*rng.NormFloat64() + math.Log1p(s.SlowerNow)
	own, reference := s.Shape.side(rng), s.Shape.side(rng)
	var other []float64
	for range rounds {
		machine := shared + s.Machine*rng.NormFloat64()
		out.Rounds = append(out.Rounds, s.rounded(s.Value*math.Exp(machine+effect+s.Spread*own())))
		other = append(other, s.rounded(s.Value*math.Exp(machine+s.Spread*reference())))
	}
	if referred {
		out.References = []ratchet.Reference{{Name: "reference", Rounds: other}}
	}
	return out
}

// withLabTerms sets the recipe, definition and method that all sessions of the lab share.
func withLabTerms(s ratchet.Session) ratchet.Session {
	s.Recipe, s.Definition, s.Method = "lab", "lab", "lab"
	return s
}

// roundsOf converts the rounds of a session for the judge.
func roundsOf(s ratchet.Session) []ratchet.Round {
	list := make([]ratchet.Round, len(s.Rounds))
	for i, v := range s.Rounds {
		list[i] = ratchet.Round{Index: i, Session: s.Run.ID, Sorted: stats.Sorted{v}, Median: v, Quantum: s.Quantum}
	}
	return list
}
