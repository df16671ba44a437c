package space

import (
	"math"
	"math/bits"
)

// step is one parameter in walk order.
type step struct {
	parameter int
	checks    []func(values []float64) bool // conditions whose parameters are all set at this step
	// live lists the earlier parameters that a check from here on still reads. Two prefixes
	// that agree on them have the same continuations, which are counted once.
	live []int
	memo map[uint64]uint64 // continuations by the values of live; nil if it cannot help
}

// plan orders the parameters so that conditions can be checked early. It repeatedly
// completes the condition with the fewest missing parameters, those with few values first.
// Parameters without conditions come last.
func (p *Problem) plan(conditions []condition) {
	n := len(p.parameters)
	placed := make([]int, n) // position in the walk, 1-based; 0 means not placed
	put := func(parameter int) {
		if placed[parameter] == 0 {
			p.walk = append(p.walk, step{parameter: parameter})
			placed[parameter] = len(p.walk)
		}
	}
	for i := range n {
		if len(p.codes[i]) == 1 {
			put(i)
		}
	}
	for range conditions {
		best, least := -1, math.Inf(1)
		for c, cond := range conditions {
			product := 1.0
			for _, s := range cond.slots {
				if placed[s] == 0 {
					product *= float64(len(p.codes[s]))
				}
			}
			if product > 1 && product < least {
				best, least = c, product
			}
		}
		if best < 0 {
			break
		}
		for p.putSmallest(conditions[best].slots, placed, put) {
		}
	}
	for i := range n {
		put(i)
	}
	last := make([]int, n) // the last step that reads a parameter
	for _, c := range conditions {
		at := 0
		for _, s := range c.slots {
			at = max(at, placed[s]-1)
		}
		p.walk[at].checks = append(p.walk[at].checks, c.holds)
		for _, s := range c.slots {
			last[s] = max(last[s], at)
		}
	}
	p.findLive(last)
}

func (p *Problem) putSmallest(slots, placed []int, put func(int)) bool {
	best := -1
	for _, s := range slots {
		if placed[s] == 0 && (best < 0 || len(p.codes[s]) < len(p.codes[best])) {
			best = s
		}
	}
	if best >= 0 {
		put(best)
	}
	return best >= 0
}

func (p *Problem) findLive(last []int) {
	for depth := range p.walk {
		s := &p.walk[depth]
		keys := uint64(1)
		for _, before := range p.walk[:depth] {
			size := uint64(len(p.codes[before.parameter]))
			if last[before.parameter] < depth || size == 1 {
				continue
			}
			s.live = append(s.live, before.parameter)
			hi, lo := bits.Mul64(keys, size)
			if keys = lo; hi != 0 {
				keys = 0
			}
			if keys == 0 {
				break
			}
		}
		if keys != 0 {
			s.memo = map[uint64]uint64{}
		}
	}
}

// cursor is a prefix of a point: the indices and the codes of the values chosen so far.
type cursor struct {
	indices []uint16
	values  []float64
}

func (p *Problem) cursor() *cursor {
	return &cursor{indices: make([]uint16, len(p.parameters)), values: make([]float64, len(p.parameters))}
}

// set chooses a value at a depth and reports whether every condition allows it.
func (p *Problem) set(c *cursor, depth, value int) bool {
	s := &p.walk[depth]
	c.indices[s.parameter] = uint16(value)
	c.values[s.parameter] = p.codes[s.parameter][value]
	for _, holds := range s.checks {
		if !holds(c.values) {
			return false
		}
	}
	return true
}

func (p *Problem) key(c *cursor, s *step) uint64 {
	key := uint64(0)
	for _, i := range s.live {
		key = key*uint64(len(p.codes[i])) + uint64(c.indices[i])
	}
	return key
}
