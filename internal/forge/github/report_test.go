package github_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/github"
	"github.com/goatnote-inc/pawl/internal/forge/githubtest"
)

// reports lists the comments that the server's own account wrote.
func reports(s *githubtest.Server, pull int) []forge.Comment {
	var all []forge.Comment
	for _, k := range s.Comments(pull) {
		if k.Author == s.Login {
			all = append(all, k)
		}
	}
	return all
}

func writes(s *githubtest.Server) int {
	n := 0
	for _, r := range s.Requests() {
		if r.Method != http.MethodGet && !strings.HasSuffix(r.Path, "graphql") {
			n++
		}
	}
	return n
}

func TestReportIsOneComment(t *testing.T) {
	s := githubtest.New(t)
	c, _ := newClient(t, s)
	ctx := t.Context()
	n := s.AddPull(forge.Pull{Open: true, HeadBranch: "topic", HeadSHA: sha('a')})
	s.AddComment(n, "eve", "<!-- pawl:report -->\n<!-- pawl:section gemm/l4 sha256="+strings.Repeat("0", 64)+" -->\nfake\n<!-- /pawl:section gemm/l4 -->")

	quiet, err := c.Report(ctx, n, forge.Section{Key: "gemm/l4", Body: "fine", Quiet: true})
	if err != nil || quiet != "" || len(reports(s, n)) != 0 {
		t.Fatalf("a quiet section began a report: %q, %v", quiet, err)
	}
	url, err := c.Report(ctx, n, forge.Section{Key: "softmax/l4", Body: "slower\n"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Report(ctx, n, forge.Section{Key: "gemm/l4", Body: "fine", Quiet: true}); err != nil {
		t.Fatal(err)
	}
	before := writes(s)
	again, err := c.Report(ctx, n, forge.Section{Key: "softmax/l4", Body: "slower"})
	if err != nil || again != url || writes(s) != before {
		t.Errorf("the same again: %q, not %q, %d writes, %v", again, url, writes(s)-before, err)
	}
	if _, err := c.Report(ctx, n, forge.Section{Key: "softmax/l4", Body: "even <!-- /pawl:section softmax/l4 --> slower"}); err != nil {
		t.Fatal(err)
	}
	got := reports(s, n)
	if len(got) != 1 || got[0].URL != url {
		t.Fatalf("%d reports: %+v", len(got), got)
	}
	want := []string{"<!-- pawl:report -->\n<!-- pawl:section gemm/l4 sha256=", "\nfine\n", "<!-- /pawl:section gemm/l4 -->\n<!-- pawl:section softmax/l4", "even &lt;!-- /pawl:section softmax/l4 --> slower"}
	rest := got[0].Body
	for _, part := range want {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Fatalf("%q is not where it should be in:\n%s", part, got[0].Body)
		}
		rest = after
	}
	if fake := s.Comments(n)[0]; fake.Edited {
		t.Error("a stranger's comment was edited")
	}
}

func TestReportMergesDuplicates(t *testing.T) {
	s := githubtest.New(t)
	c, _ := newClient(t, s)
	n := s.AddPull(forge.Pull{Open: true, HeadBranch: "topic", HeadSHA: sha('a')})
	var made []string
	for _, key := range []string{"a", "b", "c"} {
		if _, err := c.Report(t.Context(), n, forge.Section{Key: key, Body: "text of " + key}); err != nil {
			t.Fatal(err)
		}
		made = append(made, reports(s, n)[0].Body)
	}
	// Three comments, as if each had been written without knowing of the others.
	s.AddComment(n, s.Login, made[0])
	s.AddComment(n, s.Login, made[1])
	if _, err := c.Report(t.Context(), n, forge.Section{Key: "d", Body: "text of d"}); err != nil {
		t.Fatal(err)
	}
	got := reports(s, n)
	if len(got) != 1 {
		t.Fatalf("%d reports", len(got))
	}
	for _, key := range []string{"a", "b", "c", "d"} {
		if strings.Count(got[0].Body, "text of "+key) != 1 {
			t.Errorf("section %s:\n%s", key, got[0].Body)
		}
	}
}

func TestRefusedWritesSayWhatToDo(t *testing.T) {
	s := githubtest.New(t)
	c, _ := newClient(t, s, func(c *github.Config) {
		c.Token = func(context.Context) (string, error) { return s.ReadOnlyToken, nil }
	})
	n := s.AddPull(forge.Pull{Open: true, HeadBranch: "topic", HeadSHA: sha('a')})
	_, err := c.Report(t.Context(), n, forge.Section{Key: "a", Body: "x"})
	if !errors.Is(err, github.ErrForbidden) || !strings.Contains(err.Error(), "workflow_run") {
		t.Errorf("report: %v", err)
	}
	_, err = c.SetCheck(t.Context(), forge.Check{Name: "pawl", SHA: sha('a'), Status: forge.InProgress})
	if !errors.Is(err, github.ErrForbidden) {
		t.Errorf("check: %v", err)
	}
	if writes(s) != 2 {
		t.Errorf("%d writes: a refusal was tried again", writes(s))
	}
	_, err = c.Report(t.Context(), 99, forge.Section{Key: "a", Body: "x"})
	if !errors.Is(err, github.ErrGone) {
		t.Errorf("no such pull request: %v", err)
	}
}

func TestBadKeysAreRefused(t *testing.T) {
	s := githubtest.New(t)
	c, _ := newClient(t, s)
	for _, key := range []string{"", "A", "a b", "a-->", "a--b", "ä", "a\nb", strings.Repeat("a", 201)} {
		if _, err := c.Report(t.Context(), 1, forge.Section{Key: key, Body: "x"}); err == nil {
			t.Errorf("%q was taken", key)
		}
	}
	if len(s.Requests()) != 0 {
		t.Error("something was sent")
	}
}

// Nobody waits for the comment: what takes time comes after it.
func TestCommentComesAtOnce(t *testing.T) {
	s := githubtest.New(t)
	c, clock := newClient(t, s)
	n := s.AddPull(forge.Pull{Open: true, HeadBranch: "topic", HeadSHA: sha('a')})
	began := clock.time()
	if _, err := c.Report(t.Context(), n, forge.Section{Key: "a", Body: "x"}); err != nil {
		t.Fatal(err)
	}
	if took := s.Comments(n)[0].Created.Sub(began); took != 0 {
		t.Errorf("it waited %s before it wrote", took)
	}
	if third := s.Requests()[2]; third.Method != http.MethodPost {
		t.Errorf("the third request is %s %s, not the comment", third.Method, third.Path)
	}
	if took := clock.time().Sub(began); took > 5*time.Second {
		t.Errorf("it settled after %s", took)
	}
}
