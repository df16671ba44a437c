package server

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/fleet/placer"
)

// countingFleet counts the questions to placers.
type countingFleet struct {
	fakeFleet
	asked map[string]int
	err   error
}

func (f *countingFleet) Queue(_ context.Context, model string) (placer.View, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked[model]++
	return placer.View{}, f.err
}

func TestQueueViews_OneQuestionForAll(t *testing.T) {
	f := &countingFleet{asked: map[string]int{}}
	now := time.Now()
	q := &queueViews{Fleet: f, now: func() time.Time { return now }}
	ask := func(ctx context.Context, model string) {
		if _, err := q.Queue(ctx, model); !errors.Is(err, f.err) {
			t.Error(err)
		}
	}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() { ask(t.Context(), "l4") })
		all.Go(func() { ask(t.Context(), "h100") })
	}
	all.Wait()
	if f.asked["l4"] != 1 || f.asked["h100"] != 1 {
		t.Errorf("asked %v, want each once", f.asked)
	}
	now = now.Add(queueAge)
	f.err = errors.New("no answer")
	for range 3 { // an error is an answer too
		ask(t.Context(), "l4")
	}
	if f.asked["l4"] != 2 {
		t.Errorf("asked %v, want l4 twice", f.asked)
	}
	now = now.Add(queueAge)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	ask(ended, "l4")
	ask(t.Context(), "l4")
	if f.asked["l4"] != 4 {
		t.Errorf("asked %v: a request that ended must not answer for others", f.asked)
	}
	for i := range 3 * maxQueueViews {
		ask(t.Context(), fmt.Sprint("m", i))
	}
	if len(q.views) > maxQueueViews {
		t.Errorf("%d models are kept", len(q.views))
	}
}
