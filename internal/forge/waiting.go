package forge

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Waiting is how a client waits for limits, failures and other writers. Zero fields take their defaults.
type Waiting struct {
	HTTP   *http.Client                                     // nil for the default; its timeout is per attempt
	Sleep  func(ctx context.Context, d time.Duration) error // nil for the real one
	Now    func() time.Time                                 // nil for the real one
	Random func() float64                                   // in [0,1), for jitter between writers; nil for the real one
	Log    func(format string, args ...any)                 // called for every wait; nil for silence

	Patience time.Duration // max total wait of one call; 0 for 15 minutes
	Settle   time.Duration // how long a report must stay unchanged to count as settled; 0 for 3 seconds
}

// Limits of a call to a forge.
const (
	AttemptTime = 30 * time.Second // per attempt, if the caller's HTTP client has no timeout
	MaxWaits    = 100              // per call
	bodyLimit   = 32 << 20
	FirstPause  = time.Second // after a failure; doubles
	longPause   = 30 * time.Second
)

// SetDefaults sets the fields that are zero.
func (w *Waiting) SetDefaults() {
	if w.HTTP == nil {
		w.HTTP = &http.Client{}
	}
	if w.Sleep == nil {
		w.Sleep = sleep
	}
	if w.Now == nil {
		w.Now = time.Now
	}
	if w.Random == nil {
		w.Random = rand.Float64
	}
	if w.Log == nil {
		w.Log = func(string, ...any) {}
	}
	if w.Patience == 0 {
		w.Patience = 15 * time.Minute
	}
	if w.Settle == 0 {
		w.Settle = 3 * time.Second
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Jittered returns a wait with up to a quarter more, so that writers do not meet again.
func (w *Waiting) Jittered(wait time.Duration) time.Duration {
	return wait + time.Duration(w.Random()*float64(wait)/4)
}

// Pause returns how long to wait after the nth failure in a row.
func Pause(n int) time.Duration { return min(FirstPause<<min(n-1, 10), longPause) }

// RetryAfter returns the wait that a response asks for, in seconds or as a date.
func RetryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	text := h.Get("Retry-After")
	if text == "" {
		return 0, false
	}
	if s, err := strconv.ParseInt(text, 10, 32); err == nil && s >= 0 {
		return time.Duration(s) * time.Second, true
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0), true
	}
	return 0, false
}

// ReadBody reads the whole body of a response.
func ReadBody(body io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(body, bodyLimit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the response ended early, after %d bytes: %w", len(text), err)
	case len(text) > bodyLimit:
		return nil, fmt.Errorf("the response is longer than %d bytes", bodyLimit)
	}
	return text, nil
}

// OneLine keeps the text of a server on one line of a message.
func OneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "..."
	}
	return s
}
