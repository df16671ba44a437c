package queue

import (
	"context"
	"sync"
	"time"
)

// maxConcurrentScans is the number of projects scanned concurrently: scanning is CPU-bound.
const maxConcurrentScans = 2

// maxScanTime is how long one job keeps scanning for requests that arrive meanwhile.
const maxScanTime = jobTimeout / 5

// scanCoalescer merges concurrent requests to scan a project into one scan. A request that arrives during a scan
// causes one more scan after it. Losing a request in a crash is harmless: pending work is recorded in
// the store.
type scanCoalescer struct {
	pause    time.Duration
	slots    chan struct{}
	draining chan struct{} // closed on shutdown; skips remaining pauses

	mu      sync.Mutex
	running map[int64]*scanState
	once    sync.Once
}

// scanState is the state of a project's scan.
type scanState struct{ again bool }

func newLooks(pause time.Duration) *scanCoalescer {
	return &scanCoalescer{pause: pause, slots: make(chan struct{}, maxConcurrentScans), draining: make(chan struct{}), running: map[int64]*scanState{}}
}

// hurry makes pending scans continue without pauses.
func (l *scanCoalescer) hurry() { l.once.Do(func() { close(l.draining) }) }

// at scans project, and scans it again for requests that arrived meanwhile.
func (l *scanCoalescer) at(ctx context.Context, project int64, look func(context.Context, int64) error) error {
	mine := l.enter(project)
	if mine == nil {
		return nil
	}
	for end := time.Now().Add(maxScanTime); ; {
		select {
		case l.slots <- struct{}{}:
		case <-ctx.Done():
			l.leave(project, mine, true)
			return ctx.Err()
		}
		if err := l.scanOnce(ctx, project, mine, look); err != nil {
			l.leave(project, mine, true)
			return err
		}
		l.pauseBetween(ctx)
		if l.leave(project, mine, ctx.Err() != nil) {
			return ctx.Err()
		}
		if time.Now().After(end) {
			l.leave(project, mine, true)
			return ErrRetryLater // continue as a new job, because this one would be cut off
		}
	}
}

// scanOnce runs a scan and releases its slot even if the scan panics, which River survives. Otherwise the project
// could not be scanned again while the process lives, and after a few panics no project could.
func (l *scanCoalescer) scanOnce(ctx context.Context, project int64, mine *scanState, look func(context.Context, int64) error) error {
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

// pauseBetween pauses so that reports can accumulate.
func (l *scanCoalescer) pauseBetween(ctx context.Context) {
	if l.pause <= 0 {
		return
	}
	timer := time.NewTimer(l.pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.draining:
	case <-ctx.Done():
	}
}

// enter registers a scan of project. If one is running, it requests another scan after it and returns nil.
func (l *scanCoalescer) enter(project int64) *scanState {
	l.mu.Lock()
	defer l.mu.Unlock()
	if other := l.running[project]; other != nil {
		other.again = true
		return nil
	}
	mine := &scanState{}
	l.running[project] = mine
	return mine
}

// leave ends a scan unless another one was requested meanwhile; must ends it anyway. It reports whether
// the scan has ended.
func (l *scanCoalescer) leave(project int64, mine *scanState, must bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if mine.again && !must {
		mine.again = false
		return false
	}
	delete(l.running, project)
	return true
}
