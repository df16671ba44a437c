package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/goatnote-inc/pawl/internal/learn/model"
)

// Session is one kernel with the fixes whose findings show.
type Session struct {
	Kernel     string
	Candidates []model.Candidate // in no order that tells anything

	truth    map[string]float64 // true gain by fix
	outcomes map[string]model.Outcome
	whims    []whim // of the engineer, one an attempt
}

// whim is whether the engineer does what is recommended, and what else if not.
type whim struct {
	follows bool
	other   float64 // place among the others, 0 to 1
}

// Session is the next one.
func (w *World) Session() Session {
	s := w.session(streamSessions+uint64(w.next), w.next)
	w.next++
	return s
}

// Probe is a session of the same world that nobody learns from: the n-th question of an
// examination.
func (w *World) Probe(n int) Session { return w.session(streamProbes+uint64(n), n) }

func (w *World) session(stream uint64, number int) Session {
	r := rand.New(rand.NewPCG(w.seed, stream))
	family := families[r.IntN(len(families))]
	class := classes[weighted(r, family.weights)]
	gpu := w.gpus[r.IntN(len(w.gpus))]
	said := class
	if wrong := classes[r.IntN(len(classes))]; r.Float64() < misjudged*float64(len(classes))/float64(len(classes)-1) {
		said = wrong
	}
	s := Session{
		Kernel: fmt.Sprintf("%s-%d", family.name, number), truth: map[string]float64{}, outcomes: map[string]model.Outcome{},
	}
	shared := kernelSpread * r.NormFloat64()
	shown := w.shown(r, class)
	for i := range w.fixes {
		// Every fix is drawn whether it shows or not, so that a candidate more moves nothing.
		f := &w.fixes[i]
		key := model.Key{Fix: f.id, Class: said, GPU: gpu}
		gain := f.truth(class, gpu) + shared + ownSpread*r.NormFloat64()
		belief := f.belief
		if said == f.home {
			belief = f.athome
		}
		belief *= logNormal(r, beliefSpread)
		outcome := measured(r, key, s.Kernel, gain)
		if !shown[f.id] {
			continue
		}
		s.truth[f.id], s.outcomes[f.id] = gain, outcome
		s.Candidates = append(s.Candidates, model.Candidate{Key: key, Kernel: s.Kernel, Prior: belief})
	}
	for range attempts {
		s.whims = append(s.whims, whim{r.Float64() < follows, r.Float64()})
	}
	r.Shuffle(len(s.Candidates), func(i, j int) { s.Candidates[i], s.Candidates[j] = s.Candidates[j], s.Candidates[i] })
	w.attachLessons(r, &s, said, gpu, shared)
	return s
}

// shown draws which findings show.
func (w *World) shown(r *rand.Rand, class string) map[string]bool {
	weights := make([]float64, len(catalogue))
	for i, c := range catalogue {
		weights[i] = 1
		if c.home == class {
			weights[i] = homeWeight
		}
	}
	shown := map[string]bool{}
	for range fewestCandidates + r.IntN(mostCandidates-fewestCandidates+1) {
		i := weighted(r, weights)
		weights[i] = 0
		shown[catalogue[i].id] = true
	}
	return shown
}

// measured is a gain as it would be measured.
func measured(r *rand.Rand, key model.Key, kernel string, gain float64) model.Outcome {
	spread := uniform(r, errorLeast, errorMost)
	noise := spread * r.NormFloat64()
	if r.Float64() < tailShare {
		noise *= tailFactor
	}
	return model.Outcome{Key: key, Kernel: kernel, Gain: gain + noise, Error: spread}
}

// Try is what is measured after applying a fix to the kernel as it was at the start. A fix
// that is no candidate gives an outcome that is not a number.
func (s Session) Try(fix string) model.Outcome {
	if o, ok := s.outcomes[fix]; ok {
		return o
	}
	return model.Outcome{Key: model.Key{Fix: fix}, Kernel: s.Kernel, Gain: math.NaN(), Error: math.Inf(1)}
}

// Best is the fix that truly gains the most.
func (s Session) Best() string {
	return slices.MaxFunc(s.Candidates, func(a, b model.Candidate) int {
		switch d := s.truth[a.Fix] - s.truth[b.Fix]; {
		case d < 0:
			return -1
		case d > 0:
			return 1
		}
		return 0
	}).Fix
}

// Gain is what a candidate truly gains.
func (s Session) Gain(fix string) float64 { return s.truth[fix] }

func weighted(r *rand.Rand, weights []float64) int {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	u := r.Float64() * total
	last := 0
	for i, w := range weights {
		if w == 0 {
			continue
		}
		if last = i; u < w {
			break
		}
		u -= w
	}
	return last
}
