package server

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// shareOf limits each project to one in this many parts of a budget.
const shareOf = 4

// projectBudget is a budget of which no project can use more than its part, so that one project cannot block the
// others.
type projectBudget struct {
	whole *semaphore.Weighted
	most  int64 // max for one project

	mu    sync.Mutex
	parts map[int64]*part
}

// part is a project's part of a budget. It is deleted when no request holds it or waits for it.
type part struct {
	*semaphore.Weighted
	users int
	taken atomic.Int64
}

// newShares divides a budget. Each part is at least least, so that one item of that size fits.
func newShares(whole, least int64) *projectBudget {
	return &projectBudget{whole: semaphore.NewWeighted(whole), most: min(whole, max(least, whole/shareOf)), parts: map[int64]*part{}}
}

func (b *projectBudget) enter(project int64) *part {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.parts[project]
	if p == nil {
		p = &part{Weighted: semaphore.NewWeighted(b.most)}
		b.parts[project] = p
	}
	p.users++
	return p
}

func (b *projectBudget) leave(project int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.parts[project]; p != nil {
		if p.users--; p.users == 0 {
			delete(b.parts, project)
		}
	}
}

// try takes n for a project if available, without waiting.
func (b *projectBudget) try(project, n int64) bool {
	p := b.enter(project)
	if p.TryAcquire(n) {
		if b.whole.TryAcquire(n) {
			p.taken.Add(n)
			return true
		}
		p.Release(n)
	}
	b.leave(project)
	return false
}

// wait takes one slot for a project, waiting until it is available. It returns an error if ctx ends first.
func (b *projectBudget) wait(ctx context.Context, project int64) error {
	p := b.enter(project)
	err := p.Acquire(ctx, 1)
	if err == nil {
		if err = b.whole.Acquire(ctx, 1); err == nil {
			p.taken.Add(1)
			return nil
		}
		p.Release(1)
	}
	b.leave(project)
	return err
}

// takeTurn takes one of the slots for requests, and waits for it if necessary. The slot is returned when the
// response starts: a slow reader holds none. Requests of a project use at most its part.
func (s *Server) takeTurn(r *http.Request, project int64) error {
	if !s.turns.try(project, 1) {
		waiting, cancel := context.WithTimeout(r.Context(), s.limits.Wait)
		defer cancel()
		if s.turns.wait(waiting, project) != nil {
			return problem(http.StatusServiceUnavailable, "busy", "too many requests for this project at once: try again").after(time.Second)
		}
	}
	requestInfoOf(r).endTurn = sync.OnceFunc(func() { s.turns.give(project, 1) })
	return nil
}

// give returns n to the budget.
func (b *projectBudget) give(project, n int64) {
	b.whole.Release(n)
	b.mu.Lock()
	p := b.parts[project]
	b.mu.Unlock()
	p.taken.Add(-n)
	p.Release(n) // it exists as long as it has holders
	b.leave(project)
}

// used returns how much a project holds.
func (b *projectBudget) used(project int64) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.parts[project]; p != nil {
		return p.taken.Load()
	}
	return 0
}
