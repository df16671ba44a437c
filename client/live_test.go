package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
)

// listener is a server that hears of live runs, with a client whose clock it holds: between
// requests the client waits until it is let go on.
type listener struct {
	*client.Client
	front  *httptest.Server
	next   chan struct{} // ends a pause of the sender
	paused chan struct{}

	mu     sync.Mutex
	status int // what is answered; 0 for well
	bodies [][]byte
	said   []string
}

// liveLimits lets each request take so long, whatever the machine does meanwhile.
func liveLimits(t *testing.T, each time.Duration) {
	t.Helper()
	try, goodbye := client.LiveLimits(each, time.Minute)
	t.Cleanup(func() { client.LiveLimits(try, goodbye) })
}

func newListener(t *testing.T) *listener {
	t.Helper()
	liveLimits(t, time.Minute)
	l := &listener{next: make(chan struct{}), paused: make(chan struct{}, 1000)}
	l.front = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.bodies = append(l.bodies, body)
		if l.status != 0 {
			w.WriteHeader(l.status)
			return
		}
		_, _ = io.WriteString(w, `{"heard":1,"url":"https://pawl.example/p/kernels/live/X"}`)
	}))
	t.Cleanup(l.front.Close)
	l.Client = &client.Client{
		URL: l.front.URL, Project: "kernels", Now: func() time.Time { return now },
		Sleep: func(ctx context.Context, _ time.Duration) error {
			l.paused <- struct{}{}
			select {
			case <-l.next:
			case <-ctx.Done():
			}
			return ctx.Err()
		},
		Say: func(text string) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.said = append(l.said, text)
		},
	}
	return l
}

// heard are the numbers of the events in each request, which a server would take.
func (l *listener) heard(t *testing.T) (numbers [][]int64) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, body := range l.bodies {
		events, err := client.DecodeLive(body, now)
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		var list []int64
		for _, e := range events {
			list = append(list, e.N)
		}
		numbers = append(numbers, list)
	}
	return numbers
}

const liveRun = "01JC0000000000000000000000"

func TestLiveGathersBetweenRequests(t *testing.T) {
	l := newListener(t)
	live := l.Live(t.Context(), liveRun, time.Second)
	live.Send(client.LiveEvent{Kind: client.LiveStep, Text: "building"})
	<-l.paused
	for range 1000 { // a server that is left alone: what has no room is dropped, and nobody waits
		live.Send(client.LiveEvent{Kind: client.LiveCase, Case: "a\nb", Side: "base", Text: strings.Repeat("é", 400)})
	}
	l.next <- struct{}{}
	<-l.paused
	live.Send(client.LiveEvent{Kind: client.LiveEnded})
	live.Close()
	got := l.heard(t)
	if len(got) != 3 || len(got[0]) != 1 || len(got[1]) != client.MaxLiveEvents || len(got[2]) != 1 || got[2][0] != 1002 {
		t.Errorf("the server heard %v", got)
	}
	if len(l.said) != 1 || l.said[0] != "live: https://pawl.example/p/kernels/live/X" {
		t.Errorf("said %q", l.said)
	}
}

// A server that cannot answer is told again; one that will not is left alone.
func TestLiveAfterARefusal(t *testing.T) {
	l := newListener(t)
	l.status = http.StatusServiceUnavailable
	live := l.Live(t.Context(), liveRun, time.Second)
	live.Send(client.LiveEvent{Kind: client.LiveStep})
	<-l.paused
	l.mu.Lock()
	l.status = 0
	l.mu.Unlock()
	live.Close()
	if got := fmt.Sprint(l.heard(t)); got != "[[1] [1]]" {
		t.Errorf("the server heard %v", got)
	}

	l = newListener(t)
	l.status = http.StatusForbidden
	live = l.Live(t.Context(), liveRun, time.Second)
	for range 3 {
		live.Send(client.LiveEvent{Kind: client.LiveStep})
	}
	live.Close()
	if got := l.heard(t); len(got) != 1 || len(l.said) != 1 || !strings.Contains(l.said[0], "403") {
		t.Errorf("the server heard %v, a person %q", got, l.said)
	}
}

// A server that answers too late once is told again.
func TestLiveAfterALateAnswer(t *testing.T) {
	l := newListener(t)
	liveLimits(t, 50*time.Millisecond)
	l.mu.Lock() // the server cannot answer
	live := l.Live(t.Context(), liveRun, time.Second)
	live.Send(client.LiveEvent{Kind: client.LiveStep})
	<-l.paused
	l.mu.Unlock()
	live.Close()
	got := l.heard(t)
	if n := len(got); n == 0 || len(l.said) != 1 || !strings.HasPrefix(l.said[0], "live: ") {
		t.Errorf("the server heard %v, a person %q", got, l.said)
	}
}

func TestLiveEventsThatAreRefused(t *testing.T) {
	good := client.LiveEvent{N: 1, At: now, Kind: client.LiveStep}
	body := func(change func(e *client.LiveEvent)) string {
		e := good
		change(&e)
		text, err := json.Marshal(map[string]any{"schema": client.SchemaLive, "events": []client.LiveEvent{e}})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if _, err := client.DecodeLive([]byte(body(func(*client.LiveEvent) {})), now); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"no number":            body(func(e *client.LiveEvent) { e.N = 0 }),
		"another kind":         body(func(e *client.LiveEvent) { e.Kind = "alert" }),
		"a case of none":       body(func(e *client.LiveEvent) { e.Kind = client.LiveCase }),
		"the future":           body(func(e *client.LiveEvent) { e.At = now.AddDate(1, 0, 0) }),
		"a long text":          body(func(e *client.LiveEvent) { e.Text = strings.Repeat("a", 301) }),
		"control":              body(func(e *client.LiveEvent) { e.Case = "a\x1b[2J" }),
		"another verdict":      body(func(e *client.LiveEvent) { e.Verdict = "great" }),
		"many sides":           body(func(e *client.LiveEvent) { e.Sides = make([]string, 9) }),
		"must not be negative": body(func(e *client.LiveEvent) { e.Of = -1 }),
		"another schema":       strings.Replace(body(func(*client.LiveEvent) {}), "live/v1", "live/v2", 1),
		"no events":            `{"schema":"pawl.live/v1","events":[]}`,
		"twice":                `{"schema":"pawl.live/v1","schema":"pawl.live/v1","events":[]}`,
		"unknown":              strings.Replace(body(func(*client.LiveEvent) {}), `"n"`, `"m"`, 1),
		"too large":            strings.Repeat(" ", client.MaxLiveBytes+1),
	} {
		if _, err := client.DecodeLive([]byte(text), now); err == nil {
			t.Errorf("%s was taken: %.200s", name, text)
		}
	}
}

func FuzzDecodeLive(f *testing.F) {
	f.Add([]byte(`{"schema":"pawl.live/v1","events":[{"n":1,"at":"2026-11-15T10:00:00Z","kind":"case","case":"a","side":"base","value":1.5}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		events, err := client.DecodeLive(body, now)
		if err == nil && (len(events) == 0 || len(events) > client.MaxLiveEvents) {
			t.Errorf("%d events", len(events))
		}
	})
}
