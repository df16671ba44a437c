package tune

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/tune/space"
)

// Failure is one way in which points failed.
type Failure struct {
	Status Status `json:"status"`
	Count  int    `json:"count"`
	Words  string `json:"words"`           // "do not compile"
	Why    string `json:"why,omitempty"`   // the most frequent message
	Rules  []Rule `json:"rules,omitempty"` // conditions that they certainly share
}

// Rule is a condition under which every evaluated point failed.
type Rule struct {
	Condition string `json:"condition"`
	Points    int    `json:"points"`
}

// failures returns the ways in which points failed, most frequent first.
func failures(parameters []space.Parameter, list []Evaluation) []Failure {
	var out []Failure
	for _, f := range []struct {
		status Status
		words  string
	}{
		{CompileError, "do not compile"},
		{RuntimeError, "fail when they run"},
		{Wrong, "give wrong results"},
		{Timeout, "take too long"},
		{Pruned, "do not fit on the device, and were not built"},
	} {
		failed := Failure{Status: f.status, Words: f.words}
		said := map[string]int{}
		for _, e := range list {
			if e.Status == f.status {
				failed.Count++
				said[e.Why]++
			}
		}
		if failed.Count == 0 {
			continue
		}
		for why, n := range said {
			if best := said[failed.Why]; why != "" && (failed.Why == "" || n > best || n == best && why < failed.Why) {
				failed.Why = why
			}
		}
		if f.status != Pruned {
			failed.Rules = mine(parameters, list, f.status)
		}
		out = append(out, failed)
	}
	slices.SortStableFunc(out, func(a, b Failure) int { return b.Count - a.Count })
	return out
}

const (
	maxMined    = 5000 // max evaluations examined
	maxSimple   = 300  // max conditions on one parameter
	maxTripled  = 24   // max parameters for products of three
	maxRules    = 3
	minPoints   = 3
	chanceLimit = 0.01 // probability that any condition looks this certain by accident
)

// condition is a candidate for a rule.
type condition struct {
	text   string
	kind   int // on one parameter, a product of two or of three, or on two parameters at once
	points set
	parts  []set // for a condition on two parameters, the points that each part alone matches
}

// The kinds of conditions, simplest first.
const (
	oneParameter = iota
	productOfTwo
	productOfThree
	twoParameters
	kinds
)

// mine finds conditions under which every point that reached this stage failed in this way.
// The number of such points must be too large for an accident, given how many conditions
// are tested.
func mine(parameters []space.Parameter, list []Evaluation, status Status) []Rule {
	var tried []Evaluation
	for _, e := range list {
		earlier := e.Status == Pruned || e.Status == CompileError && status != CompileError
		if !earlier && len(tried) < maxMined {
			tried = append(tried, e)
		}
	}
	failed := newSet(len(tried))
	for i, e := range tried {
		if e.Status == status {
			failed.add(i)
		}
	}
	all := candidates(parameters, tried, failed)
	var tests [kinds]float64
	for _, c := range all {
		tests[c.kind]++
	}
	certain := slices.DeleteFunc(all, func(c condition) bool {
		n := c.points.count()
		if n < minPoints || !c.points.within(failed) {
			return true
		}
		accident := chance(len(tried), failed.count(), n)
		for _, part := range c.parts { // if nearly all of one part fails, the other part adds nothing
			accident = max(accident, chance(part.count(), part.common(failed), n))
		}
		return accident*tests[c.kind] > chanceLimit/kinds
	})
	var rules []Rule
	left := failed.clone()
	for len(rules) < maxRules {
		best, score := -1, 0.0
		for i, c := range certain {
			if x := float64(c.points.common(left)) * (1 - 0.05*float64(c.kind)); x > score && c.points.common(left) >= minPoints {
				best, score = i, x
			}
		}
		if best < 0 {
			break
		}
		rules = append(rules, Rule{certain[best].text, certain[best].points.count()})
		left.remove(certain[best].points)
	}
	return rules
}

// chance returns the probability that n points drawn at random are all failed ones.
func chance(all, failed, n int) float64 {
	log := 0.0
	for i := range n {
		log += math.Log(float64(failed-i) / float64(all-i))
	}
	return math.Exp(log)
}

// candidates returns conditions on one parameter, on products, and on two parameters at
// once.
func candidates(parameters []space.Parameter, tried []Evaluation, failed set) []condition {
	var simple, list []condition
	for _, p := range parameters {
		simple = append(simple, about(p, tried)...)
	}
	simple = simple[:min(len(simple), maxSimple)]
	list = append(list, simple...)
	for i, p := range parameters {
		for j, q := range parameters[i+1:] {
			list = append(list, products(tried, failed, p.Name, q.Name)...)
			for _, r := range parameters[i+1+j+1:] {
				if len(parameters) > maxTripled {
					break
				}
				list = append(list, products(tried, failed, p.Name, q.Name, r.Name)...)
			}
		}
	}
	for i, a := range simple {
		for _, b := range simple[i+1:] {
			if strings.Fields(a.text)[0] != strings.Fields(b.text)[0] {
				list = append(list, condition{a.text + " and " + b.text, twoParameters, a.points.both(b.points), []set{a.points, b.points}})
			}
		}
	}
	return list
}

// about returns the conditions on one parameter: equal to a value and, for numbers, at
// least or at most a value.
func about(p space.Parameter, tried []Evaluation) []condition {
	values := space.Sorted(p.Values)
	var list []condition
	if strings.ContainsFunc(p.Name, func(r rune) bool { return r == ' ' }) || len(values) < 2 {
		return nil
	}
	for i, v := range values {
		x, isNumber := space.Number(v)
		text := valueText(v)
		where := func(holds func(e Evaluation) bool) set {
			s := newSet(len(tried))
			for i, e := range tried {
				if holds(e) {
					s.add(i)
				}
			}
			return s
		}
		list = append(list, condition{text: p.Name + " = " + text, kind: oneParameter, points: where(func(e Evaluation) bool { return space.Same(e.Point[p.Name], v) })})
		if isNumber && i > 0 && i < len(values)-1 {
			list = append(list,
				condition{text: p.Name + " >= " + text, kind: oneParameter, points: where(func(e Evaluation) bool { y, _ := space.Number(e.Point[p.Name]); return y >= x })},
				condition{text: p.Name + " <= " + text, kind: oneParameter, points: where(func(e Evaluation) bool { y, _ := space.Number(e.Point[p.Name]); return y <= x })})
		}
	}
	return list
}

// products returns the two conditions on a product of numbers that no good point meets:
// above the largest of the good points, and below the smallest.
func products(tried []Evaluation, failed set, names ...string) []condition {
	low, high := math.Inf(1), math.Inf(-1)
	values := make([]float64, len(tried))
	for i, e := range tried {
		values[i] = 1
		for _, name := range names {
			x, isNumber := space.Number(e.Point[name])
			if !isNumber || x <= 0 {
				return nil
			}
			values[i] *= x
		}
		if !failed.has(i) {
			low, high = min(low, values[i]), max(high, values[i])
		}
	}
	if math.IsInf(low, 0) {
		return nil
	}
	above, below := newSet(len(tried)), newSet(len(tried))
	for i, x := range values {
		if x > high {
			above.add(i)
		}
		if x < low {
			below.add(i)
		}
	}
	product := strings.Join(names, " * ")
	return []condition{
		{text: fmt.Sprintf("%s > %s", product, valueText(high)), kind: len(names) - 1, points: above},
		{text: fmt.Sprintf("%s < %s", product, valueText(low)), kind: len(names) - 1, points: below},
	}
}

// set is a set of evaluations, one bit each.
type set []uint64

func newSet(n int) set { return make(set, (n+63)/64) }

func (s set) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s set) has(i int) bool { return s[i/64]>>(i%64)&1 == 1 }
func (s set) clone() set     { return slices.Clone(s) }

func (s set) count() int { return s.common(s) }

func (s set) common(o set) (n int) {
	for i, x := range s {
		n += bits.OnesCount64(x & o[i])
	}
	return n
}

func (s set) both(o set) set {
	out := s.clone()
	for i := range out {
		out[i] &= o[i]
	}
	return out
}

func (s set) within(o set) bool { return s.common(o) == s.count() }

func (s set) remove(o set) {
	for i := range s {
		s[i] &^= o[i]
	}
}
