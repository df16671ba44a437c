package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/client/clienttest"
)

// sender is a client with a clock of its own, which goes on only while it sleeps.
type sender struct {
	*client.Client
	server *clienttest.Server
	spool  client.Spool

	mu    sync.Mutex
	at    time.Time
	slept []time.Duration
	said  []string
}

func newSender(t *testing.T) *sender {
	t.Helper()
	s := &sender{server: clienttest.New("kernels", "secret"), at: now}
	t.Cleanup(s.server.Close)
	clock := func() time.Time {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.at
	}
	s.spool = client.Spool{Dir: filepath.Join(t.TempDir(), "spool"), Now: clock}
	s.Client = &client.Client{
		URL: s.server.URL, Project: "kernels", Agent: "pawl/test", Now: clock,
		Token: func(context.Context, string) (string, error) { return "secret", nil },
		Sleep: func(ctx context.Context, d time.Duration) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.at = s.at.Add(d)
			s.slept = append(s.slept, d)
			return ctx.Err()
		},
		Say: func(text string) { s.said = append(s.said, text) },
	}
	return s
}

func (s *sender) destination() client.Destination {
	return client.Destination{Server: s.URL, Project: s.Project}
}

// files are two blobs, one of them in a file.
func files(t *testing.T) []client.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "k.ncu-rep")
	if err := os.WriteFile(path, []byte("a profile"), 0o600); err != nil {
		t.Fatal(err)
	}
	return []client.File{
		{Blob: client.Blob{Digest: digestOf("a record"), Size: 8, Kind: client.BlobRecord, Name: "current.json.zst"}, Data: []byte("a record")},
		{Blob: client.Blob{Digest: digestOf("a profile"), Size: 9, Kind: client.BlobProfile, Name: "k.ncu-rep"}, Path: path},
	}
}

func (s *sender) add(t *testing.T) *client.Spooled {
	t.Helper()
	r, list := example(3), files(t)
	r.Blobs = []client.Blob{list[0].Blob, list[1].Blob}
	p, err := s.spool.Add(s.destination(), r, list)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPushSendsBlobsThenTheReport(t *testing.T) {
	s := newSender(t)
	p := s.add(t)
	receipt, err := s.Push(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if receipt.Run != p.Run || receipt.Points != 3 || receipt.Again {
		t.Errorf("receipt %+v", receipt)
	}
	a, b := "/v1/projects/kernels/blobs/"+digestOf("a record"), "/v1/projects/kernels/blobs/"+digestOf("a profile")
	want := []string{"HEAD " + a, "POST " + a, "HEAD " + b, "POST " + b, "POST /v1/projects/kernels/reports"}
	if diff := cmp.Diff(want, s.server.Calls()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := s.server.Reports()[p.Key]; !bytes.Equal(got, p.Body) {
		t.Error("what is kept is not what was spooled")
	}

	// The second time nothing is sent but the report, and the receipt is the same.
	again, err := s.Push(t.Context(), p)
	if err != nil || !again.Again || again.Report != receipt.Report {
		t.Errorf("again: %+v, %v", again, err)
	}
	if calls := s.server.Calls()[len(want):]; len(calls) != 3 || slices.ContainsFunc(calls, func(c string) bool { return strings.HasPrefix(c, "POST") && strings.Contains(c, "blobs") }) {
		t.Errorf("again: %v", calls)
	}
}

// Whatever answer is lost, after however much was done, the report is kept once.
func TestPushOutlivesLostAnswers(t *testing.T) {
	for lost := range 5 {
		s := newSender(t)
		var n atomic.Int64 // what is cut off is asked again on another connection
		s.server.CutAfter(func(*http.Request) bool { return n.Add(1) == int64(lost+1) })
		p := s.add(t)
		receipt, err := s.Push(t.Context(), p)
		if err != nil {
			t.Errorf("answer %d lost: %v", lost, err)
		}
		if len(s.server.Reports()) != 1 || receipt.Again != (lost == 4) {
			t.Errorf("answer %d lost: %d reports, %+v", lost, len(s.server.Reports()), receipt)
		}
		if len(s.slept) > 1 { // net/http asks by itself again what only asks
			t.Errorf("answer %d lost: waited %v", lost, s.slept)
		}
	}
}

func TestPushWaitsAsLongAsItIsTold(t *testing.T) {
	for name, tc := range map[string]struct {
		status int
		header string
		least  time.Duration
	}{
		"busy, in seconds": {http.StatusServiceUnavailable, "7", 7 * time.Second},
		"a full disk":      {http.StatusInsufficientStorage, "60", time.Minute},
		"busy, by date":    {http.StatusTooManyRequests, now.Add(90 * time.Second).Format(http.TimeFormat), 90 * time.Second},
		"a broken gateway": {http.StatusBadGateway, "", 250 * time.Millisecond},
		"nonsense":         {http.StatusInternalServerError, "soon", 250 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSender(t)
			var n atomic.Int64
			s.server.Before(func(w http.ResponseWriter, _ *http.Request) bool {
				if n.Add(1) > 1 {
					return false
				}
				w.Header().Set("Retry-After", tc.header)
				w.WriteHeader(tc.status)
				return true
			})
			if _, err := s.Push(t.Context(), s.add(t)); err != nil {
				t.Fatal(err)
			}
			if len(s.slept) != 1 || s.slept[0] < tc.least {
				t.Errorf("waited %v, want %v or more", s.slept, tc.least)
			}
		})
	}
}

func TestPushGivesUpInTheEnd(t *testing.T) {
	s := newSender(t)
	s.server.Before(func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	_, err := s.Push(t.Context(), s.add(t))
	if !errors.Is(err, client.ErrUnavailable) || !strings.Contains(err.Error(), "gave up after 5m0s") {
		t.Errorf("%v", err)
	}
	if total := s.at.Sub(now); total > 5*time.Minute || total < 4*time.Minute {
		t.Errorf("it waited %v in all", total)
	}
	for i, d := range s.slept {
		if d > 30*time.Second {
			t.Errorf("wait %d was %v", i, d)
		}
	}
	// A server that asks to wait an hour is not waited for.
	s = newSender(t)
	s.server.Before(func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Retry-After", "3600")
		clienttest.Refuse(w, http.StatusTooManyRequests, client.ProblemError{Detail: "the project has used what it may this month"})
		return true
	})
	_, err = s.Push(t.Context(), s.add(t))
	if !errors.Is(err, client.ErrUnavailable) || len(s.slept) != 0 || !strings.Contains(err.Error(), "the server asks to wait 1h0m0s") {
		t.Errorf("%v after %v", err, s.slept)
	}
}

// A refusal is final: it is told, and not tried again.
func TestPushTakesNoForAnAnswer(t *testing.T) {
	for _, status := range []int{400, 401, 403, 404, 409, 411, 413, 415, 422} {
		s := newSender(t)
		s.server.Before(func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodHead {
				return false
			}
			clienttest.Refuse(w, status, client.ProblemError{Detail: "because I say so"})
			return true
		})
		_, err := s.Push(t.Context(), s.add(t))
		problem, ok := errors.AsType[*client.ProblemError](err)
		if !ok || problem.Status != status || !strings.Contains(err.Error(), "because I say so") || errors.Is(err, client.ErrUnavailable) {
			t.Errorf("%d: %v", status, err)
		}
		if len(s.server.Calls()) != 2 || len(s.slept) != 0 {
			t.Errorf("%d: %v", status, s.server.Calls())
		}
	}
}

func TestPushOfAnotherBodyIsRefused(t *testing.T) {
	s := newSender(t)
	if _, err := s.Push(t.Context(), s.add(t)); err != nil {
		t.Fatal(err)
	}
	other := newSender(t)
	other.URL = s.server.URL
	r := example(4)
	r.Blobs = nil
	p, err := other.spool.Add(other.destination(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = other.Push(t.Context(), p)
	if problem, ok := errors.AsType[*client.ProblemError](err); !ok || problem.Status != http.StatusConflict {
		t.Errorf("%v", err)
	}
}

// A blob that was collected between its upload and the report is sent once more.
func TestPushSendsAgainWhatWasCollected(t *testing.T) {
	s := newSender(t)
	p := s.add(t)
	once := sync.OnceFunc(func() { s.server.DeleteBlob(digestOf("a record")) })
	s.server.Before(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/reports") {
			once()
		}
		return false
	})
	if _, err := s.Push(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if len(s.server.Reports()) != 1 || len(s.server.Blobs()) != 2 {
		t.Errorf("%d reports, %d blobs", len(s.server.Reports()), len(s.server.Blobs()))
	}
}

// Every attempt has a token of its own, for what is sent.
func TestPushAsksForATokenForEachUpload(t *testing.T) {
	s := newSender(t)
	var asked []string
	s.Token = func(_ context.Context, digest string) (string, error) {
		asked = append(asked, digest)
		return "secret", nil
	}
	p := s.add(t)
	if _, err := s.Push(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	a, b := digestOf("a record"), digestOf("a profile")
	if diff := cmp.Diff([]string{a, a, b, b, digestOf(string(p.Body))}, asked); diff != "" {
		t.Error(diff)
	}
	s.Token = func(context.Context, string) (string, error) { return "", errors.New("no token for you") }
	if _, err := s.Push(t.Context(), p); err == nil || !strings.Contains(err.Error(), "no token for you") {
		t.Errorf("%v", err)
	}
}

func TestPushRefusesToSendSecretsAround(t *testing.T) {
	for url, want := range map[string]string{
		"http://pawl.example":                "not encrypted",
		"ftp://pawl.example":                 "not a server URL",
		"pawl.example":                       "not a server URL",
		"https://user:password@pawl.example": "not a server URL",
		"https://pawl.example/?x=y":          "not a server URL",
	} {
		s := newSender(t)
		s.URL = url
		if _, err := s.Push(t.Context(), s.add(t)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", url, err)
		}
	}
	s := newSender(t)
	s.Project = "../admin"
	if _, err := s.Push(t.Context(), s.add(t)); err == nil || !strings.Contains(err.Error(), "not a project name") {
		t.Errorf("%v", err)
	}
	// A redirect is not followed: the token is for this server.
	s = newSender(t)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the token went elsewhere: %s", r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	s.server.Before(func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		return true
	})
	if _, err := s.Push(t.Context(), s.add(t)); err == nil || !strings.Contains(err.Error(), "the server has moved") {
		t.Errorf("%v", err)
	}
}

func TestPushToWhatIsNoServer(t *testing.T) {
	for name, answer := range map[string]string{
		"a page":      "<html>welcome</html>",
		"another run": `{"report": 1, "run": "01JCPT3Y3JQK6Z0Q8W3V5N7D9G"}`,
		"nothing":     "",
	} {
		s := newSender(t)
		s.server.Before(func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/reports") {
				_, _ = io.WriteString(w, answer)
				return true
			}
			return false
		})
		if _, err := s.Push(t.Context(), s.add(t)); err == nil || !strings.Contains(err.Error(), "not a pawl server") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPushStopsWhenInterrupted(t *testing.T) {
	s := newSender(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.server.Before(func(http.ResponseWriter, *http.Request) bool { cancel(); panic(http.ErrAbortHandler) })
	if _, err := s.Push(ctx, s.add(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
