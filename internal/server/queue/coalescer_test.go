package queue

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A look that panics ends its job and nothing else: the next one is let in.
func TestAPanicGivesItsPlaceBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLooks(0)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		for range 2 * maxConcurrentScans {
			func() {
				defer func() { _ = recover() }() // as River does
				_ = l.at(ctx, 1, func(context.Context, int64) error { panic("an unexpected series") })
			}()
		}
		looked := false
		if err := l.at(ctx, 1, func(context.Context, int64) error { looked = true; return nil }); err != nil || !looked {
			t.Errorf("no look can start: %v", err)
		}
	})
}

func TestLooks_PauseMergesRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLooks(time.Second)
		began := time.Now()
		var looks []time.Duration
		look := func(context.Context, int64) error {
			looks = append(looks, time.Since(began))
			return nil
		}
		done := make(chan error, 1)
		go func() { done <- l.at(t.Context(), 1, look) }()
		for range 20 { // during the first pause
			time.Sleep(40 * time.Millisecond)
			if err := l.at(t.Context(), 1, look); err != nil {
				t.Error(err)
			}
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if want := []time.Duration{0, time.Second}; !slices.Equal(looks, want) || time.Since(began) != 2*time.Second {
			t.Errorf("21 requests caused looks at %v and ended after %v, want looks at %v", looks, time.Since(began), want)
		}
	})
}

func TestLooks_HurrySkipsThePause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLooks(time.Hour)
		began := time.Now()
		time.AfterFunc(time.Minute, l.hurry)
		for range 2 {
			if err := l.at(t.Context(), 1, func(context.Context, int64) error { return nil }); err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(began); took != time.Minute {
			t.Errorf("it ended after %v", took)
		}
	})
}
