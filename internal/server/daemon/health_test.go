package daemon

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Many ask, few are asked for: a stranger cannot keep the database busy at /readyz.
func TestReadyzAsksSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		h := &health{ready: func(context.Context) error {
			asked.Add(1)
			return errors.New("no database")
		}}
		for round := range int64(3) {
			var wg sync.WaitGroup
			for range 200 {
				wg.Go(func() {
					w := httptest.NewRecorder()
					h.readyz(w, httptest.NewRequest(http.MethodGet, "/readyz", http.NoBody))
					if w.Code != http.StatusServiceUnavailable {
						t.Errorf("%d", w.Code)
					}
				})
			}
			wg.Wait()
			if asked.Load() != round+1 {
				t.Errorf("the database was asked %d times for %d answers that hold %v each", asked.Load(), round+1, readyFor)
			}
			time.Sleep(readyFor)
		}
	})
}

// A change of state is logged once, however often it is asked for, and the metric follows it.
func TestHealth_LogsChangesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var down atomic.Bool
		h := &health{log: slog.New(slog.NewTextHandler(&log, nil)), ready: func(context.Context) error {
			if down.Load() {
				return errors.New("no database")
			}
			return nil
		}}
		for _, state := range []bool{false, true, false, true} {
			down.Store(state)
			for range 5 {
				_ = h.now(t.Context())
				time.Sleep(readyFor)
			}
			if (h.state.Load() == stateNotReady) != state {
				t.Errorf("the state is %d while the database is down: %v", h.state.Load(), state)
			}
		}
		if got := log.String(); strings.Count(got, "not ready") != 2 || strings.Count(got, "ready again") != 1 || strings.Count(got, "\n") != 3 {
			t.Errorf("the log is\n%s", got)
		}
	})
}

func TestMetrics_RequireTheToken(t *testing.T) {
	inner := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	for _, test := range []struct {
		token, header string
		want          int
	}{
		{"", "", http.StatusNoContent},
		{"secret", "Bearer secret", http.StatusNoContent},
		{"secret", "", http.StatusUnauthorized},
		{"secret", "Bearer secre", http.StatusUnauthorized},
		{"secret", "Basic secret", http.StatusUnauthorized},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody)
		r.Header.Set("Authorization", test.header)
		withToken(test.token, inner).ServeHTTP(w, r)
		if w.Code != test.want {
			t.Errorf("token %q, header %q: %d, want %d", test.token, test.header, w.Code, test.want)
		}
	}
}
