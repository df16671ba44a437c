package tune

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/goatnote-inc/pawl/internal/tune/space"
	"github.com/goatnote-inc/pawl/stats"
)

// Importance says how much of the variation in time each parameter causes, over the whole
// space and not only where the search went.
//
// A search samples fast regions most, so averages over its evaluations mislead. Boosted
// regression trees learn the logarithm of the time from the evaluations and predict it for
// points drawn uniformly from the space. The predictions are split into effects of single
// parameters and of pairs: a functional analysis of variance. It is fitted jointly, because
// constraints make parameters depend on each other. Resampling the evaluations gives the
// intervals. Failed points are left out. The result is no better than the trees: Fit says
// how well they predict unseen evaluations.
type Importance struct {
	Effects     []Effect      `json:"effects"` // most important first
	Pairs       []Interaction `json:"pairs"`   // strongest first; only significant ones
	Fit         float64       `json:"fit"`     // share of the variance of unseen evaluations that is predicted
	Evaluations int           `json:"evaluations"`
	Unknown     string        `json:"unknown,omitempty"` // why there is no result; then the rest is empty
}

// Effect is the effect of one parameter.
type Effect struct {
	Name   string  `json:"name"`
	Share  float64 `json:"share"` // of the variance of the logarithm of the time, on its own
	Low    float64 `json:"low"`   // 90 % interval of Share
	High   float64 `json:"high"`
	Total  float64 `json:"total"`  // including its interactions with others
	Best   any     `json:"best"`   // the fastest value on average
	Worst  any     `json:"worst"`  // the slowest value on average
	Spread float64 `json:"spread"` // time with Worst over time with Best, on average
}

// Interaction is the joint effect of two parameters beyond their single effects.
type Interaction struct {
	A     string  `json:"a"`
	B     string  `json:"b"`
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

const (
	spreadPoints    = 4000 // drawn from the space
	resamples       = 40
	leastFit        = 0.25
	minPerParameter = 3 // evaluations per parameter
	leastToLearn    = 20
	minPairShare    = 0.01 // smallest share of a pair that is reported
)

// NewImportance computes which parameters mattered. It is deterministic for the same
// evaluations and seed.
func NewImportance(h Header, list []Evaluation, seed uint64) Importance {
	rng := rand.New(rand.NewPCG(seed, 0x1390))
	points, err := spread(h.Space, rng)
	if err != nil {
		return Importance{Unknown: "cannot enumerate the space: " + err.Error()}
	}
	return importanceOver(points, list, rng)
}

// importanceOver computes which parameters mattered over these points.
func importanceOver(points *space.Space, list []Evaluation, rng *rand.Rand) Importance {
	data := learnable(points.Parameters(), list)
	m := Importance{Evaluations: len(data.y)}
	varied := 0
	for _, p := range points.Parameters() {
		if len(p.Values) > 1 {
			varied++
		}
	}
	if need := max(leastToLearn, minPerParameter*varied); len(data.y) < need {
		m.Unknown = fmt.Sprintf("%d evaluations have a time, but %d parameters need %d", len(data.y), varied, need)
		return m
	}
	if slices.Max(data.y)-slices.Min(data.y) < 1e-9 {
		m.Unknown = "all evaluations took the same time"
		return m
	}
	target := newTable(points)
	whole := make([]float64, target.n)
	parts := make([]division, resamples)
	unseen := newUnseenFit(len(data.y))
	for b := range parts {
		rows, left := resample(len(data.y), rng)
		predicted := make([]float64, target.n)
		for _, t := range boost(data, rows, rng) {
			for i := range predicted {
				predicted[i] += t.predict(target.row(i))
			}
			for _, i := range left {
				unseen.sum[i] += t.predict(data.row(i))
			}
		}
		for _, i := range left {
			unseen.n[i]++
		}
		for i, x := range predicted {
			whole[i] += x / resamples
		}
		parts[b] = target.divide(predicted)
	}
	m.Fit = unseen.fit(data.y)
	if m.Fit < leastFit {
		m.Unknown = fmt.Sprintf("from %d evaluations no pattern can be seen that foretells the others (%.0f %% of their differences): tune longer, or measure with less noise", len(data.y), 100*max(m.Fit, 0))
		return m
	}
	m.setShares(points.Parameters(), target.divide(whole), parts)
	return m
}

// setShares fills in the shares of the parameters with intervals, sorted.
func (m *Importance) setShares(parameters []space.Parameter, whole division, parts []division) {
	interval := func(share float64, of func(division) float64) (low, high float64) {
		var list []float64
		for _, p := range parts {
			list = append(list, of(p))
		}
		slices.Sort(list)
		// A resample has less information than all evaluations and finds slightly less, so include
		// the result from all of them.
		return min(share, stats.Quantile(list, 0.05)), max(share, stats.Quantile(list, 0.95))
	}
	for k, p := range parameters {
		if len(p.Values) < 2 {
			continue
		}
		e := Effect{Name: p.Name, Share: whole.main[k], Total: whole.main[k]}
		e.Low, e.High = interval(e.Share, func(d division) float64 { return d.main[k] })
		best, worst := extremes(whole.effect[k])
		e.Best, e.Worst, e.Spread = p.Values[best], p.Values[worst], math.Exp(whole.effect[k][worst]-whole.effect[k][best])
		for j := range parameters {
			e.Total += whole.pair[pairKey(k, j)]
		}
		m.Effects = append(m.Effects, e)
	}
	sort.SliceStable(m.Effects, func(i, j int) bool { return m.Effects[i].Total > m.Effects[j].Total })
	for key, share := range whole.pair {
		low, high := interval(share, func(d division) float64 { return d.pair[key] })
		if share >= minPairShare && low > 0 {
			m.Pairs = append(m.Pairs, Interaction{parameters[key[0]].Name, parameters[key[1]].Name, share, low, high})
		}
	}
	sort.Slice(m.Pairs, func(i, j int) bool {
		a, b := m.Pairs[i], m.Pairs[j]
		if a.Share != b.Share {
			return a.Share > b.Share
		}
		return a.A+"\x00"+a.B < b.A+"\x00"+b.B
	})
}

func extremes(effect []float64) (best, worst int) {
	for i, x := range effect {
		if math.IsNaN(x) {
			continue
		}
		if math.IsNaN(effect[best]) || x < effect[best] {
			best = i
		}
		if math.IsNaN(effect[worst]) || x > effect[worst] {
			worst = i
		}
	}
	return best, worst
}

// spread draws points uniformly from the space in the header.
func spread(s Space, rng *rand.Rand) (*space.Space, error) {
	problem, err := space.Compile(s.Definition())
	if err != nil {
		return nil, err
	}
	return problem.Space(spreadPoints, rng)
}

// Definition returns the space including the config's parameters with one value each,
// because constraints may use them.
func (s Space) Definition() space.Definition {
	d := space.Definition{Constraints: s.Constraints}
	for _, name := range sortedNames(s.Fixed) {
		d.Parameters = append(d.Parameters, space.Parameter{Name: name, Values: []any{s.Fixed[name]}})
	}
	d.Parameters = append(d.Parameters, s.Parameters...)
	return d
}

// learnable returns the evaluations that have a time, as value ranks and logarithms.
func learnable(parameters []space.Parameter, list []Evaluation) *table {
	ranks := make([]map[string]uint16, len(parameters))
	t := &table{levels: make([]int, len(parameters)), ordered: make([]bool, len(parameters))}
	for k, p := range parameters {
		ranks[k] = map[string]uint16{}
		for i, v := range p.Values {
			ranks[k][Key(map[string]any{"": v})] = uint16(i)
		}
		t.levels[k], t.ordered[k] = len(p.Values), p.Ordered()
	}
	for _, e := range list {
		if e.Status != OK {
			continue
		}
		row := make([]uint16, len(parameters))
		known := true
		for k, p := range parameters {
			if v, given := e.Point[p.Name]; given { // a parameter of the config is not given
				rank, is := ranks[k][Key(map[string]any{"": v})]
				row[k], known = rank, known && is
			}
		}
		if known {
			t.rows = append(t.rows, row...)
			t.y = append(t.y, math.Log(e.Value))
			t.n++
		}
	}
	return t
}

// resample draws n evaluations with replacement; left are those not drawn.
func resample(n int, rng *rand.Rand) (rows, left []int) {
	drawn := make([]bool, n)
	for range n {
		i := rng.IntN(n)
		rows, drawn[i] = append(rows, i), true
	}
	for i, is := range drawn {
		if !is {
			left = append(left, i)
		}
	}
	return rows, left
}

// unseenFit collects the predictions of trees for evaluations they were not trained on.
type unseenFit struct{ sum, n []float64 }

func newUnseenFit(n int) *unseenFit { return &unseenFit{make([]float64, n), make([]float64, n)} }

func (u *unseenFit) fit(y []float64) float64 {
	mean, errors, total := stats.Mean(y), 0.0, 0.0
	for i, x := range y {
		if u.n[i] > 0 {
			d := x - u.sum[i]/u.n[i]
			errors += d * d
			total += (x - mean) * (x - mean)
		}
	}
	return 1 - errors/total
}
