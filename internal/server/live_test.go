package server

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// liveStory is a whole run in a few events.
func liveStory() []client.LiveEvent {
	list := []client.LiveEvent{
		{Kind: client.LiveStep, Text: "building candidate"},
		{
			Kind: client.LiveStarted, Run: runName(1), Suite: secretText, Device: "NVIDIA L4", Sides: []string{measure.Candidate, measure.Base}, Cases: 1, Planned: []int{4, 8},
			Now: client.LiveDevice{TemperatureC: 61, SMClockMHz: 1500, Reasons: []string{"power cap"}},
		},
		{Kind: client.LiveCase, Side: measure.Base, Case: secretText + "/D64", Unit: "ns", Round: 1, Median: 1000, Value: 1000},
		{Kind: client.LiveCase, Side: measure.Candidate, Case: secretText + "/D64", Unit: "ns", Round: 1, Median: 1100, Value: 1100},
		{Kind: client.LiveRound, Round: 1, Of: 4},
		{Kind: client.LiveLook, Round: 4, Undecided: 1},
		{Kind: client.LiveVerdict, Verdict: ratchet.Regression, Text: "1 of 1 cases is slower."},
		{Kind: client.LiveEnded, State: "complete"},
	}
	for i := range list {
		list[i].N, list[i].At = int64(i+1), began
	}
	return list
}

func liveBody(events ...client.LiveEvent) map[string]any {
	return map[string]any{"schema": client.SchemaLive, "events": events}
}

func (w *world) tell(slug, key, name string, events ...client.LiveEvent) answered {
	w.t.Helper()
	return w.do(asked{method: "POST", path: "/v1/projects/" + slug + "/live/" + name, key: key, json: liveBody(events...)})
}

// opened is a stream that goes on.
func (w *world) opened(path, last string) (*http.Response, *bufio.Scanner) {
	w.t.Helper()
	q := asked{path: path}
	if last != "" {
		q.header = map[string]string{"Last-Event-ID": last}
	}
	resp, err := w.http.Do(w.request(q))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp, bufio.NewScanner(resp.Body)
}

// following reads up to the next event, and gives its number and kind.
func following(lines *bufio.Scanner) string {
	id := ""
	for lines.Scan() {
		switch name, value, _ := strings.Cut(lines.Text(), ": "); name {
		case "id":
			id = value
		case "event":
			return id + " " + value
		}
	}
	return "over"
}

func TestLiveRunsAreSeenAsTheyGo(t *testing.T) {
	w := newWorld(t)
	key := w.key(w.project("kernels", true), store.ScopeReport)
	name, story := runName(7), liveStory()
	events := "/v1/projects/kernels/live/" + name + "/events"
	w.want(http.StatusNotFound, asked{path: events})
	if a := w.tell("kernels", key, name, story[:5]...); a.StatusCode != http.StatusOK || !strings.Contains(string(a.body), `"heard":5,"url":"https://pawl.example/p/kernels/live/`+name) {
		t.Fatalf("%d %s", a.StatusCode, a.body)
	}
	resp, lines := w.opened(events, "3") //nolint:bodyclose // opened closes it at the end of the test
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" || following(lines) != "4 case" || following(lines) != "5 round" {
		t.Errorf("%d %v", resp.StatusCode, resp.Header)
	}
	page := string(w.want(200, asked{path: "/p/kernels/live/" + name}).body)
	for _, want := range []string{"1 of 4 rounds done", "10.0 %", "1500 MHz (power cap)", secretText + "/D64"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q:\n%s", want, page)
		}
	}
	if runs := string(w.want(200, asked{path: "/p/kernels/runs"}).body); !strings.Contains(runs, "/p/kernels/live/"+name) {
		t.Error("the list of runs does not lead to it")
	}
	w.tell("kernels", key, name, story[3:]...) // what is known is passed over; 6 to 8 are new
	for _, want := range []string{"6 looked", "7 verdict", "8 ended", "over"} {
		if got := following(lines); got != want {
			t.Errorf("%q came, want %q", got, want)
		}
	}
	w.want(http.StatusNoContent, asked{path: events, header: map[string]string{"Last-Event-ID": "8"}})
	if page := string(w.want(200, asked{path: "/p/kernels/live/" + name}).body); !strings.Contains(page, "was not sent, or not yet") || !strings.Contains(page, "1 of 1 cases is slower") {
		t.Errorf("of a run that is over:\n%s", page)
	}
	id := w.sent("kernels", key, example(1, 1)).Report
	if page := string(w.want(200, asked{path: "/p/kernels/live/" + name}).body); !strings.Contains(page, fmt.Sprintf(`href="/p/kernels/runs/%d"`, id)) {
		t.Error("nothing leads to the run that was sent")
	}
	var one client.LiveRun
	w.want(200, asked{path: "/v1/projects/kernels/live/" + name}).into(t, &one)
	if one.Last != 8 || one.Missed != 0 || one.Rows[0].Sides[measure.Candidate].Value != 1100 || one.State != "complete" {
		t.Errorf("%+v", one)
	}
}

// A server that goes takes its streams with it; so does a client that hangs up.
func TestStreamsEnd(t *testing.T) {
	w := newWorld(t)
	key := w.key(w.project("kernels", true), store.ScopeReport)
	w.tell("kernels", key, runName(7), liveStory()[:1]...)
	path := "/v1/projects/kernels/live/" + runName(7) + "/events"
	gone, lines := w.opened(path, "")
	following(lines)
	_ = gone.Body.Close()
	_, lines = w.opened(path, "") //nolint:bodyclose // likewise
	following(lines)
	w.server.Drain()
	w.server.Drain()
	if got := following(lines); got != "over" {
		t.Errorf("after the server went: %s", got)
	}
	await.True(t, "both places to be given back", func() bool {
		w.server.lives.mu.Lock()
		defer w.server.lives.mu.Unlock()
		return w.server.lives.open == 0
	})
}

func TestStreamsAreFew(t *testing.T) {
	l := newLives(time.Now)
	for range 3 {
		l.enter(1, 3, 5)
	}
	if l.enter(1, 3, 5) || !l.enter(2, 3, 5) || !l.enter(3, 3, 5) || l.enter(4, 3, 5) {
		t.Error("places of a project, and of all, are not counted")
	}
	l.leave(1)
	if !l.enter(1, 3, 5) {
		t.Error("a place was not given back")
	}
	w := newWorld(t)
	key := w.key(w.project("kernels", true), store.ScopeReport)
	w.tell("kernels", key, runName(7), liveStory()[:1]...)
	for w.server.lives.enter(99, streamsInAll, streamsInAll) {
	}
	if a := w.want(http.StatusServiceUnavailable, asked{path: "/v1/projects/kernels/live/" + runName(7) + "/events"}); a.Header.Get("Retry-After") == "" {
		t.Errorf("%v", a.Header)
	}
}

// What runs tell is bounded: how many, how much of each, and for how long.
func TestLiveRunsAreForgotten(t *testing.T) {
	at := &clock{at: began}
	l := newLives(at.now)
	event := func(n int) client.LiveEvent {
		return client.LiveEvent{N: int64(n), At: began, Kind: client.LiveCase, Case: fmt.Sprint("case ", n), Side: "base", Text: strings.Repeat("x", 300)}
	}
	for n := range 3 * liveEventsKept {
		l.addEvents(1, "a", "key", false, []client.LiveEvent{event(2*n + 1)})
	}
	run := l.projects[1]["a"]
	if len(run.events) > liveEventsKept || run.bytes > liveBytesKept || len(run.picture.Rows) != liveRows || !run.picture.More || run.picture.Missed != 3*liveEventsKept-1 {
		t.Errorf("%d events of %d bytes, %d rows, %d missed", len(run.events), run.bytes, len(run.picture.Rows), run.picture.Missed)
	}
	if _, ok := l.addEvents(1, "a", "job of a fork", true, []client.LiveEvent{event(99_999)}); ok {
		t.Error("a stranger adds to a run of somebody else")
	}
	for n := range 2 * liveForksAProject {
		at.move(time.Millisecond)
		l.addEvents(1, fmt.Sprint("fork ", n), "job", true, []client.LiveEvent{event(1)})
	}
	if n := len(l.projects[1]); n != liveForksAProject+1 || l.projects[1]["a"] == nil {
		t.Errorf("%d runs, most of forks", n)
	}
	for n := range 2 * liveRunsInAll { // a tenth of all in each of ten projects; who has most gives way
		at.move(time.Millisecond)
		l.addEvents(int64(2+n%10), fmt.Sprint(n), "key", false, []client.LiveEvent{event(1)})
	}
	if l.runs != liveRunsInAll || len(l.projects[1]) == 0 {
		t.Errorf("%d runs in all, %d of the first project", l.runs, len(l.projects[1]))
	}
	_, more, _, _ := l.after(3, l.list(3)[0].Live, 1)
	at.move(liveKept + time.Second)
	if l.list(1); l.runs != 0 || len(l.projects) != 0 {
		t.Errorf("%d runs are there after all were silent", l.runs)
	}
	<-more // who waited for more is told
}

func TestWhoTellsOfLiveRuns(t *testing.T) {
	w := newWorld(t)
	p := w.project("kernels", false)
	w.rule(p, ".github/workflows/pawl-ratchet.yml", "push")
	body := mustJSON(t, liveBody(liveStory()[0]))
	path := "/v1/projects/kernels/live/" + runName(7)
	if a := w.do(asked{method: "POST", path: path, key: w.token("kernels", body, nil), body: body}); a.StatusCode != http.StatusOK {
		t.Errorf("a job: %d %s", a.StatusCode, a.body)
	}
	if a := w.do(asked{method: "POST", path: path, key: w.token("kernels", []byte("other"), map[string]any{"jti": "2"}), body: body}); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("a token for other bytes: %d %s", a.StatusCode, a.body)
	}
	if a := w.tell("kernels", w.key(p, store.ScopeReport), runName(7), liveStory()[0]); a.StatusCode != http.StatusConflict {
		t.Errorf("a key, of a job's run: %d %s", a.StatusCode, a.body)
	}
	key := w.key(p, store.ScopeReport)
	for _, bad := range []string{"", "{}", `{"schema":"pawl.live/v1","events":[{"n":0}]}`, strings.Repeat(" ", client.MaxLiveBytes+1)} {
		if a := w.do(asked{method: "POST", path: path, key: key, body: []byte(bad)}); a.StatusCode < 400 || a.StatusCode > 499 {
			t.Errorf("%.50q: %d", bad, a.StatusCode)
		}
	}
	w.want(http.StatusNotFound, asked{method: "POST", path: "/v1/projects/kernels/live/x", key: key, json: liveBody(liveStory()[0])})
}
