package model

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// world is an assumption of how gains come about, with all truths drawn from a seed. The
// worlds differ in what they assume, so that a model that fits one is not fitted to it.
type world struct {
	random  *rand.Rand
	fixes   int
	classes int
	gpus    int
	offers  int // candidates a kernel has
	tries   int // attempts a session makes
	kernels int // that sessions return to; 0 for a new one each time

	truth func(k kernel, fix int) float64 // what it gains
	prior func(class, fix int) float64
	noise func() (off, said float64) // of a measurement: what it is off by, and what it says it might be
	relev [][]bool                   // fix belongs to class
}

type kernel struct {
	name       string
	class, gpu int
	level      float64
	own        []float64 // standard normal, one a fix
	works      []float64 // uniform, one a fix
}

func (w *world) normal() float64 { return w.random.NormFloat64() }

func (w *world) table(rows, columns int, spread float64) [][]float64 {
	t := make([][]float64, rows)
	for i := range t {
		t[i] = make([]float64, columns)
		for j := range t[i] {
			t[i][j] = spread * w.normal()
		}
	}
	return t
}

func (w *world) kernel(n int) kernel {
	k := kernel{name: fmt.Sprintf("kernel%d", n), class: w.random.IntN(w.classes), gpu: w.random.IntN(w.gpus), level: w.normal()}
	for range w.fixes {
		k.own, k.works = append(k.own, w.normal()), append(k.works, w.random.Float64())
	}
	return k
}

func (w *world) key(k kernel, fix int) Key {
	return Key{Fix: fmt.Sprintf("rule%02d/1", fix), Class: fmt.Sprintf("class%d", k.class), GPU: fmt.Sprintf("sm_%d", 80+k.gpu)}
}

// candidates of a kernel: the fixes of its class, as many as it has.
func (w *world) candidates(k kernel) ([]Candidate, []int) {
	var list []Candidate
	var fixes []int
	for _, f := range w.random.Perm(w.fixes) {
		if w.relev[f][k.class] && len(list) < w.offers {
			list = append(list, Candidate{Key: w.key(k, f), Kernel: k.name, Prior: w.prior(k.class, f)})
			fixes = append(fixes, f)
		}
	}
	return list, fixes
}

func newWorld(seed uint64) *world {
	w := &world{random: rand.New(rand.NewPCG(seed, 77)), fixes: 16, classes: 4, gpus: 3, offers: 6, tries: 3}
	w.noise = func() (float64, float64) { return 0.02 * w.normal(), 0.02 }
	return w
}

func (w *world) all(share float64) {
	w.relev = make([][]bool, w.fixes)
	for f := range w.relev {
		w.relev[f] = make([]bool, w.classes)
		for c := range w.relev[f] {
			w.relev[f][c] = w.random.Float64() < share
		}
		w.relev[f][w.random.IntN(w.classes)] = true
	}
}

var worlds = []struct {
	name string
	make func(seed uint64) *world
}{
	{"sums", func(seed uint64) *world { // what the model assumes
		w := newWorld(seed)
		w.all(0.5)
		p := w.table(w.fixes, 1, 1)
		a, b, c := w.table(w.fixes, 1, 0.1), w.table(w.fixes, w.classes, 0.06), w.table(w.fixes, w.gpus, 0.04)
		w.prior = func(_, f int) float64 { return 0.05 + 0.3*math.Abs(p[f][0])/2 }
		w.truth = func(k kernel, f int) float64 {
			return 0.6*w.prior(k.class, f) + a[f][0] + b[f][k.class] + c[f][k.gpu] + 0.03*k.level + 0.03*k.own[f]
		}
		return w
	}},
	{"useless rules", func(seed uint64) *world { // priors say nothing
		w := newWorld(seed)
		w.all(0.6)
		p, a, b := w.table(w.fixes, w.classes, 1), w.table(w.fixes, 1, 0.08), w.table(w.fixes, w.classes, 0.08)
		w.prior = func(c, f int) float64 { return 0.1 + 0.2*math.Abs(p[f][c]) }
		w.truth = func(k kernel, f int) float64 { return 0.1 + a[f][0] + b[f][k.class] + 0.03*k.own[f] }
		return w
	}},
	{"right rules", func(seed uint64) *world { // rules are right but for half of it
		w := newWorld(seed)
		w.all(0.5)
		p := w.table(w.fixes, w.classes, 1)
		w.prior = func(c, f int) float64 { return 0.05 + 0.2*math.Abs(p[f][c]) }
		w.truth = func(k kernel, f int) float64 { return 0.5*w.prior(k.class, f) + 0.02*k.own[f] }
		return w
	}},
	{"works or not", func(seed uint64) *world { // most or nothing, by fix and class
		w := newWorld(seed)
		w.all(0.6)
		p, q, g := w.table(w.fixes, 1, 1), w.table(w.fixes, w.classes, 0.8), w.table(w.fixes, 1, 0.3)
		w.prior = func(_, f int) float64 { return 0.25 * math.Exp(0.4*p[f][0]) }
		w.truth = func(k kernel, f int) float64 {
			if k.works[f] > 1/(1+math.Exp(-2*q[f][k.class])) {
				return 0.01 * k.own[f]
			}
			return 0.25 * math.Exp(0.4*p[f][0]+g[f][0]) * math.Exp(0.1*k.own[f])
		}
		return w
	}},
	{"wild measurements", func(seed uint64) *world { // one in seven is nonsense
		w := newWorld(seed)
		w.all(0.5)
		a, b, p := w.table(w.fixes, 1, 0.12), w.table(w.fixes, w.classes, 0.08), w.table(w.fixes, 1, 0.1)
		w.prior = func(_, f int) float64 { return max(0.02, 0.2+a[f][0]+p[f][0]) }
		w.truth = func(k kernel, f int) float64 { return 0.12 + a[f][0] + b[f][k.class] + 0.02*k.own[f] }
		w.noise = func() (float64, float64) {
			if w.random.Float64() < 0.15 {
				return 0.5 * w.normal(), 0.03
			}
			return 0.03 * w.normal(), 0.03
		}
		return w
	}},
	{"GPUs differ", func(seed uint64) *world { // and everything is multiplied, not added
		w := newWorld(seed)
		w.gpus = 4
		w.all(0.5)
		a, c, p := w.table(w.fixes, 1, 0.5), w.table(w.fixes, w.gpus, 0.5), w.table(w.fixes, 1, 0.4)
		w.prior = func(_, f int) float64 { return 0.15 * math.Exp(p[f][0]) }
		w.truth = func(k kernel, f int) float64 {
			return 0.1 * math.Exp(p[f][0]+a[f][0]+c[f][k.gpu]) * math.Exp(0.3*k.level+0.15*k.own[f])
		}
		return w
	}},
	{"few kernels", func(seed uint64) *world { // sessions come back to the same five, which differ much
		w := newWorld(seed)
		w.kernels, w.tries = 5, 2
		w.all(0.7)
		a, p := w.table(w.fixes, 1, 0.06), w.table(w.fixes, 1, 0.08)
		w.prior = func(_, f int) float64 { return max(0.02, 0.15+a[f][0]+p[f][0]) }
		w.truth = func(k kernel, f int) float64 { return 0.1 + a[f][0] + 0.05*k.level + 0.08*k.own[f] }
		return w
	}},
	{"many fixes", func(seed uint64) *world { // small gains, large noise, one attempt a session
		w := newWorld(seed)
		w.fixes, w.classes, w.offers, w.tries = 40, 6, 8, 1
		w.all(0.3)
		a, b, p := w.table(w.fixes, 1, 0.04), w.table(w.fixes, w.classes, 0.03), w.table(w.fixes, 1, 0.05)
		w.prior = func(_, f int) float64 { return max(0.01, 0.12+a[f][0]+p[f][0]) }
		w.truth = func(k kernel, f int) float64 { return 0.05 + a[f][0] + b[f][k.class] + 0.02*k.own[f] }
		w.noise = func() (float64, float64) { return 0.05 * w.normal(), 0.05 }
		return w
	}},
}

// tally is how often a ranker was right.
type tally struct {
	asked, best    float64 // names the best
	regret         float64 // what it loses against the best
	inside, ranges float64 // gains inside their intervals
	chance         float64 // what it said its chance of naming the best was
}

func (t tally) rate() float64     { return t.best / t.asked }
func (t tally) coverage() float64 { return t.inside / t.ranges }

func (t *tally) add(o tally) {
	t.asked += o.asked
	t.best += o.best
	t.regret += o.regret
	t.inside += o.inside
	t.ranges += o.ranges
	t.chance += o.chance
}

// play holds sessions in a world, each of which tries what the ranker puts first, and asks
// it after some of them about kernels that nobody has worked on yet.
func play(w *world, r Ranker, sessions []int) []tally {
	var known []kernel
	for i := range w.kernels {
		known = append(known, w.kernel(i))
	}
	next := func(n int) kernel {
		if len(known) > 0 {
			return known[n%len(known)]
		}
		return w.kernel(n)
	}
	var tallies []tally
	held := 0
	for _, until := range sessions {
		for ; held < until; held++ {
			k := next(held)
			list, fixes := w.candidates(k)
			for i, c := range r.Rank(list) {
				if i == w.tries {
					break
				}
				fix := fixes[indexOf(list, c.Key)]
				off, said := w.noise()
				r.Learn(Outcome{Key: c.Key, Kernel: k.name, Gain: w.truth(k, fix) + off, Error: said})
			}
		}
		var t tally
		for i := range 40 {
			t.add(ask(w, r, next(1000+i)))
		}
		tallies = append(tallies, t)
	}
	return tallies
}

func ask(w *world, r Ranker, k kernel) tally {
	list, fixes := w.candidates(k)
	truth := map[Key]float64{}
	best := math.Inf(-1)
	for i, c := range list {
		truth[c.Key] = w.truth(k, fixes[i])
		best = max(best, truth[c.Key])
	}
	ranked := r.Rank(list)
	t := tally{asked: 1, regret: best - truth[ranked[0].Key], chance: ranked[0].Best}
	if truth[ranked[0].Key] == best {
		t.best = 1
	}
	for _, x := range ranked {
		t.ranges++
		if x.Low <= truth[x.Key] && truth[x.Key] <= x.High {
			t.inside++
		}
	}
	return t
}

func indexOf(list []Candidate, k Key) int {
	for i, c := range list {
		if c.Key == k {
			return i
		}
	}
	return -1
}
