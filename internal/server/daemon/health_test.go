package daemon

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
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
