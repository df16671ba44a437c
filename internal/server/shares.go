package server

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// shareOf is the part of a budget that one project can have: one in so many.
const shareOf = 4

// shares are a budget of which no project can have more than its part, so that others find
// room whatever one of them does.
type shares struct {
	whole *semaphore.Weighted
	most  int64 // of one project

	mu    sync.Mutex
	parts map[int64]*part
}

// part is what a project has of a budget; it is forgotten when nobody holds or waits.
type part struct {
	*semaphore.Weighted
	users int
}

// newShares divides a budget, but so that one thing of the least size fits into a part.
func newShares(whole, least int64) *shares {
	return &shares{whole: semaphore.NewWeighted(whole), most: min(whole, max(least, whole/shareOf)), parts: map[int64]*part{}}
}

func (b *shares) enter(project int64) *part {
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

func (b *shares) leave(project int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.parts[project]; p != nil {
		if p.users--; p.users == 0 {
			delete(b.parts, project)
		}
	}
}

// try takes n for a project, if they are there.
func (b *shares) try(project, n int64) bool {
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

// wait takes n for a project as soon as they are there, or says why it did not.
func (b *shares) wait(ctx context.Context, project, n int64) error {
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

// give gives back what was taken.
func (b *shares) give(project, n int64) {
	b.whole.Release(n)
	b.mu.Lock()
	p := b.parts[project]
	b.mu.Unlock()
	p.Release(n) // it is there: who holds is counted
	b.leave(project)
}
