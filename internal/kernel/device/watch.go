package device

import (
	"context"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
)

// WatchInterval is how often a device is read while a round runs: ten readings per
// second detect a slowdown of a tenth of a second.
const WatchInterval = 100 * time.Millisecond

// restPerRead keeps the watcher's own load under one percent: after a reading that
// took a millisecond, it pauses at least a hundred.
const restPerRead = 100

// Watcher reads a device repeatedly while a round runs.
type Watcher struct {
	stop func()
	done chan struct{}

	// Owned by the reading goroutine until done is closed.
	seen  gpu.State
	last  gpu.Reasons // of the reading before
	reads int
	err   error
}

// Watch starts reading the device every interval, or less often if a reading is slow.
// The caller must Stop the watcher.
func Watch(ctx context.Context, dev Device, interval time.Duration) *Watcher {
	stopped := make(chan struct{})
	w := &Watcher{stop: sync.OnceFunc(func() { close(stopped) }), done: make(chan struct{})}
	go func() {
		defer close(w.done)
		w.poll(ctx, dev, interval, stopped)
		w.read(ctx, dev) // the state at the end
	}()
	return w
}

func (w *Watcher) poll(ctx context.Context, dev Device, interval time.Duration, stopped <-chan struct{}) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-stopped:
			return
		case <-timer.C:
		}
		cost := w.read(ctx, dev)
		timer.Reset(max(interval, restPerRead*cost))
	}
}

func (w *Watcher) read(ctx context.Context, dev Device) (cost time.Duration) {
	began := time.Now()
	s, err := dev.State(ctx)
	w.reads++
	before := w.last
	if w.last = s.Reasons; err == nil {
		s.Reasons = confirmed(s.Reasons, before)
	}
	if err != nil {
		w.err = err
		w.seen = w.seen.Merge(s) // a partial reading may still contain a reason
	} else {
		w.seen = s.Merge(w.seen)
	}
	return time.Since(began)
}

// confirmed returns the reasons of a reading without a hardware slowdown that is not yet
// confirmed. NVML also sets that bit for a moment while the clocks change, so it counts from the second
// reading in a row, or if heat or the power brake is named too.
func confirmed(now, before gpu.Reasons) gpu.Reasons {
	if now&(gpu.HWThermal|gpu.HWPowerBrake) != 0 || before&gpu.HWSlowdown != 0 {
		return now
	}
	return now &^ gpu.HWSlowdown
}

// Stop takes a last reading and returns it, with all reasons, all foreign processes and
// the highest temperature seen since Watch. An error means that a reading failed and
// something may have been missed; the state then holds what was seen. Stop may be
// called again and returns the same result.
func (w *Watcher) Stop() (gpu.State, error) {
	w.stop()
	<-w.done
	return w.seen, w.err
}
