package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// health serves liveness and readiness checks.
type health struct {
	draining atomic.Bool
	ready    func(context.Context) error // queries the database; nil before it is open

	log *slog.Logger // nil for none

	mu    sync.Mutex
	asked time.Time // time of the last query
	said  error

	state atomic.Int32 // of the last query: stateUnknown, stateReady or stateNotReady
}

const (
	stateUnknown int32 = iota
	stateReady
	stateNotReady
)

// watchEvery is how often the database is checked even if nothing asks.
const watchEvery = 5 * time.Second

// watch checks the database until it is stopped, so that the log and the metrics tell of an outage. stop waits for the
// last check.
func (h *health) watch(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var checks sync.WaitGroup
	checks.Go(func() {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			_ = h.now(ctx) // it logs what changes
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
	return func() {
		cancel()
		checks.Wait()
	}
}

// note logs a change of state, once.
func (h *health) note(err error) {
	state := stateReady
	if err != nil {
		state = stateNotReady
	}
	switch before := h.state.Swap(state); {
	case h.log == nil || before == state:
	case err != nil:
		h.log.Error("not ready: /readyz answers 503", "error", err)
	case before == stateNotReady:
		h.log.Info("ready again")
	}
}

// readyFor is how long a database check is cached. Anyone may call this often, and must not load the
// database.
const readyFor = 250 * time.Millisecond

// now checks the database, or returns the cached result. Concurrent callers wait for the same check.
func (h *health) now(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if since := time.Since(h.asked); h.asked.IsZero() || since < 0 || since >= readyFor {
		// A client that disconnects must not cache a failure for the others.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		h.said, h.asked = h.ready(ctx), time.Now()
		h.note(h.said)
	}
	return h.said
}

// livez covers only the process: restarting it does not fix a database.
func (h *health) livez(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	fmt.Fprintln(w, "ok")
}

// readyz reports whether the server accepts requests.
func (h *health) readyz(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if h.draining.Load() {
		http.Error(w, "draining", http.StatusServiceUnavailable)
		return
	}
	if err := h.now(r.Context()); err != nil {
		// The reason goes only to the log: this answer is public.
		http.Error(w, "the database is not ready", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}
