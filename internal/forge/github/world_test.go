package github_test

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// world is a time that several actors live in. It passes only while all of them sleep,
// so that one acts at a time and a seed decides the order of everything.
type world struct {
	mu     sync.Mutex
	now    time.Time
	awake  int
	asleep []*sleeper
	all    sync.WaitGroup
}

type sleeper struct {
	until time.Time
	wake  chan struct{}
}

func newWorld() *world { return &world{now: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)} }

// run lets the actors act, and returns when they are done.
func (w *world) run(actors ...func()) {
	w.awake = len(actors)
	for _, act := range actors {
		w.all.Go(func() {
			_ = w.sleep(context.Background(), 0) // nobody acts before all are here
			act()
			w.mu.Lock()
			w.awake--
			w.next()
			w.mu.Unlock()
		})
	}
	w.all.Wait()
}

func (w *world) time() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) sleep(ctx context.Context, d time.Duration) error {
	w.mu.Lock()
	s := &sleeper{w.now.Add(max(d, 0)), make(chan struct{})}
	w.asleep = append(w.asleep, s)
	w.awake--
	w.next()
	w.mu.Unlock()
	<-s.wake
	return ctx.Err()
}

// next wakes the first to wake, once nobody is awake.
func (w *world) next() {
	if w.awake > 0 || len(w.asleep) == 0 {
		return
	}
	first := 0
	for i, s := range w.asleep {
		if s.until.Before(w.asleep[first].until) {
			first = i
		}
	}
	s := w.asleep[first]
	w.asleep = append(w.asleep[:first], w.asleep[first+1:]...)
	w.now = s.until
	w.awake++
	close(s.wake)
}

// wire takes its time for every request, there and back.
type wire struct {
	world *world
	delay func() time.Duration
	base  http.RoundTripper
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := w.world.sleep(r.Context(), w.delay()); err != nil {
		return nil, err
	}
	resp, err := w.base.RoundTrip(r)
	if sleepErr := w.world.sleep(r.Context(), w.delay()); sleepErr != nil && err == nil {
		resp.Body.Close()
		return nil, sleepErr
	}
	return resp, err
}
