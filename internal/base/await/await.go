// Package await waits in tests for another process, a file, a socket or a database. Every
// wait has a deadline and says what it waited for. Inside one process, use testing/synctest
// instead: it needs no real time. Only tests may import this package.
package await

import (
	"testing"
	"time"
)

// Limit is how long a wait may take. It is far more than a busy machine needs, because a
// deadline that is not reached costs nothing.
const Limit = 5 * time.Minute

// pause is the time between two checks: short at first, longer the longer the wait has taken, and longer than a
// check takes, which may start a process or ask a database.
func pause(waited, check time.Duration) time.Duration {
	return min(max(10*time.Millisecond, waited/20, 2*check), 200*time.Millisecond)
}

// True returns as soon as holds returns true. It ends the test if that takes longer than
// Limit: "waited 5m0s for the lock to be free".
func True(t testing.TB, what string, holds func() bool) {
	t.Helper()
	TrueWithin(t, Limit, what, holds)
}

// TrueWithin is True with a different limit. It calls holds once more after the limit, so
// that a test that was not scheduled in time does not fail.
func TrueWithin(t testing.TB, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	for began := time.Now(); ; {
		waited := time.Since(began)
		if holds() {
			return
		}
		if waited > limit {
			t.Fatalf("waited %v for %s", limit, what)
		}
		time.Sleep(pause(waited, time.Since(began)-waited))
	}
}

// Receive returns the next value of c, or the zero value once c is closed. It ends the
// test if that takes longer than Limit.
func Receive[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	return ReceiveWithin(t, Limit, what, c)
}

// ReceiveWithin is Receive with a different limit.
func ReceiveWithin[T any](t testing.TB, limit time.Duration, what string, c <-chan T) T {
	t.Helper()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	var v T
	select {
	case v = <-c:
	case <-timer.C:
		select {
		case v = <-c:
		default:
			t.Fatalf("waited %v for %s", limit, what)
		}
	}
	return v
}
