package space

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
)

// MaxPoints is the largest space that is held completely.
const MaxPoints = 4_000_000

// sampleSize is the sample size for a space that is too large to hold.
const sampleSize = 200_000

// maxTries limits the rejections per point of an uncountable space.
const maxTries = 2_000_000

// Each calls f with the value indices of every point, in walk order, until f returns false.
// The next call overwrites the slice.
func (p *Problem) Each(f func(indices []uint16) bool) {
	p.each(p.cursor(), 0, f)
}

func (p *Problem) each(c *cursor, depth int, f func([]uint16) bool) bool {
	if depth == len(p.walk) {
		return f(c.indices)
	}
	next := depth + 1
	for v := range p.codes[p.walk[depth].parameter] {
		if !p.set(c, depth, v) {
			continue
		}
		// Counting has found the dead ends. Without that the walk would still be correct.
		if next < len(p.walk) && p.walk[next].memo != nil {
			if n, known := p.walk[next].memo[p.key(c, &p.walk[next])]; known && n == 0 {
				continue
			}
		}
		if !p.each(c, next, f) {
			return false
		}
	}
	return true
}

// Sample draws one point exactly uniformly. In a countable space it returns the point with
// a random number. Otherwise it draws every parameter and starts over when a constraint
// fails. That is uniform too, but fails if almost nothing of the product is valid.
func (p *Problem) Sample(rng *rand.Rand) ([]uint16, error) {
	total, err := p.Count()
	if errors.Is(err, ErrTooLarge) {
		return p.reject(rng)
	}
	if err != nil {
		return nil, err
	}
	if total == 0 {
		return nil, errEmpty
	}
	c := p.cursor()
	if err := p.point(c, rng.Uint64N(total)); err != nil {
		return nil, err
	}
	return c.indices, nil
}

var errEmpty = errors.New("tuning space: no point satisfies every constraint: relax one")

func (p *Problem) reject(rng *rand.Rand) ([]uint16, error) {
	c := p.cursor()
	for range maxTries {
		depth := 0
		for depth < len(p.walk) && p.set(c, depth, rng.IntN(len(p.codes[p.walk[depth].parameter]))) {
			depth++
		}
		if depth == len(p.walk) {
			return c.indices, nil
		}
	}
	return nil, fmt.Errorf("tuning space: none of %d random points satisfies the constraints: give the parameters fewer values", maxTries)
}

// Space returns every point or, if there are more than the limit, a uniform sample.
func (p *Problem) Space(most int, rng *rand.Rand) (*Space, error) {
	most = min(most, MaxPoints)
	total, err := p.Count()
	if err == nil && total <= uint64(most) {
		return p.whole(int(total))
	}
	if err != nil && !errors.Is(err, ErrTooLarge) {
		return nil, err
	}
	return p.part(min(most, sampleSize), rng)
}

func (p *Problem) whole(total int) (*Space, error) {
	if total == 0 {
		return nil, errEmpty
	}
	s := newSpace(p.parameters, total)
	s.defaults = p.defaults
	p.Each(func(indices []uint16) bool {
		s.add(indices)
		return true
	})
	return s, nil
}

// part returns the default, if valid, and points drawn without repetition.
func (p *Problem) part(most int, rng *rand.Rand) (*Space, error) {
	s := newSpace(p.parameters, most)
	s.defaults, s.partial = p.defaults, true
	if p.Valid(p.defaults) {
		s.add(p.defaults)
	}
	for tries := 0; s.Len() < most && tries < 4*most; tries++ {
		indices, err := p.Sample(rng)
		if err != nil {
			return nil, err
		}
		s.add(indices)
	}
	return s, nil
}

// Valid reports whether a point satisfies every constraint.
func (p *Problem) Valid(indices []uint16) bool {
	c := p.cursor()
	for depth, s := range p.walk {
		v := int(indices[s.parameter])
		if v >= len(p.codes[s.parameter]) || !p.set(c, depth, v) {
			return false
		}
	}
	return true
}

// Limits of the counting: work, about ten seconds of it, and memory.
const (
	maxSteps  = 500_000_000
	maxStored = 4_000_000
)

// ErrTooLarge reports that a space cannot be counted: the constraints leave too many
// different prefixes, or there are more than 2^63 points.
var ErrTooLarge = errors.New("the space is too large to count")

// Count returns how many points satisfy every constraint.
func (p *Problem) Count() (uint64, error) {
	return p.count(p.cursor(), 0)
}

// count returns how many points start with the prefix in c.
func (p *Problem) count(c *cursor, depth int) (uint64, error) {
	if depth == len(p.walk) {
		return 1, nil
	}
	s := &p.walk[depth]
	key := uint64(0)
	if s.memo != nil {
		key = p.key(c, s)
		if n, known := s.memo[key]; known {
			return n, nil
		}
	}
	total := uint64(0)
	for v := range p.codes[s.parameter] {
		if p.steps++; p.steps > maxSteps {
			return 0, fmt.Errorf("%w: not finished after %d steps", ErrTooLarge, p.steps)
		}
		if !p.set(c, depth, v) {
			continue
		}
		n, err := p.count(c, depth+1)
		if err != nil {
			return 0, err
		}
		sum, carry := bits.Add64(total, n, 0)
		if total = sum; carry != 0 || total >= 1<<63 {
			return 0, fmt.Errorf("%w: there are more than 2^63 points", ErrTooLarge)
		}
	}
	if s.memo != nil && p.stored < maxStored {
		s.memo[key] = total
		p.stored++
	}
	return total, nil
}

// point writes the n-th point, in walk order, into the cursor.
func (p *Problem) point(c *cursor, n uint64) error {
	for depth := range p.walk {
		found := false
		for v := range p.codes[p.walk[depth].parameter] {
			if !p.set(c, depth, v) {
				continue
			}
			here, err := p.count(c, depth+1)
			if err != nil {
				return err
			}
			if n >= here {
				n -= here
				continue
			}
			found = true
			break
		}
		if !found {
			return fmt.Errorf("tuning space: point %d does not exist", n)
		}
	}
	return nil
}
