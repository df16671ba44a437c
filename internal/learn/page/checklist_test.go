package page_test

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/learn/page"
)

func looking(s page.State) func(context.Context) (page.State, error) {
	return func(context.Context) (page.State, error) { return s, nil }
}

// get asks as a browser on this machine does, or with other headers.
func get(t testing.TB, h http.Handler, path string, headers map[string]string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:4711"+path, nil)
	for k, v := range headers {
		if k == "Host" {
			r.Host = v
		} else {
			r.Header.Set(k, v)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestChecklistGolden(t *testing.T) {
	h := page.Checklist{Look: looking(stopped(t)), Version: func() string { return "" }}.Handler()
	golden(t, "checklist.html.txt", []byte(outline(t, get(t, h, "/", nil).Body.String())))
	h = page.Checklist{Look: looking(noSession())}.Handler()
	if out := get(t, h, "/", nil).Body.String(); !strings.Contains(out, "pawl session start") || strings.Contains(out, `class="timeline"`) {
		t.Errorf("without a session:\n%s", outline(t, out))
	}
}

// Who is not this machine, and every other site's page, is sent away.
func TestChecklistGuard(t *testing.T) {
	h := page.Checklist{Look: looking(stopped(t)), Version: func() string { return "" }}.Handler()
	for _, test := range []struct {
		name    string
		headers map[string]string
		want    int
	}{
		{"a person", map[string]string{"Sec-Fetch-Site": "none"}, 200},
		{"a program", nil, 200},
		{"localhost", map[string]string{"Host": "localhost:4711"}, 200},
		{"version 6", map[string]string{"Host": "[::1]:4711"}, 200},
		{"its own page", map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1:4711"}, 200},
		{"a link from a chat", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 200},
		{"a name that leads here", map[string]string{"Host": "evil.example:4711"}, 421},
		{"a name that begins like it", map[string]string{"Host": "127.0.0.1.evil.example"}, 421},
		{"another address", map[string]string{"Host": "192.168.0.7:4711"}, 421},
		{"no host", map[string]string{"Host": ""}, 421},
		{"another site", map[string]string{"Origin": "https://evil.example"}, 403},
		{"another port", map[string]string{"Origin": "http://127.0.0.1:80"}, 403},
		{"another scheme", map[string]string{"Origin": "https://127.0.0.1:4711"}, 403},
		{"a sandbox", map[string]string{"Origin": "null"}, 403},
		{"a script elsewhere", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403},
		{"a frame elsewhere", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, 403},
		{"the next port over", map[string]string{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, 403},
	} {
		for _, path := range []string{"/", "/icon.svg"} {
			w := get(t, h, path, test.headers)
			if w.Code != test.want {
				t.Errorf("%s: %s answers %d, want %d", test.name, path, w.Code, test.want)
			}
			if w.Code != 200 && strings.Contains(w.Body.String(), "Attention") {
				t.Errorf("%s: the refusal tells of the session", test.name)
			}
		}
	}
}

// The page only shows: it takes nothing, sets nothing, loads nothing from elsewhere, and
// cannot be framed.
func TestChecklistOnlyShows(t *testing.T) {
	h := page.Checklist{Look: looking(stopped(t)), Version: func() string { return "" }}.Handler()
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:1/", nil))
		if w.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s answers %d", method, w.Code)
		}
	}
	for _, path := range []string{"/no", "/../x", "/events/x"} {
		if w := get(t, h, path, nil); w.Code == 200 {
			t.Errorf("%s answers %d", path, w.Code)
		}
	}
	w := get(t, h, "/", nil)
	policy := w.Header().Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy %q lacks %q", policy, want)
		}
	}
	if strings.Contains(policy, "unsafe") || w.Header().Get("Set-Cookie") != "" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("headers: %v", w.Header())
	}
}

func TestChecklistTellsWhatItCannotRead(t *testing.T) {
	h := page.Checklist{Look: func(context.Context) (page.State, error) {
		return page.State{Set: fewGates}, errors.New("read journal: <b>no</b>")
	}}.Handler()
	w := get(t, h, "/", nil)
	if w.Code != 500 || !strings.Contains(w.Body.String(), "&lt;b&gt;no") {
		t.Errorf("%d %s", w.Code, outline(t, w.Body.String()))
	}
}

// An open page is told at once of what is new, once for each, and of what passes with time.
func TestChecklistEvents(t *testing.T) {
	var version atomic.Value
	version.Store("one")
	server := httptest.NewServer(page.Checklist{
		Look: looking(noSession()), Version: func() string { return version.Load().(string) }, Every: time.Millisecond, Again: time.Hour,
	}.Handler())
	t.Cleanup(server.Close) // after the readers went away
	lines := listen(t, server.URL)
	want := func(line string) {
		t.Helper()
		for got := range lines {
			if strings.HasPrefix(got, "data:") {
				if got != line {
					t.Fatalf("got %q, want %q", got, line)
				}
				return
			}
		}
		t.Fatal("the stream ended")
	}
	want("data: 1") // for who loaded the page before something happened
	version.Store("two")
	want("data: 2")
	version.Store("")
	want("data: 3")
}

func TestChecklistLooksAgain(t *testing.T) {
	server := httptest.NewServer(page.Checklist{
		Look: looking(noSession()), Version: func() string { return "same" }, Every: time.Hour, Again: time.Millisecond,
	}.Handler())
	t.Cleanup(server.Close) // after the readers went away
	n := 0
	for line := range listen(t, server.URL) {
		if strings.HasPrefix(line, "data:") {
			if n++; n == 3 {
				return
			}
		}
	}
	t.Fatalf("%d events", n)
}

// Many pages cannot hold the machine up.
func TestChecklistReaders(t *testing.T) {
	server := httptest.NewServer(page.Checklist{Look: looking(noSession()), Version: func() string { return "" }}.Handler())
	t.Cleanup(server.Close) // after the readers went away
	for range 16 {
		<-listen(t, server.URL)
	}
	answer, err := http.Get(server.URL + "/events")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("page 17 gets %d", answer.StatusCode)
	}
}

// listen gives the lines of the event stream until the test ends.
func listen(t *testing.T, url string) <-chan string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r) //nolint:bodyclose // read until the test ends
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatal(answer.Status, answer.Header)
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		defer answer.Body.Close()
		scan := bufio.NewScanner(answer.Body)
		for scan.Scan() {
			select {
			case lines <- scan.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}
