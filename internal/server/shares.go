package server

import (
	"context"
	"sync"

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
			return true
		}
		p.Release(n)
	}
	b.leave(project)
	return false
}

// wait takes n for a project, waiting until available. It returns an error if ctx ends first.
func (b *projectBudget) wait(ctx context.Context, project, n int64) error {
	p := b.enter(project)
	err := p.Acquire(ctx, n)
	if err == nil {
		if err = b.whole.Acquire(ctx, n); err == nil {
			return nil
		}
		p.Release(n)
	}
	b.leave(project)
	return err
}

// give returns n to the budget.
func (b *projectBudget) give(project, n int64) {
	b.whole.Release(n)
	b.mu.Lock()
	p := b.parts[project]
	b.mu.Unlock()
	p.Release(n) // it exists as long as it has holders
	b.leave(project)
}
