package server

import (
	"context"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/internal/fleet/placer"
)

// queueAge is how old the answer of a placer may be. Clients ask every few seconds for as long as they wait, and each
// answer of a placer costs a workflow task.
const queueAge = time.Second

// maxQueueViews bounds the memory for models, which clients name.
const maxQueueViews = 1000

// queueViews asks each placer at most once in queueAge, for all requests together.
type queueViews struct {
	Fleet
	now func() time.Time

	mu    sync.Mutex
	views map[string]*queueView
}

// queueView is the latest answer of one placer. Its lock is held while the placer is asked.
type queueView struct {
	mu   sync.Mutex
	at   time.Time
	view placer.View
	err  error
}

// Queue returns the devices, leases and queue of a model, as they were at most queueAge ago.
func (q *queueViews) Queue(ctx context.Context, model string) (placer.View, error) {
	v := q.of(model)
	v.mu.Lock()
	defer v.mu.Unlock()
	if now := q.now(); v.at.IsZero() || now.Sub(v.at) >= queueAge {
		v.view, v.err = q.Fleet.Queue(ctx, model)
		v.at = q.now()
		if ctx.Err() != nil { // the caller's end says nothing to others
			v.at = time.Time{}
		}
	}
	return v.view, v.err
}

func (q *queueViews) of(model string) *queueView {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.views[model] == nil {
		if len(q.views) >= maxQueueViews || q.views == nil {
			q.views = map[string]*queueView{}
		}
		q.views[model] = &queueView{}
	}
	return q.views[model]
}
