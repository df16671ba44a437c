package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/cli"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/githubtest"
	"github.com/goatnote-inc/pawl/internal/forge/untrusted"
	"github.com/goatnote-inc/pawl/internal/forge/untrusted/untrustedtest"
	"github.com/goatnote-inc/pawl/measure"
)

// commenter runs pawl ci comment for pull request 1 of a fake GitHub. Package publish tests what is published; here are
// the flags, the output and the exit codes.
type commenter struct {
	*testing.T
	server         *githubtest.Server
	suite, results string
	env            map[string]string
	out, err       bytes.Buffer
}

func newCommenter(t *testing.T) *commenter {
	t.Helper()
	t.Parallel()
	dir := t.TempDir()
	c := &commenter{T: t, server: githubtest.New(t), suite: filepath.Join(dir, "pawl.yaml"), results: filepath.Join(dir, "results")}
	c.server.AddPull(forge.Pull{Open: true, HeadBranch: "change", HeadSHA: untrustedtest.Head, BaseSHA: untrustedtest.Base})
	c.server.AddFile(untrustedtest.Head, "pawl.yaml", untrustedtest.Suite)
	c.env = map[string]string{
		"GITHUB_REPOSITORY": c.server.Repo.String(), "GITHUB_API_URL": c.server.URL, "GITHUB_TOKEN": c.server.Token, "GOMEMLIMIT": "off",
	}
	if err := os.Mkdir(c.results, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{c.suite: untrustedtest.Suite, filepath.Join(c.results, untrusted.Code): "0\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := measure.Save(filepath.Join(c.results, untrusted.Record), untrustedtest.Record(map[string]float64{"softmax/N128": 0.1})); err != nil {
		t.Fatal(err)
	}
	return c
}

// run runs the command with a simulated clock.
func (c *commenter) run(want int, args ...string) {
	c.Helper()
	c.out.Reset()
	c.err.Reset()
	var mu sync.Mutex
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	io := &command.IO{
		In: strings.NewReader(""), Out: &c.out, Err: &c.err, Getenv: func(name string) string { return c.env[name] },
		Now: func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return now
		},
		Sleep: func(ctx context.Context, d time.Duration) error {
			mu.Lock()
			defer mu.Unlock()
			now = now.Add(max(d, 0))
			return ctx.Err()
		},
	}
	if code := cli.Main(c.Context(), append([]string{"ci", "comment"}, args...), io); code != want {
		c.Fatalf("exit code %d, want %d\n%s%s", code, want, c.out.String(), c.err.String())
	}
}

func TestComment_FailsIfAsked(t *testing.T) {
	c := newCommenter(t)
	args := []string{"--suite", c.suite, "--results", c.results, "--pull", "1"}
	c.run(0, args...)
	if !strings.Contains(c.out.String(), `check "pawl" on 111111111111 is failure`) || !strings.Contains(c.out.String(), "report on pull request 1: ") {
		t.Errorf("it says %q", c.out.String())
	}
	c.run(1, append(args, "--fail")...)
}

// This folder has no pawl.yaml.
func TestComment_WithoutASuite(t *testing.T) {
	c := newCommenter(t)
	c.run(0, "--results", c.results, "--pull", "1")
	if !strings.Contains(c.out.String(), "is neutral") {
		t.Errorf("it says %q", c.out.String())
	}
}

func TestComment_RefusedByTheForge(t *testing.T) {
	c := newCommenter(t)
	args := []string{"--suite", c.suite, "--results", c.results, "--pull", "1"}
	c.env["GITHUB_TOKEN"] = c.server.ReadOnlyToken
	c.run(3, args...)
	c.run(3, "--from-run", "123")
	c.env["GITHUB_TOKEN"] = ""
	c.run(3, args...)
	c.run(3, append(args, "--dry-run")...) // the head of the pull request is unknown
	if !strings.Contains(c.err.String(), "set GITHUB_TOKEN") {
		t.Errorf("it says %q", c.err.String())
	}
}

func TestComment_Usage(t *testing.T) {
	c := newCommenter(t)
	c.run(4)
	c.run(4, "--start") // of which commit?
	c.run(4, "--start", "--untouched", "--pull", "1")
	id := c.server.AddRun(forge.Run{Workflow: "other.yml", Event: "pull_request", Head: forge.Head{Branch: "change", SHA: untrustedtest.Head}, Status: "completed"})
	c.run(4, "--from-run", strconv.FormatInt(id, 10))
	for _, repo := range []string{"", "a/b/../../c"} {
		c.env["GITHUB_REPOSITORY"] = repo
		c.run(4, "--start", "--pull", "1")
	}
}

func TestComment_JSON(t *testing.T) {
	c := newCommenter(t)
	c.run(0, "--suite", c.suite, "--results", c.results, "--pull", "1", "--dry-run", "--json")
	var got map[string]any
	if err := json.Unmarshal(c.out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got["conclusion"] != "failure" || got["pull"] != 1.0 || !strings.Contains(got["report"].(string), "softmax/N128") {
		t.Errorf("it says %v", got)
	}
}

// Package publish reads the exit code of pawl run in the results of a job.
func TestComment_ExitCodesOfRun(t *testing.T) {
	if untrusted.ExitOK != command.ExitOK || untrusted.ExitFailed != command.ExitFailed || untrusted.ExitNoAnswer != command.ExitNoAnswer {
		t.Error("package untrusted has other exit codes than package command")
	}
}
