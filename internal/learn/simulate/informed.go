package simulate

import (
	"math"
	"math/rand/v2"

	"github.com/goatnote-inc/pawl/internal/learn/model"
)

// Informed knows every distribution of the generator, and of the world nothing but what it
// was shown: about what anybody could learn from so many outcomes. It is Bayes' rule. What is
// not normal about a fix is a cloud of fixes that might be, weighed by how well each explains
// what the rule expects and what was measured; what is normal is solved for each of them. No
// model may be made like it: nobody is told how the world was drawn.
type Informed struct {
	fixes   map[string]*suspect
	seen    map[string]map[string]float64 // what rules expect, by kernel and fix
	kernels map[string]normal
}

// unknowns are what is normal about a fix: a part for each class away from home, in the order
// of classes, and one for each GPU.
const unknowns = 4 + 4

// suspect is a fix with what is known of it.
type suspect struct {
	home  string
	cloud []might
	// How the unknowns vary together is the same for every might, since it does not depend
	// on what was measured.
	covariance [unknowns][unknowns]float64
}

// might is a fix as it could be.
type might struct {
	athome, effect  float64
	hurts           [4]float64 // away from home
	mean            [unknowns]float64
	belief, praised float64 // logarithms of what its rule expects away and at home
	weight          float64 // logarithm
}

type normal struct{ mean, variance float64 }

// NewInformed draws its clouds from a seed that no world has.
func NewInformed(size int) *Informed {
	r := rand.New(rand.NewPCG(math.MaxUint64, streamWorld))
	m := &Informed{fixes: map[string]*suspect{}, seen: map[string]map[string]float64{}, kernels: map[string]normal{}}
	for _, c := range catalogue {
		s := &suspect{home: c.home, cloud: make([]might, size)}
		for i := range s.cloud {
			s.cloud[i] = drawMight(r, c)
		}
		for i := range 4 {
			s.covariance[i][i] = awaySpread * awaySpread
			s.covariance[4+i][4+i] = gpuSpread * gpuSpread
		}
		m.fixes[c.id] = s
	}
	return m
}

// drawMight draws a fix as the generator does, and what hurts once more by itself.
func drawMight(r *rand.Rand, c entry) might {
	f := drawFix(r, c, r.IntN(len(catalogue)))
	p := might{effect: f.effect, athome: f.effect + f.class[c.home], belief: math.Log(f.belief), praised: math.Log(f.athome)}
	for i := range p.hurts {
		p.mean[i] = awayMean
		if r.Float64() < hurtShare {
			p.hurts[i] = uniform(r, hurtLeast, hurtMost)
		}
	}
	return p
}

// Rank puts first what gains the most on average over what might be. What a rule expects in
// this session is evidence as well.
func (m *Informed) Rank(all []model.Candidate) []model.Ranked {
	priors := map[string]float64{}
	for _, c := range all {
		priors[c.Fix] = c.Prior
	}
	if len(all) > 0 && m.seen[all[0].Kernel] == nil {
		m.seen[all[0].Kernel] = priors
	}
	return rank(all, func(c model.Candidate) (float64, int) {
		s := m.fixes[c.Fix]
		if s == nil {
			return 0, 0 // the fix of a poisoned lesson, which gains nothing
		}
		return s.gain(c.Key, s.expecting(c.Class, c.Prior)).mean, 0
	})
}

// Learn weighs what might be by an outcome, and by what the rule had expected there.
func (m *Informed) Learn(o model.Outcome) {
	s := m.fixes[o.Fix]
	if s == nil {
		return
	}
	if prior, ok := m.seen[o.Kernel][o.Fix]; ok {
		for i, w := range s.expecting(o.Class, prior) {
			s.cloud[i].weight = w
		}
		delete(m.seen[o.Kernel], o.Fix)
	}
	shared, ok := m.kernels[o.Kernel]
	if !ok {
		shared = normal{0, kernelSpread * kernelSpread}
	}
	before := s.gain(o.Key, s.weights())
	s.learn(o, shared)
	// What the fixes of one kernel share is learned from what the fix should have given.
	spread := before.variance + ownSpread*ownSpread + o.Error*o.Error
	share := shared.variance / (shared.variance + spread)
	m.kernels[o.Kernel] = normal{shared.mean + share*(o.Gain-before.mean-shared.mean), shared.variance * (1 - share)}
}

func (s *suspect) weights() []float64 {
	list := make([]float64, len(s.cloud))
	for i := range s.cloud {
		list[i] = s.cloud[i].weight
	}
	return list
}

// expecting are the weights together with what the rule says in one session.
func (s *suspect) expecting(class string, prior float64) []float64 {
	list := s.weights()
	for i := range s.cloud {
		belief := s.cloud[i].belief
		if class == s.home {
			belief = s.cloud[i].praised
		}
		off := (math.Log(prior) - belief) / beliefSpread
		list[i] -= off * off / 2
	}
	return list
}

// at are the unknowns that count in a class and on a GPU; away is -1 at home.
func (s *suspect) at(class, gpu string) (away, on int) {
	away, home := index(classes, class), index(classes, s.home)
	switch {
	case away == home:
		away = -1
	case away > home:
		away--
	}
	return away, 4 + index(gpus, gpu)
}

// is is what a might gains in a class and on a GPU, on average.
func (p *might) is(away, on int) float64 {
	if away < 0 {
		return p.athome + p.mean[on]
	}
	return p.effect - p.hurts[away] + p.mean[away] + p.mean[on]
}

// gain is the mean and variance of what a fix gains over what might be, where one kernel in
// so many is of another class than is said.
func (s *suspect) gain(k model.Key, weights []float64) normal {
	most := math.Inf(-1)
	for _, w := range weights {
		most = max(most, w)
	}
	var total, sum, squares float64
	for i, w := range weights {
		if w -= most; w < -30 {
			continue
		}
		w = math.Exp(w)
		g := 0.0
		for _, class := range classes {
			share := misjudged / float64(len(classes)-1)
			if class == k.Class {
				share = 1 - misjudged
			}
			away, on := s.at(class, k.GPU)
			g += share * s.cloud[i].is(away, on)
		}
		total, sum, squares = total+w, sum+w*g, squares+w*g*g
	}
	mean := sum / total
	return normal{mean, max(squares/total-mean*mean, 0) + s.unsure(s.at(k.Class, k.GPU))}
}

// unsure is the variance of the unknowns that count somewhere.
func (s *suspect) unsure(away, on int) float64 {
	v := s.covariance[on][on]
	if away >= 0 {
		v += s.covariance[away][away] + 2*s.covariance[away][on]
	}
	return v
}

// learn takes an outcome in. A measurement that is far off, and a class that was misjudged,
// count as much as they are likely not to be.
func (s *suspect) learn(o model.Outcome, kernel normal) {
	away, on := s.at(o.Class, o.GPU)
	unsure := s.unsure(away, on)
	noise := ownSpread*ownSpread + kernel.variance + o.Error*o.Error
	wild := noise + (tailFactor*tailFactor-1)*o.Error*o.Error
	weights := s.weights()
	most := math.Inf(-1)
	for _, w := range weights {
		most = max(most, w)
	}
	var good, all float64
	for i := range s.cloud {
		p := &s.cloud[i]
		off := o.Gain - kernel.mean - p.is(away, on)
		usual := (1 - misjudged) * (1 - tailShare) * density(off, unsure+noise)
		likely := usual + (1-misjudged)*tailShare*density(off, unsure+wild)
		for c := range classes {
			if classes[c] != o.Class {
				other, _ := s.at(classes[c], o.GPU)
				likely += misjudged / float64(len(classes)-1) * density(o.Gain-kernel.mean-p.is(other, on), s.unsure(other, on)+noise)
			}
		}
		w := math.Exp(weights[i] - most)
		good, all = good+w*usual, all+w*likely
		p.weight += math.Log(likely + 1e-300)
	}
	s.solve(o.Gain-kernel.mean, away, on, noise*all/(good+1e-300))
}

// solve corrects the unknowns by a gain with a variance.
func (s *suspect) solve(gain float64, away, on int, noise float64) {
	var with [unknowns]float64 // covariance of each unknown with the gain
	for i := range with {
		with[i] = s.covariance[i][on]
		if away >= 0 {
			with[i] += s.covariance[i][away]
		}
	}
	variance := s.unsure(away, on) + noise
	for i := range s.cloud {
		p := &s.cloud[i]
		off := (gain - p.is(away, on)) / variance
		for j := range with {
			p.mean[j] += with[j] * off
		}
	}
	for i := range with {
		for j := range with {
			s.covariance[i][j] -= with[i] * with[j] / variance
		}
	}
}

func index(all []string, name string) int {
	for i, n := range all {
		if n == name {
			return i
		}
	}
	return 0
}

func density(off, variance float64) float64 {
	return math.Exp(-off*off/(2*variance)) / math.Sqrt(variance)
}
