package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"time"
)

// Variables, so that tests on slow machines can change them.
var (
	liveRequestTimeout = 5 * time.Second // timeout of one request
	liveFlushTimeout   = 2 * time.Second // timeout for the remaining events when the run is over
)

// maxLiveTimeouts is the number of consecutive timeouts after which a LiveReporter stops sending.
const maxLiveTimeouts = 3

// LiveReporter sends the events of a run in progress to a server. It is best effort: it never delays the run, and
// drops events that cannot be sent in time.
type LiveReporter struct {
	client  Client
	name    string
	say     func(string)
	every   time.Duration
	queue   chan LiveEvent
	closing context.CancelFunc
	over    context.Context // ends when the run is over, which is not when a request is
	done    chan struct{}

	n int64 // number of the last event; used only by Send
}

// Live starts sending events of a run under a name, a ULID. It makes at most one request per interval
// every. Only the values of the context are used, so that an interrupted run can still report its end. Send
// must be called from one goroutine at a time.
func (c *Client) Live(ctx context.Context, name string, every time.Duration) *LiveReporter {
	l := &LiveReporter{client: *c, name: name, every: every, queue: make(chan LiveEvent, MaxLiveEvents), done: make(chan struct{})}
	l.client.Patience, l.client.Say = time.Nanosecond, nil // a single attempt: more events will follow
	if l.say = c.Say; l.say == nil {
		l.say = func(string) {}
	}
	ctx = context.WithoutCancel(ctx)
	l.over, l.closing = context.WithCancel(ctx)
	go l.run(ctx)
	return l
}

// Send queues an event, or drops it if the queue is full. It cuts texts to the lengths that a server accepts.
func (l *LiveReporter) Send(e LiveEvent) {
	l.n++
	e.N, e.At = l.n, l.client.now().UTC()
	e.fit()
	select {
	case l.queue <- e:
	default: // the gap in the numbers shows the loss
	}
}

// Close sends the remaining events. It waits at most three seconds.
func (l *LiveReporter) Close() {
	l.closing()
	select {
	case <-l.done:
	case <-time.After(liveFlushTimeout + time.Second): // the request times out first
	}
}

// run sends the queued events, then pauses before the next request.
func (l *LiveReporter) run(ctx context.Context) {
	defer close(l.done)
	var pending []LiveEvent
	told, late := false, 0
	for last := false; !last; {
		select {
		case e := <-l.queue:
			pending = append(pending, e)
		case <-l.over.Done():
			last = true
		}
		pending = l.gather(pending)
		if len(pending) == 0 {
			continue
		}
		limit := liveRequestTimeout
		if last {
			limit = liveFlushTimeout
		}
		heard, err := l.send(ctx, limit, pending)
		switch {
		case err == nil:
			pending, late = pending[:0], 0
			if !told && heard.URL != "" {
				told = true
				l.say("live: " + line(heard.URL, 500))
			}
		case errors.Is(err, context.DeadlineExceeded):
			if late++; late == maxLiveTimeouts {
				l.say("live updates of this run stopped: the server does not respond")
				return
			}
		case !errors.Is(err, ErrUnavailable): // the server would reject every event
			l.say("live updates of this run stopped: " + line(err.Error(), 500))
			return
		}
		if !last {
			_ = l.client.sleep(l.over, l.every) // ends early when the run is over
		}
	}
}

// gather takes the queued events, up to the limit of one request.
func (l *LiveReporter) gather(pending []LiveEvent) []LiveEvent {
	for len(pending) < MaxLiveEvents {
		select {
		case e := <-l.queue:
			pending = append(pending, e)
		default:
			return pending
		}
	}
	return pending
}

func (l *LiveReporter) send(ctx context.Context, limit time.Duration, events []LiveEvent) (LiveAck, error) {
	body, err := json.Marshal(liveBatch{SchemaLive, events})
	if err != nil {
		return LiveAck{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var heard LiveAck
	err = l.client.send(ctx, request{
		method: http.MethodPost, path: "live/" + l.name, digest: digestText(body), size: int64(len(body)), media: "application/json",
		body: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil },
	}, &heard)
	return heard, err
}

// fit cuts texts, lists and numbers to what DecodeLive accepts.
func (e *LiveEvent) fit() {
	for _, t := range e.texts() {
		*t.text = line(*t.text, t.most)
	}
	e.Sides, e.Planned = e.Sides[:min(len(e.Sides), maxSides)], e.Planned[:min(len(e.Planned), maxLooks)]
	e.Now.Reasons = e.Now.Reasons[:min(len(e.Now.Reasons), maxSides)]
	for _, v := range []*float64{&e.Median, &e.Value, &e.Now.TemperatureC, &e.Now.SMClockMHz, &e.Now.PowerW} {
		if !(math.Abs(*v) <= math.MaxFloat32) {
			*v = 0
		}
	}
}
