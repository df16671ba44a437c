package correctness

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// Budget bounds the search for a small failure.
type Budget struct {
	Evaluations int
	Time        time.Duration
}

// DefaultBudget is enough to shrink most failures fully, and ends within a minute.
var DefaultBudget = Budget{Evaluations: 120, Time: 45 * time.Second}

// Shrunk holds the smallest failing point found.
type Shrunk struct {
	Point       Point
	Evaluations int
	Stopped     bool // the budget ended the search
}

// Shrink searches for the smallest point that still fails. It shrinks all sizes together,
// then each toward 1 by halving and by single steps, and repeats that until nothing
// changes. Then it tries the simplest kind of contents, then a small seed. The function
// fails must return false for a point that cannot be run: a kernel that refuses a shape is
// not wrong about it. The function now is a clock. With enough budget the result depends
// only on fails.
func Shrink(ctx context.Context, p Point, budget Budget, now func() time.Time, fails func(context.Context, Point) bool) Shrunk {
	s := &shrinker{
		best: p, budget: budget.Evaluations, seen: map[string]bool{p.key(): false},
		until: now().Add(budget.Time), now: now, fails: fails,
	}
	ctx, cancel := context.WithTimeout(ctx, budget.Time)
	defer cancel()
	s.sizes(ctx)
	s.contents(ctx)
	s.sizes(ctx) // simpler contents may fail at sizes where the others passed
	for seed := range uint64(4) {
		q := s.best
		q.Seed = seed
		if seed >= s.best.Seed || s.try(ctx, q) {
			break
		}
	}
	return Shrunk{Point: s.best, Evaluations: s.evaluations, Stopped: s.stopped}
}

type shrinker struct {
	best        Point
	evaluations int
	budget      int
	until       time.Time
	now         func() time.Time
	stopped     bool
	seen        map[string]bool
	fails       func(context.Context, Point) bool
}

// try evaluates a point, at most once, and keeps it if it fails.
func (s *shrinker) try(ctx context.Context, p Point) bool {
	if _, known := s.seen[p.key()]; known || s.stopped {
		return false
	}
	if s.evaluations >= s.budget || ctx.Err() != nil || !s.now().Before(s.until) {
		s.stopped = true
		return false
	}
	s.evaluations++
	s.seen[p.key()] = true
	failed := s.fails(ctx, p)
	if ctx.Err() != nil {
		s.stopped = true // an interrupted evaluation proves nothing
		return false
	}
	if failed {
		s.best = p
	}
	return failed
}

// contents tries the kinds that are simpler than the current one.
func (s *shrinker) contents(ctx context.Context) {
	for _, kind := range Distributions() {
		if kind == s.best.Inputs {
			return
		}
		q := s.best
		q.Inputs = kind
		if s.try(ctx, q) {
			return
		}
	}
}

// sizes shrinks the whole numbers of the config.
func (s *shrinker) sizes(ctx context.Context) {
	least := s.best
	least.Params = slices.Clone(least.Params)
	for i := range least.Params {
		if _, ok := size(least.Params[i]); ok {
			least.Params[i].Value = 1.0
		}
	}
	if s.try(ctx, least) {
		return
	}
	for !s.stopped {
		before := s.best.key()
		for i := range s.best.Params {
			s.size(ctx, i)
		}
		if s.best.key() == before {
			return
		}
	}
}

// size shrinks one parameter: to 1 if that fails, else to the edge between passing and
// failing, by bisection. Then it tries single steps down from there, because failing
// need not be monotonic in the size.
func (s *shrinker) size(ctx context.Context, i int) {
	high, ok := size(s.best.Params[i])
	if !ok || high <= 1 || s.at(ctx, i, 1) {
		return
	}
	for low := 1.0; high-low > 1 && !s.stopped; {
		middle := math.Floor((low + high) / 2)
		if s.at(ctx, i, middle) {
			high = middle
		} else {
			low = middle
		}
	}
	const down = 4
	for step := 1.0; step <= down && high-step > 1; step++ {
		if s.at(ctx, i, high-step) {
			high -= step
			step = 0
		}
	}
}

// at tries the best point with another value of a parameter.
func (s *shrinker) at(ctx context.Context, i int, value float64) bool {
	q := s.best
	q.Params = slices.Clone(q.Params)
	q.Params[i].Value = value
	return s.try(ctx, q)
}

// size returns the value of a parameter that is a count.
func size(p suite.Param) (float64, bool) {
	x, ok := p.Value.(float64)
	return x, ok && x == math.Trunc(x) && x >= 1
}
