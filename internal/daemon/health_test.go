package daemon

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Many ask, few are asked for: a stranger cannot keep the database busy at /readyz.
func TestReadyzAsksSeldom(t *testing.T) {
	var asked atomic.Int64
	gate := make(chan struct{})
	h := &health{ready: func(context.Context) error {
		<-gate // all of them are there before the first is answered
		asked.Add(1)
		return errors.New("no database")
	}}
	var wg sync.WaitGroup
	began := time.Now()
	for range 200 {
		wg.Go(func() {
			w := httptest.NewRecorder()
			h.readyz(w, httptest.NewRequest(http.MethodGet, "/readyz", http.NoBody))
			if w.Code != http.StatusServiceUnavailable {
				t.Errorf("%d", w.Code)
			}
		})
	}
	close(gate)
	wg.Wait()
	if most := 1 + int64(time.Since(began)/readyFor); asked.Load() > most {
		t.Errorf("the database was asked %d times, want at most %d", asked.Load(), most)
	}
}
