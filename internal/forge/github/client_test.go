package github_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/github"
	"github.com/goatnote-inc/pawl/internal/forge/githubtest"
)

// clock is a time that passes only when somebody sleeps.
type clock struct {
	mu  sync.Mutex // the server reads it as well
	now time.Time
}

func (c *clock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(max(d, 0))
	return ctx.Err()
}

// newClient makes a client of the server whose waits cost nothing.
func newClient(t *testing.T, s *githubtest.Server, change ...func(*github.Config)) (*github.Client, *clock) {
	t.Helper()
	c := &clock{now: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)}
	s.Now = c.time
	config := github.Config{
		BaseURL: s.URL, Repo: s.Repo,
		Token:   func(context.Context) (string, error) { return s.Token, nil },
		Waiting: forge.Waiting{Sleep: c.sleep, Now: c.time, Random: func() float64 { return 0.5 }, Log: t.Logf},
	}
	for _, f := range change {
		f(&config)
	}
	client, err := github.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return client, c
}

func sha(b byte) string { return strings.Repeat(string(rune(b)), 40) }

func TestReadsWhatTheForgeKnows(t *testing.T) {
	s := githubtest.New(t)
	c, clock := newClient(t, s)
	ctx := t.Context()

	own := s.AddPull(forge.Pull{Open: true, HeadBranch: "topic", HeadSHA: sha('a'), Labels: []string{"perf"}})
	fork := s.AddPull(forge.Pull{Open: true, HeadRepo: 77, HeadBranch: "topic", HeadSHA: sha('a'), Author: "eve"})
	s.AddPull(forge.Pull{Open: true, HeadRepo: 77, HeadBranch: "topic", HeadSHA: sha('b')})
	s.AddPull(forge.Pull{Open: false, HeadRepo: 77, HeadBranch: "topic", HeadSHA: sha('a')})
	gone := s.AddPull(forge.Pull{Open: true, Fork: true, HeadBranch: "topic", HeadSHA: sha('a')})

	t.Run("pull", func(t *testing.T) {
		for i, want := range s.Pulls() {
			got, err := c.Pull(ctx, i+1)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		}
		p, _ := c.Pull(ctx, gone)
		if !p.Fork || p.HeadRepo != 0 {
			t.Errorf("a head whose repository is gone: %+v", p)
		}
		if _, err := c.Pull(ctx, 99); !errors.Is(err, github.ErrGone) {
			t.Errorf("no such pull request: %v", err)
		}
	})
	t.Run("pulls of a head", func(t *testing.T) {
		for _, tc := range []struct {
			head forge.Head
			want []int
		}{
			{forge.Head{Repo: s.RepoID, Branch: "topic", SHA: sha('a')}, []int{own}},
			{forge.Head{Repo: 77, Branch: "topic", SHA: sha('a')}, []int{fork}},
			{forge.Head{Repo: 77, Branch: "other", SHA: sha('a')}, nil},
			{forge.Head{Repo: 0, Branch: "topic", SHA: sha('a')}, nil},
		} {
			pulls, err := c.PullsOf(ctx, tc.head)
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for _, p := range pulls {
				got = append(got, p.Number)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("%+v: %s", tc.head, d)
			}
		}
	})
	t.Run("runs", func(t *testing.T) {
		for i := range 120 {
			s.AddRun(forge.Run{Workflow: ".github/workflows/pawl-gate.yml", Event: "pull_request", Status: "completed", Conclusion: "success", Head: forge.Head{Branch: "topic", SHA: sha('c')}, Created: clock.time().Add(time.Duration(i) * time.Minute)})
		}
		want := forge.Run{ID: 9, Attempt: 2, Workflow: ".github/workflows/pawl-gate.yml", Event: "pull_request", Pull: true, Status: "in_progress", Head: forge.Head{Repo: 77, Branch: "x", SHA: sha('d')}, Fork: true, Created: clock.time()}
		s.AddRun(want)
		s.AddRun(forge.Run{Workflow: ".github/workflows/other.yml", Event: "push", Status: "queued"})
		got, err := c.Run(ctx, 9)
		if d := cmp.Diff(want, got, cmpopts.IgnoreFields(want, "URL")); d != "" || err != nil {
			t.Error(d, err)
		}
		all, err := c.Runs(ctx, forge.RunQuery{Workflow: ".github/workflows/pawl-gate.yml"})
		if len(all) != 121 || err != nil {
			t.Errorf("%d runs, %v", len(all), err)
		}
		some, err := c.Runs(ctx, forge.RunQuery{HeadSHA: sha('c')})
		if len(some) != 120 || err != nil {
			t.Errorf("%d runs, %v", len(some), err)
		}
	})
	t.Run("permissions", func(t *testing.T) {
		for _, p := range []forge.Permission{forge.Read, forge.Triage, forge.Write, forge.Maintain, forge.Admin} {
			s.SetPermission("ann", p)
			if got, err := c.Permission(ctx, "ann"); got != p || err != nil {
				t.Errorf("got %s, %v; want %s", got, err, p)
			}
		}
		s.SetPermission("bob", "kernel-reviewer") // a role of the organisation's own
		for _, nobody := range []string{"bob", "stranger"} {
			if got, err := c.Permission(ctx, nobody); got != forge.NoAccess || err != nil {
				t.Errorf("%s: %s, %v", nobody, got, err)
			}
		}
		if _, err := c.Permission(ctx, "../../x"); err == nil {
			t.Error("a path was taken for a user")
		}
	})
	t.Run("files", func(t *testing.T) {
		s.AddFile("main", "perf/pawl.yaml", "a: b\n")
		s.AddFile(sha('e'), "perf/pawl.yaml", "old\n")
		for ref, want := range map[string]string{"main": "a: b\n", sha('e'): "old\n"} {
			if got, err := c.File(ctx, ref, "perf/pawl.yaml"); string(got) != want || err != nil {
				t.Errorf("%s: %q, %v", ref, got, err)
			}
		}
		if _, err := c.File(ctx, "main", "none"); !errors.Is(err, github.ErrGone) {
			t.Errorf("no such file: %v", err)
		}
	})
	t.Run("comments", func(t *testing.T) {
		for i := range 101 {
			s.AddComment(own, "ann", fmt.Sprint("remark ", i))
		}
		got, err := c.Comments(ctx, own)
		if d := cmp.Diff(s.Comments(own), got); d != "" || err != nil {
			t.Error(d, err)
		}
	})
	t.Run("visibility", func(t *testing.T) {
		for _, want := range []bool{true, false} {
			s.SetPublic(want)
			if got, err := c.Visibility(ctx); got != want || err != nil {
				t.Errorf("public %v, %v; want %v", got, err, want)
			}
		}
	})
}

func TestArtifacts(t *testing.T) {
	s := githubtest.New(t)
	c, _ := newClient(t, s)
	ctx := t.Context()
	content := bytes.Repeat([]byte("0123456789abcdef"), 4096)
	run := s.AddRun(forge.Run{})
	a := s.AddArtifact(run, "pawl-results", content)
	s.AddArtifact(s.AddRun(forge.Run{}), "pawl-results", nil)
	s.AddArtifact(run, "other", nil)

	of, err := c.Artifacts(ctx, run)
	if len(of) != 2 || err != nil {
		t.Errorf("%+v, %v", of, err)
	}
	named, err := c.ArtifactsNamed(ctx, "pawl-results")
	if len(named) != 2 || named[1].Run != run || err != nil {
		t.Errorf("%+v, %v", named, err)
	}
	var whole bytes.Buffer
	if err := c.Download(ctx, a, &whole, int64(len(content))); err != nil || !bytes.Equal(whole.Bytes(), content) {
		t.Errorf("%d bytes, %v", whole.Len(), err)
	}

	// It breaks off twice: what has come is not asked to come again.
	broken := 0
	s.Fault(func(r *http.Request, _ int) *githubtest.Fault {
		if strings.HasPrefix(r.URL.Path, "/_blob/") && broken < 2 {
			broken++
			return &githubtest.Fault{}
		}
		return nil
	})
	whole.Reset()
	if err := c.Download(ctx, a, &whole, 1<<20); err != nil || !bytes.Equal(whole.Bytes(), content) || broken != 2 {
		t.Errorf("after %d breaks %d bytes, %v", broken, whole.Len(), err)
	}

	// Its size is a claim: the limit holds for what comes.
	a.Size = 1
	whole.Reset()
	if err := c.Download(ctx, a, &whole, 1000); err == nil || whole.Len() > 1000 {
		t.Errorf("%d bytes, %v", whole.Len(), err)
	}
}

func TestQueuedJobs(t *testing.T) {
	s := githubtest.New(t)
	c, clock := newClient(t, s)
	begun := s.AddRun(forge.Run{Status: "in_progress"})
	s.AddJob(begun, "completed", "ubuntu-latest")
	waits := s.AddJob(begun, "queued", "self-hosted", "gpu-l4")
	fresh := s.AddRun(forge.Run{Status: "queued"})
	first := s.AddJob(fresh, "queued", "ubuntu-latest")
	s.AddJob(s.AddRun(forge.Run{Status: "completed"}), "completed", "x")
	got, err := c.QueuedJobs(t.Context())
	want := []github.Job{
		{ID: first, RunID: fresh, Labels: []string{"ubuntu-latest"}, Created: clock.time()},
		{ID: waits, RunID: begun, Labels: []string{"self-hosted", "gpu-l4"}, Created: clock.time()},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
	s.SetJob(waits, "in_progress")
	want[1].Running = true
	got, err = c.LiveJobs(t.Context())
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(github.Job{}, "Runner")); d != "" || err != nil {
		t.Error(d, err)
	}
	if got, err := c.QueuedJobs(t.Context()); len(got) != 1 || err != nil {
		t.Error(got, err)
	}
}

func TestEnterprise(t *testing.T) {
	s := githubtest.New(t)
	n := s.AddPull(forge.Pull{Open: true, HeadBranch: "topic", HeadSHA: sha('a')})
	c, _ := newClient(t, s, func(c *github.Config) { c.BaseURL = s.URL + "/api/v3" })
	if _, err := c.Report(t.Context(), n, forge.Section{Key: "a", Body: "x"}); err != nil {
		t.Fatal(err)
	}
	if got := s.Comments(n); len(got) != 1 {
		t.Errorf("%d comments", len(got))
	}
	var asked bool
	for _, r := range s.Requests() {
		asked = asked || r.Path == "/api/graphql"
	}
	if !asked {
		t.Error("who we are was not asked at /api/graphql")
	}
}

func TestConfigIsChecked(t *testing.T) {
	token := func(context.Context) (string, error) { return "x", nil }
	for _, bad := range []github.Config{
		{Token: token},
		{Token: token, Repo: forge.Repo{Owner: "o", Name: "../x"}},
		{Token: token, Repo: forge.Repo{Owner: "o", Name: "n"}, BaseURL: "ftp://x"},
		{Token: token, Repo: forge.Repo{Owner: "o", Name: "n"}, BaseURL: "api"},
		{Repo: forge.Repo{Owner: "o", Name: "n"}},
	} {
		if _, err := github.New(bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}
