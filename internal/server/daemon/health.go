package daemon

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// health serves liveness and readiness checks.
type health struct {
	draining atomic.Bool
	ready    func(context.Context) error // queries the database; nil before it is open

	mu    sync.Mutex
	asked time.Time // time of the last query
	said  error
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
