package device

import (
	"context"
	"time"
)

// LockNamed takes a machine-wide lock that is not a device's, for a resource that exists
// only once, such as a GPU's counters. It waits as Acquire does.
func LockNamed(ctx context.Context, what, name string, opts LockOptions) (release func(), err error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	l, _, err := acquireLock(ctx, what, name, opts)
	if err != nil {
		return nil, err
	}
	return l.release, nil
}
