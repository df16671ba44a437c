package gitlab_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/gitlab"
)

// open returns a client of the server for which no time passes.
func (s *server) open(t *testing.T) *gitlab.Client {
	t.Helper()
	repo, err := forge.ParseRepo(path)
	if err != nil {
		t.Fatal(err)
	}
	now := started
	c, err := gitlab.New(gitlab.Config{
		BaseURL: s.url + "/api/v4", Repo: repo, Token: token, Waiting: forge.Waiting{
			Random: func() float64 { return 0 }, Now: func() time.Time { return now },
			Sleep: func(ctx context.Context, d time.Duration) error { now = now.Add(d); return ctx.Err() },
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The client has all that callers need of a forge.
var _ forge.Client = (*gitlab.Client)(nil)

func TestPull(t *testing.T) {
	c := newServer(t).open(t)
	got, err := c.Pull(t.Context(), 6)
	want := forge.Pull{
		Number: 6, Open: true, Author: "ada", HeadRepo: 2, HeadBranch: "change", HeadSHA: sha("f"), BaseBranch: "main", BaseSHA: sha("m"), Fork: true, Labels: []string{"kernels"},
		URL: "https://gitlab.example/" + path + "/-/merge_requests/6",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if _, err := c.Pull(t.Context(), 99); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("a merge request that does not exist: %v", err)
	}
	pulls, err := c.PullsOf(t.Context(), forge.Head{Repo: 1, Branch: "change", SHA: sha("h")})
	if err != nil || len(pulls) != 1 || pulls[0].Number != 5 {
		t.Errorf("%+v, %v", pulls, err)
	}
}

// Two sections share one note. A note that looks like the report and is not pawl's stays as it is.
func TestReport(t *testing.T) {
	s := newServer(t)
	c := s.open(t)
	foreign := object{"id": 1, "body": "<!-- pawl:report -->\n", "author": object{"id": 3, "username": "mallory"}, "system": false, "created_at": started, "updated_at": started}
	s.notes = []object{foreign}
	if url, err := c.Report(t.Context(), 5, forge.Section{Key: "l4", Body: "quiet", Quiet: true}); url != "" || err != nil {
		t.Errorf("a quiet section started a report: %s, %v", url, err)
	}
	first, err := c.Report(t.Context(), 5, forge.Section{Key: "l4", Body: "on an L4"})
	if err != nil || !strings.Contains(first, "/"+path+"/-/merge_requests/5#note_") {
		t.Fatalf("%s, %v", first, err)
	}
	for _, body := range []string{"on an H100", "on an H100, again"} {
		if again, err := c.Report(t.Context(), 5, forge.Section{Key: "h100", Body: body}); again != first || err != nil {
			t.Errorf("another report: %s, %v", again, err)
		}
	}
	if len(s.notes) != 2 || s.notes[0]["body"] != "<!-- pawl:report -->\n" {
		t.Fatalf("%+v", s.notes)
	}
	if text := s.notes[1]["body"].(string); !strings.Contains(text, "on an L4") || !strings.Contains(text, "on an H100, again") {
		t.Errorf("the report is %s", text)
	}
	if _, err := c.Report(t.Context(), 9, forge.Section{Key: "l4", Body: "x"}); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("a report on a merge request that does not exist: %v", err)
	}
	comments, err := c.Comments(t.Context(), 5)
	if err != nil || len(comments) != 2 || comments[0].Author != "mallory" || comments[0].Edited {
		t.Errorf("%+v, %v", comments, err)
	}
}

func TestSetCheck(t *testing.T) {
	s := newServer(t)
	c := s.open(t)
	for _, k := range []forge.Check{
		{Status: forge.InProgress, Title: "measuring"},
		{Status: forge.InProgress, Title: "measuring"}, // GitLab refuses it, because nothing changes
		{Status: forge.Completed, Conclusion: forge.Neutral, Title: strings.Repeat("long ", 100)},
		{Status: forge.Completed, Conclusion: forge.Failure, Title: "slower"},
	} {
		k.Name, k.SHA, k.URL = "pawl", sha("h"), "https://gitlab.example/run"
		if url, err := c.SetCheck(t.Context(), k); err != nil || url != k.URL {
			t.Errorf("%+v: %s, %v", k, url, err)
		}
	}
	var states []any
	for _, k := range s.statuses {
		states = append(states, k["state"])
	}
	if diff := cmp.Diff([]any{"running", "success", "failed"}, states); diff != "" {
		t.Error(diff)
	}
	if text := s.statuses[1]["description"].(string); !strings.HasPrefix(text, "neutral: long") || len(text) > 255 {
		t.Errorf("%q", text)
	}
	for _, bad := range []forge.Check{{Name: "pawl", SHA: "main", Status: forge.Queued}, {Name: "pawl", SHA: sha("h"), Status: forge.Completed}} {
		if _, err := c.SetCheck(t.Context(), bad); err == nil {
			t.Errorf("%+v was set", bad)
		}
	}
}

func TestRepository(t *testing.T) {
	s := newServer(t)
	c := s.open(t)
	if text, err := c.File(t.Context(), "main", "a.txt"); err != nil || string(text) != "old" {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := c.File(t.Context(), "main", "../etc/b"); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if base, err := c.MergeBase(t.Context(), sha("m"), sha("h")); err != nil || base != sha("b") {
		t.Errorf("%s, %v", base, err)
	}
	if public, err := c.Visibility(t.Context()); err != nil || public {
		t.Errorf("%v, %v", public, err)
	}
	if got, err := c.Commit(t.Context(), forge.Change{Branch: "main", Message: "same", Files: map[string][]byte{"a.txt": []byte("old")}}); err != nil || got != sha("m") {
		t.Errorf("a commit without a change: %s, %v", got, err)
	}
	got, err := c.Commit(t.Context(), forge.Change{Branch: "pawl/tune", From: sha("m"), Message: "tune", Files: map[string][]byte{"a.txt": []byte("new"), "k/b.cu": []byte("\xff")}})
	if err != nil || got != sha("c") || s.files["pawl/tune"]["a.txt"] != "new" || s.files["pawl/tune"]["k/b.cu"] != "\xff" {
		t.Errorf("%s, %v, %q", got, err, s.files)
	}
	for range 2 {
		p, err := c.OpenDraft(t.Context(), forge.Draft{Head: "pawl/tune", Base: "main", Title: "Tune", Body: "faster"})
		if err != nil || p.Number != 7 || !p.Draft {
			t.Errorf("%+v, %v", p, err)
		}
	}
}

func TestPermission(t *testing.T) {
	s := newServer(t)
	c := s.open(t)
	member := func(name string, level int, state string) object {
		return object{"id": level, "username": name, "access_level": level, "state": state}
	}
	s.members = []object{member("ada", 30, "active"), member("ada-bot", 50, "active"), member("eve", 40, "blocked")}
	for name, want := range map[string]forge.Permission{"ada": forge.Write, "Ada": forge.Write, "eve": forge.NoAccess, "nobody": forge.NoAccess} {
		if got, err := c.Permission(t.Context(), name); err != nil || got != want {
			t.Errorf("%s has %s, %v; want %s", name, got, err, want)
		}
	}
}

func TestPipelines(t *testing.T) {
	c := newServer(t).open(t)
	run, err := c.Run(t.Context(), 40)
	if err != nil || run.Status != "completed" || run.Conclusion != "success" || run.Head.Branch != "main" || run.Fork || run.Pull {
		t.Errorf("%+v, %v", run, err)
	}
	if runs, err := c.Runs(t.Context(), forge.RunQuery{Workflow: gitlab.Workflow, HeadSHA: sha("h")}); err != nil || len(runs) != 1 {
		t.Errorf("%+v, %v", runs, err)
	}
	found, err := c.Artifacts(t.Context(), 40)
	if err != nil || len(found) != 1 || found[0].Name != "pawl-results" || found[0].Run != 40 {
		t.Fatalf("%+v, %v", found, err)
	}
	if named, err := c.ArtifactsNamed(t.Context(), "pawl-results"); err != nil || len(named) != 1 {
		t.Errorf("%+v, %v", named, err)
	}
	var b bytes.Buffer
	if err := c.Download(t.Context(), found[0], &b, 100); err != nil || b.String() != `"zip"` {
		t.Errorf("%q, %v", b.String(), err)
	}
	found[0].Size = 0 // what GitLab says of the size may be wrong
	if err := c.Download(t.Context(), found[0], &b, 4); err == nil {
		t.Error("more was downloaded than allowed")
	}
}

// Reads are repeated, writes are not: the report is read again first, and there is one note in the end.
func TestFailuresAreWaitedOut(t *testing.T) {
	s := newServer(t)
	c := s.open(t)
	s.broken = []int{500, 429, 502}
	if _, err := c.Pull(t.Context(), 5); err != nil {
		t.Error(err)
	}
	if _, err := c.Report(t.Context(), 5, forge.Section{Key: "l4", Body: "one"}); err != nil {
		t.Error(err)
	}
	s.broken = []int{502, 200} // the second is not JSON
	if _, err := c.Pull(t.Context(), 5); err == nil {
		t.Error("a response that is not JSON was taken")
	}
	s.broken = nil
	if len(s.notes) != 1 {
		t.Errorf("%d notes", len(s.notes))
	}
	s.broken = make([]int, 200)
	for i := range s.broken {
		s.broken[i] = 503
	}
	if _, err := c.Pull(t.Context(), 5); !errors.Is(err, gitlab.ErrBusy) {
		t.Errorf("%v", err)
	}
}

func TestNew_RefusesWhatCannotWork(t *testing.T) {
	for name, c := range map[string]gitlab.Config{
		"no token":             {Repo: forge.Repo{Owner: "a", Name: "b"}},
		"a token with a line":  {Repo: forge.Repo{Owner: "a", Name: "b"}, Token: "x\ny"},
		"no project":           {Token: token},
		"a project with a dot": {Repo: forge.Repo{Owner: "..", Name: "b"}, Token: token},
		"no address":           {Repo: forge.Repo{Owner: "a", Name: "b"}, Token: token, BaseURL: "gitlab"},
		"an address with user": {Repo: forge.Repo{Owner: "a", Name: "b"}, Token: token, BaseURL: "https://u:p@h/api/v4"},
	} {
		if _, err := gitlab.New(c); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
