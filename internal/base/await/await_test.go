package await_test

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/await"
)

// recorder keeps the message of Fatalf and ends its goroutine, as a test does.
type recorder struct {
	testing.TB
	message string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// failure returns what a wait fails with, and how long it took.
func failure(wait func(*recorder)) (message string, took time.Duration) {
	r, began, done := &recorder{}, time.Now(), make(chan struct{})
	go func() {
		defer close(done)
		wait(r)
	}()
	<-done
	return r.message, time.Since(began)
}

func TestTrue_ReturnsWhenItHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		message, took := failure(func(t *recorder) {
			await.True(t, "a minute to pass", func() bool { return time.Since(began) >= time.Minute })
		})
		if message != "" || took < time.Minute || took > time.Minute+time.Second {
			t.Errorf("%q after %v", message, took)
		}
	})
}

func TestTrue_FailsAfterTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		message, took := failure(func(t *recorder) { await.True(t, "the impossible", func() bool { return false }) })
		if message != "waited 5m0s for the impossible" || took > await.Limit+time.Second {
			t.Errorf("%q after %v", message, took)
		}
		message, took = failure(func(t *recorder) { await.TrueWithin(t, time.Hour, "more", func() bool { return false }) })
		if message != "waited 1h0m0s for more" || took < time.Hour {
			t.Errorf("%q after %v", message, took)
		}
	})
}

func TestTrue_AsksOnceMoreAfterTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		message, _ := failure(func(t *recorder) {
			await.True(t, "a process that was stopped", func() bool {
				asked++
				time.Sleep(time.Hour)
				return asked == 2
			})
		})
		if message != "" || asked != 2 {
			t.Errorf("%q after it was asked %d times", message, asked)
		}
	})
}

func TestReceive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := make(chan int)
		go func() {
			time.Sleep(time.Minute)
			c <- 7
			close(c)
		}()
		if got := await.Receive(t, "a number", c); got != 7 {
			t.Errorf("received %d", got)
		}
		if got := await.Receive(t, "the end", c); got != 0 {
			t.Errorf("received %d from a closed channel", got)
		}
		message, took := failure(func(t *recorder) { await.Receive(t, "a word", make(chan string)) })
		if message != "waited 5m0s for a word" || took != await.Limit {
			t.Errorf("%q after %v", message, took)
		}
	})
}
