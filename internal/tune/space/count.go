package space

import (
	"errors"
	"fmt"
	"math/bits"
)

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
