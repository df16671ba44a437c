package simulate

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/goatnote-inc/pawl/internal/learn/model"
)

// PoisonedLesson is the name of the lesson that always claims that half of the time is
// saved, PoisonedFix that of the fix it has of its own.
const (
	PoisonedLesson = "poisoned"
	PoisonedFix    = "lesson/" + PoisonedLesson
)

// poisonedClaim is half of the time saved.
var poisonedClaim = math.Log(2)

// claimSpread is how far the claims of honest lessons are off.
const claimSpread = 0.10

// addLessons draws which fixes have a lesson and what it claims: what the fix gains at home,
// with an error that stays.
func (w *World) addLessons() {
	r := rand.New(rand.NewPCG(w.seed, streamLessons))
	for i := range w.fixes {
		f := &w.fixes[i]
		has, claim := r.Float64() < 0.5, f.effect+f.class[f.home]+claimSpread*r.NormFloat64()
		if has && w.options.Lessons {
			f.lesson, f.claim = "lesson-of-"+f.id, claim
		}
	}
}

// attachLessons adds what lessons say to a session's candidates.
func (w *World) attachLessons(r *rand.Rand, s *Session, class, gpu string, shared float64) {
	for i := range s.Candidates {
		c := &s.Candidates[i]
		if f := w.fix(c.Fix); f.lesson != "" {
			c.Claims = append(c.Claims, model.Claim{Lesson: f.lesson, Gain: f.claim})
		}
	}
	claim := model.Claim{Lesson: PoisonedLesson, Gain: poisonedClaim}
	switch w.options.Poison {
	case Clean:
	case PoisonOwn:
		key := model.Key{Fix: PoisonedFix, Class: class, GPU: gpu}
		gain := shared + ownSpread*r.NormFloat64()
		s.truth[PoisonedFix], s.outcomes[PoisonedFix] = gain, measured(r, key, s.Kernel, gain)
		s.Candidates = append(s.Candidates, model.Candidate{Key: key, Kernel: s.Kernel, Claims: []model.Claim{claim}})
	case PoisonRule:
		for i := range s.Candidates {
			if s.Candidates[i].Fix == w.worst() {
				s.Candidates[i].Claims = append(s.Candidates[i].Claims, claim)
			}
		}
	}
}

// worst is the fix of a rule that gains the least over all classes.
func (w *World) worst() string {
	return slices.MinFunc(w.fixes, func(a, b fix) int {
		if total(a) < total(b) {
			return -1
		}
		return 1
	}).id
}

func total(f fix) float64 {
	sum := float64(len(classes)) * f.effect
	for _, class := range classes { // in their order: sums of floats depend on it
		sum += f.class[class]
	}
	return sum
}

func (w *World) fix(id string) *fix {
	return &w.fixes[slices.IndexFunc(w.fixes, func(f fix) bool { return f.id == id })]
}
