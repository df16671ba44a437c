package queue

import (
	"context"
	"testing"
	"time"
)

// A look that panics ends its job and nothing else: the next one is let in.
func TestAPanicGivesItsPlaceBack(t *testing.T) {
	l := newLooks(0)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for range 2 * atOnce {
		func() {
			defer func() { _ = recover() }() // as River does
			_ = l.at(ctx, 1, func(context.Context, int64) error { panic("a series that nobody thought of") })
		}()
	}
	looked := false
	if err := l.at(ctx, 1, func(context.Context, int64) error { looked = true; return nil }); err != nil || !looked {
		t.Errorf("nobody can look any more: %v", err)
	}
}
