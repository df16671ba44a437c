package agent

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// once is the only lease that an agent carries out. All its methods allow nil, for an agent without such a limit.
type once struct {
	lease string
	taken atomic.Bool
	done  atomic.Bool
	stop  context.CancelFunc
}

// admits reports whether the agent may take a lease, and remembers that it was taken.
func (o *once) admits(lease string) bool {
	return o == nil || lease == o.lease && !o.taken.Swap(true)
}

// ended stops the agent if this was its lease.
func (o *once) ended(lease string) {
	if o != nil && lease == o.lease {
		o.done.Store(true)
		o.stop()
	}
}

// Once waits for one lease, carries it out and returns. A lease that an earlier process of the same folder left is
// finished first, and counts if it is this one.
func Once(ctx context.Context, o Options, lease string, wait time.Duration) error {
	run, stop := context.WithCancel(ctx)
	defer stop()
	only := &once{lease: lease, stop: stop}
	late := time.AfterFunc(wait, func() {
		if !only.taken.Load() {
			stop()
		}
	})
	defer late.Stop()
	if err := serve(run, o, only); err != nil {
		return err
	}
	switch {
	case only.done.Load():
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return fmt.Errorf("lease %.200q did not come within %v: is it still in the queue (pawl fleet queue), and is this device of its model?", lease, wait)
}
