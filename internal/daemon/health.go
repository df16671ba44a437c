package daemon

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// health answers whoever decides whether this process gets requests, or lives.
type health struct {
	draining atomic.Bool
	ready    func(context.Context) error // asks the database; nil before it is open

	mu    sync.Mutex
	asked time.Time // when the database was
	said  error
}

// readyFor is how long an answer of the database holds: anybody may ask, as often as they
// like, and must not keep it busy with that.
const readyFor = 250 * time.Millisecond

// now asks the database, or says what it said a moment ago. Who asks meanwhile waits for
// the same answer.
func (h *health) now(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if since := time.Since(h.asked); h.asked.IsZero() || since < 0 || since >= readyFor {
		// One who hangs up must not leave a failure behind for the others.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		h.said, h.asked = h.ready(ctx), time.Now()
	}
	return h.said
}

// livez is about the process alone: to restart it does not mend a database.
func (h *health) livez(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	fmt.Fprintln(w, "ok")
}

// readyz tells whether requests are welcome.
func (h *health) readyz(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if h.draining.Load() {
		http.Error(w, "draining", http.StatusServiceUnavailable)
		return
	}
	if err := h.now(r.Context()); err != nil {
		// Why is for the log: strangers read this.
		http.Error(w, "the database is not ready", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}
