package queue

import (
	"context"
	"sync"
	"time"
)

// atOnce is how many projects are looked at together: looking is work for a processor.
const atOnce = 2

// longest is how long one job looks for all that come meanwhile.
const longest = jobTimeout / 5

// looks makes one look of many nudges. A nudge for a project that is being looked at
// only says that there is more; nothing is lost if the process dies in between, because
// what there is to look at stands in the store.
type looks struct {
	pause time.Duration
	slots chan struct{}
	quick chan struct{} // closed when nobody is to wait any more

	mu    sync.Mutex
	under map[int64]*looking
	once  sync.Once
}

// looking is one project's.
type looking struct{ again bool }

func newLooks(pause time.Duration) *looks {
	return &looks{pause: pause, slots: make(chan struct{}, atOnce), quick: make(chan struct{}), under: map[int64]*looking{}}
}

// hurry ends pauses.
func (l *looks) hurry() { l.once.Do(func() { close(l.quick) }) }

// at looks until no nudge came meanwhile.
func (l *looks) at(ctx context.Context, project int64, look func(context.Context, int64) error) error {
	mine := l.enter(project)
	if mine == nil {
		return nil
	}
	for end := time.Now().Add(longest); ; {
		select {
		case l.slots <- struct{}{}:
		case <-ctx.Done():
			l.leave(project, mine, true)
			return ctx.Err()
		}
		if err := l.one(ctx, project, mine, look); err != nil {
			l.leave(project, mine, true)
			return err
		}
		l.rest(ctx)
		if l.leave(project, mine, ctx.Err() != nil) {
			return ctx.Err()
		}
		if time.Now().After(end) {
			l.leave(project, mine, true)
			return ErrLater // as a job that begins anew: this one would be cut off
		}
	}
}

// one looks, and gives its place back even where the look panics, which River survives:
// nobody else could look at the project for as long as the process lives, and after a few
// of them at none.
func (l *looks) one(ctx context.Context, project int64, mine *looking, look func(context.Context, int64) error) error {
	ended := false
	defer func() {
		<-l.slots
		if !ended {
			l.leave(project, mine, true)
		}
	}()
	err := look(ctx, project)
	ended = true
	return err
}

// rest lets reports gather.
func (l *looks) rest(ctx context.Context) {
	if l.pause <= 0 {
		return
	}
	timer := time.NewTimer(l.pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.quick:
	case <-ctx.Done():
	}
}

// enter is nil where somebody is at it, who is told that there is more.
func (l *looks) enter(project int64) *looking {
	l.mu.Lock()
	defer l.mu.Unlock()
	if other := l.under[project]; other != nil {
		other.again = true
		return nil
	}
	mine := &looking{}
	l.under[project] = mine
	return mine
}

// leave tells whether the looker may go: nobody came meanwhile, or it must.
func (l *looks) leave(project int64, mine *looking, must bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if mine.again && !must {
		mine.again = false
		return false
	}
	delete(l.under, project)
	return true
}
