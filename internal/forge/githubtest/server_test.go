package githubtest_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/githubtest"
)

// listen starts a server whose complaints are the test's.
func listen(t *testing.T) (*githubtest.Server, *[]string) {
	t.Helper()
	var complaints []string
	s, err := githubtest.Listen("127.0.0.1:0", func(format string, args ...any) { complaints = append(complaints, fmt.Sprintf(format, args...)) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	s.AddPull(forge.Pull{Open: true, HeadBranch: "topic", HeadSHA: strings.Repeat("a", 40)})
	return s, &complaints
}

func send(t *testing.T, s *githubtest.Server, token, method, path, body string) (int, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

const repo = "/repos/octo/kernels"

// A server that takes everything would test nothing.
func TestHoldsRequestsAgainstTheDescription(t *testing.T) {
	if os.Getenv("PAWL_GITHUB_API") == "" {
		t.Skip("PAWL_GITHUB_API names no description: scripts/github-api makes one")
	}
	sha := strings.Repeat("a", 40)
	for _, tc := range []struct{ method, path, body, complaint string }{
		{"POST", repo + "/issues/1/comments", `{"body":"fine"}`, ""},
		{"POST", repo + "/issues/1/comments", `{"body":7}`, ""}, // refused by the server itself
		{"POST", repo + "/check-runs", `{"name":"x","head_sha":"` + sha + `","status":"done"}`, "status"},
		{"POST", repo + "/check-runs", `{"name":"x","head_sha":"` + sha + `","status":"completed","conclusion":"splendid"}`, "conclusion"},
		{"POST", repo + "/check-runs", `{"name":"x","head_sha":"` + sha + `","output":{"title":"no summary"}}`, "summary"},
		{"POST", repo + "/check-runs", `{"name":"x","head_sha":"` + sha + `","output":{"title":"t","summary":"s","annotations":[{"path":"p","start_line":1,"end_line":1,"annotation_level":"loud","message":"m"}]}}`, "annotation_level"},
		{"GET", repo + "/teapots", "", "no such path"},
		{"GET", repo + "/git/ref/heads/a/b", "", ""},
		{"GET", repo + "/contents/a/b/c.yaml?ref=main", "", ""},
	} {
		s, complaints := listen(t)
		if _, _, err := send(t, s, s.Token, tc.method, tc.path, tc.body); err != nil {
			t.Fatal(err)
		}
		all := strings.Join(*complaints, "\n")
		if tc.complaint == "" && all != "" || !strings.Contains(all, tc.complaint) {
			t.Errorf("%s %s %s: complaints %q, not of %q", tc.method, tc.path, tc.body, all, tc.complaint)
		}
	}
}

func TestTokens(t *testing.T) {
	s, _ := listen(t)
	for _, tc := range []struct {
		token, method string
		want          int
	}{
		{s.Token, "POST", 201},
		{s.Token, "GET", 200},
		{s.ReadOnlyToken, "GET", 200},
		{s.ReadOnlyToken, "POST", 403},
		{"stolen", "GET", 401},
		{"", "POST", 401},
	} {
		if got, _, err := send(t, s, tc.token, tc.method, repo+"/issues/1/comments", `{"body":"x"}`); got != tc.want || err != nil {
			t.Errorf("%q %s: %d, %v; want %d", tc.token, tc.method, got, err, tc.want)
		}
	}
	if n := len(s.Comments(1)); n != 1 {
		t.Errorf("%d comments", n)
	}
}

func TestFaults(t *testing.T) {
	for _, tc := range []struct {
		name     string
		fault    githubtest.Fault
		status   int // 0: no whole answer
		comments int
	}{
		{"refused", githubtest.Fault{Status: 502}, 502, 0},
		{"cut before", githubtest.Fault{}, 0, 0},
		{"cut after", githubtest.Fault{AfterEffect: true}, 0, 1},
		{"refused after", githubtest.Fault{Status: 502, AfterEffect: true}, 502, 1},
		{"broken", githubtest.Fault{Truncate: true}, 0, 1},
		{"twice", githubtest.Fault{Twice: true}, 201, 2},
	} {
		s, complaints := listen(t)
		s.Fault(func(*http.Request, int) *githubtest.Fault { return &tc.fault })
		status, _, err := send(t, s, s.Token, "POST", repo+"/issues/1/comments", `{"body":"x"}`)
		if (err != nil) != (tc.status == 0) || err == nil && status != tc.status || len(s.Comments(1)) != tc.comments {
			t.Errorf("%s: %d, %v, %d comments", tc.name, status, err, len(s.Comments(1)))
		}
		if len(*complaints) > 0 {
			t.Errorf("%s: %q", tc.name, *complaints)
		}
	}
}

// Lists are behind by as much as the test says; what they list is not.
func TestListsLag(t *testing.T) {
	s, _ := listen(t)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s.Now = func() time.Time { return now }
	s.ListLag = 2 * time.Second
	list := func() int {
		_, body, _ := send(t, s, s.Token, "GET", repo+"/issues/1/comments", "")
		return strings.Count(body, `"issue_url"`)
	}
	k := s.AddComment(1, "ann", "x")
	one := fmt.Sprintf("%s/issues/comments/%d", repo, k.ID)
	if code, _, _ := send(t, s, s.Token, "GET", one, ""); list() != 0 || code != 200 {
		t.Errorf("created: listed %d, read %d", list(), code)
	}
	now = now.Add(3 * time.Second)
	if list() != 1 {
		t.Error("not listed in time")
	}
	if code, _, _ := send(t, s, s.Token, "DELETE", one, ""); code != 204 {
		t.Fatal(code)
	}
	if code, _, _ := send(t, s, s.Token, "GET", one, ""); list() != 1 || code != 404 {
		t.Errorf("deleted: listed %d, read %d", list(), code)
	}
	now = now.Add(3 * time.Second)
	if list() != 0 {
		t.Error("still listed")
	}
}
