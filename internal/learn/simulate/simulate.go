// Package simulate makes up working sessions on kernels of which the truth is known: their
// bottlenecks, which fixes apply, and what each would really gain. It judges whatever
// recommends fixes. docs/lab/learning.md describes the generator; it was fixed before any
// model was written, and no model may import or know it.
//
// Everything is drawn from a seed: a session of a world is the same whoever plays it, and
// what a fix gains in it does not depend on what was tried before.
package simulate

import (
	"math"
	"math/rand/v2"
)

// Options are what differs between worlds of one seed. None of them moves a draw of the
// others: kernels, gains and noise stay as they are.
type Options struct {
	Lessons bool   // half of the fixes have a lesson that claims about what is true
	Poison  Poison // one lesson always claims that half of the time is saved
}

// Poison says to which fix the poisoned lesson is attached.
type Poison int

// The poisons.
const (
	Clean      Poison = iota
	PoisonOwn         // a fix that no rule has and that gains nothing; a candidate in every session
	PoisonRule        // the fix of a rule that gains the least in this world; a candidate where its finding shows
)

// World is a set of fixes with what each is really worth, by class and GPU, and what the
// rules believe of it.
type World struct {
	seed    uint64
	options Options
	fixes   []fix
	gpus    []string
	next    int // number of the session that comes next
}

// fix is one thing to do, with its truth.
type fix struct {
	id   string
	home string // class for which its rule was written

	effect float64            // everywhere
	class  map[string]float64 // on top, by bottleneck class
	gpu    map[string]float64 // on top, by GPU

	belief float64 // what its rule expects outside the home class
	athome float64 // and in it
	claim  float64 // what a lesson says of it, if there is one
	lesson string
}

// truth is the gain without the kernel's own part.
func (f *fix) truth(class, gpu string) float64 { return f.effect + f.class[class] + f.gpu[gpu] }

// Streams of random numbers; each has its own so that adding to one moves no other.
const (
	streamWorld = iota + 1
	streamLessons
	streamPasts
	streamSessions = 1 << 16
	streamProbes   = 1 << 40
)

// New draws a world.
func New(seed uint64, o Options) *World {
	w := &World{seed: seed, options: o, gpus: gpus}
	r := rand.New(rand.NewPCG(seed, streamWorld))
	trust := r.Perm(len(catalogue))
	for i, c := range catalogue {
		w.fixes = append(w.fixes, drawFix(r, c, trust[i]))
	}
	w.addLessons()
	return w
}

// drawFix draws what a fix is worth and what its rule believes. trust says how far the rule
// is right: it is a rank, so that each world has the same number of wrong rules.
func drawFix(r *rand.Rand, c entry, trust int) fix {
	f := fix{id: c.id, home: c.home, class: map[string]float64{}, gpu: map[string]float64{}}
	f.effect = effectLeast + r.ExpFloat64()*effectMean
	for _, class := range classes {
		b := awayMean + awaySpread*r.NormFloat64()
		hurts, by := r.Float64() < hurtShare, uniform(r, hurtLeast, hurtMost)
		if hurts {
			b -= by
		}
		if class == c.home {
			b = homeMean + homeSpread*r.NormFloat64()
		}
		f.class[class] = b
	}
	for _, g := range gpus {
		f.gpu[g] = gpuSpread * r.NormFloat64()
	}

	// A rule knows what its fix does where it was written for, and not that it may hurt
	// elsewhere.
	f.belief, f.athome = f.effect, f.effect+f.class[c.home]
	honest, optimistic := uniform(r, 1/honestMost, honestMost), uniform(r, optimismLeast, optimismMost)
	wrong := effectLeast + homeMean + r.ExpFloat64()*effectMean
	factor := honest
	switch {
	case trust < wrongRules:
		f.belief, f.athome, factor = wrong, wrong, 1
	case trust < wrongRules+optimisticRules:
		factor = optimistic
	}
	f.belief, f.athome = max(f.belief*factor, leastBelief), max(f.athome*factor, leastBelief)
	return f
}

func uniform(r *rand.Rand, low, high float64) float64 { return low + (high-low)*r.Float64() }

// logNormal is a factor around 1 with the given spread of its logarithm.
func logNormal(r *rand.Rand, spread float64) float64 { return math.Exp(spread * r.NormFloat64()) }
