package parallel

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

func TestEach(t *testing.T) {
	for _, n := range []int{0, 1, 100} {
		seen := make([]atomic.Int32, n)
		if err := Each(t.Context(), n, func(i int) { seen[i].Add(1) }); err != nil {
			t.Fatal(err)
		}
		for i := range seen {
			if got := seen[i].Load(); got != 1 {
				t.Errorf("%d of %d was done %d times", i, n, got)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var done atomic.Int32
	err := Each(ctx, 1_000_000, func(int) {
		done.Add(1)
		cancel()
	})
	if !errors.Is(err, context.Canceled) || done.Load() == 1_000_000 {
		t.Errorf("%d done after a cancel: %v", done.Load(), err)
	}
}
