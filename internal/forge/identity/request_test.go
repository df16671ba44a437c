package identity_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/forge/identity"
)

func job(vars map[string]string) identity.Env {
	return identity.Env{
		Getenv: func(name string) string { return vars[name] },
		HTTP:   &http.Client{Timeout: 5 * time.Minute}, // no test depends on how fast the machine is
		Sleep:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
}

// Every attempt asks anew, for exactly this audience, beside what the address has already.
func TestRequest(t *testing.T) {
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if got := r.Header.Get("Authorization"); got != "Bearer "+canary {
			t.Errorf("asked with %q", got)
		}
		if diff := cmp.Diff(map[string][]string{"api-version": {"2.0"}, "audience": {audience(t, report)}}, map[string][]string(r.URL.Query())); diff != "" {
			t.Error(diff)
		}
		fmt.Fprintf(w, `{"count":9,"value":"token-%d"}`, asked)
	}))
	defer s.Close()
	env := job(map[string]string{"ACTIONS_ID_TOKEN_REQUEST_URL": s.URL + "/job?api-version=2.0", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": canary})
	for n := 1; n <= 2; n++ {
		token, err := identity.Request(t.Context(), env, audience(t, report))
		if err != nil || token.Reveal() != fmt.Sprint("token-", n) {
			t.Errorf("attempt %d: %q, %v", n, token.Reveal(), err)
		}
	}
}

type roundTrip func(*http.Request) *http.Response

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

// Commands and the server give no clock of their own.
func TestRequest_WaitsOnATimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := []*http.Response{
			{StatusCode: http.StatusServiceUnavailable, Body: http.NoBody},
			{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`{"value":"token"}`))},
		}
		env := job(map[string]string{"ACTIONS_ID_TOKEN_REQUEST_URL": "https://forge.example/job", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": canary})
		env.Sleep, env.HTTP.Transport = nil, roundTrip(func(*http.Request) *http.Response {
			next := answers[0]
			answers = answers[1:]
			return next
		})
		began := time.Now()
		token, err := identity.Request(t.Context(), env, audience(t, report))
		if err != nil || token.Reveal() != "token" || time.Since(began) != time.Second {
			t.Errorf("%q after %v, %v", token.Reveal(), time.Since(began), err)
		}
	})
}

func TestRequestWithoutRights(t *testing.T) {
	fork := filepath.Join(t.TempDir(), "event.json")
	own := filepath.Join(t.TempDir(), "event.json")
	for file, head := range map[string]int{fork: 2, own: 1} {
		event := fmt.Sprintf(`{"repository":{"id":1},"pull_request":{"head":{"repo":{"id":%d}}}}`, head)
		if err := os.WriteFile(file, []byte(event), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		vars map[string]string
		want error
	}{
		"no permission":    {map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_EVENT_PATH": own}, identity.ErrNoPermission},
		"no event":         {map[string]string{"GITHUB_ACTIONS": "true"}, identity.ErrNoPermission},
		"a fork":           {map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_EVENT_PATH": fork}, identity.ErrFork},
		"half of it":       {map[string]string{"GITHUB_ACTIONS": "true", "ACTIONS_ID_TOKEN_REQUEST_URL": "https://a.example"}, identity.ErrNoPermission},
		"not in a job":     {nil, nil},
		"sent in the open": {map[string]string{"ACTIONS_ID_TOKEN_REQUEST_URL": "http://a.example/", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": canary}, nil},
		"sent elsewhere":   {map[string]string{"ACTIONS_ID_TOKEN_REQUEST_URL": "http://localhost@a.example/", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": canary}, nil},
	} {
		_, err := identity.Request(t.Context(), job(tc.vars), "a")
		if err == nil || tc.want != nil && !errors.Is(err, tc.want) || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
}

// A fault that may pass is tried three times, one that will not once; and no answer gets
// into the error, because it may hold a token.
func TestRequestFaults(t *testing.T) {
	for name, tc := range map[string]struct {
		status, attempts int
		body             string
	}{
		"forbidden":     {403, 1, canary},
		"busy":          {429, 3, canary},
		"broken":        {502, 3, canary},
		"elsewhere":     {302, 1, canary},
		"not JSON":      {200, 1, canary},
		"no token":      {200, 1, `{"value":""}`},
		"without end":   {200, 3, strings.Repeat(canary, 10_000)},
		"nothing in it": {200, 1, ""},
	} {
		attempts := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			attempts++
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(tc.status)
			_, _ = io.WriteString(w, tc.body)
		}))
		env := job(map[string]string{"ACTIONS_ID_TOKEN_REQUEST_URL": s.URL, "ACTIONS_ID_TOKEN_REQUEST_TOKEN": canary})
		_, err := identity.Request(t.Context(), env, "a")
		s.Close()
		if err == nil || strings.Contains(err.Error(), canary) || attempts != tc.attempts {
			t.Errorf("%s: %d attempts, %v; want %d", name, attempts, err, tc.attempts)
		}
	}
}

func TestAudience(t *testing.T) {
	d := identity.Digest{0xab}
	want := "https://pawl.example.com/octo/kernels?sha256=ab" + strings.Repeat("00", 31)
	for _, server := range []string{"https://pawl.example.com", "https://pawl.example.com/", "https://PAWL.example.com"} {
		if got, err := identity.Audience(server, "octo/kernels", d); err != nil || got != want {
			t.Errorf("%s: %s, %v", server, got, err)
		}
	}
	for _, bad := range [][2]string{
		{"http://a.example", "p"},
		{"a.example", "p"},
		{"", "p"},
		{"https://u:p@a.example", "p"},
		{"https://a.example?x", "p"},
		{"https://a.example#x", "p"},
		{"https://a.example", ""},
		{"https://a.example", "../p"},
		{"https://a.example", "p?sha256=x"},
		{"https://a.example", "P"},
		{"https://a.example", "p/"},
		{"https://a.example", "p\n"},
		{"https://a.example", "a/b/c/d/e"},
	} {
		if got, err := identity.Audience(bad[0], bad[1], d); err == nil {
			t.Errorf("%q: got %s", bad, got)
		}
	}
}
