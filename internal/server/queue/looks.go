package queue

import (
	"context"
	"sync"
	"time"
)

// atOnce is the number of projects scanned concurrently: scanning is CPU-bound.
const atOnce = 2

// longest is how long one job keeps scanning for requests that arrive meanwhile.
const longest = jobTimeout / 5

// looks merges concurrent requests to scan a project into one scan. A request that arrives during a scan
// causes one more scan after it. Losing a request in a crash is harmless: pending work is recorded in
// the store.
type looks struct {
	pause time.Duration
	slots chan struct{}
	quick chan struct{} // closed on shutdown; skips remaining pauses

	mu    sync.Mutex
	under map[int64]*looking
	once  sync.Once
}

// looking is the state of a project's scan.
type looking struct{ again bool }

func newLooks(pause time.Duration) *looks {
	return &looks{pause: pause, slots: make(chan struct{}, atOnce), quick: make(chan struct{}), under: map[int64]*looking{}}
}

// hurry makes pending scans continue without pauses.
func (l *looks) hurry() { l.once.Do(func() { close(l.quick) }) }

// at scans project, and scans it again for requests that arrived meanwhile.
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
			return ErrLater // continue as a new job, because this one would be cut off
		}
	}
}

// one runs a scan and releases its slot even if the scan panics, which River survives. Otherwise the project
// could not be scanned again while the process lives, and after a few panics no project could.
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

// rest pauses so that reports can accumulate.
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

// enter registers a scan of project. If one is running, it requests another scan after it and returns nil.
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

// leave ends a scan unless another one was requested meanwhile; must ends it anyway. It reports whether
// the scan has ended.
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
