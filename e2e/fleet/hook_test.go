package fleet

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/github"
	"github.com/goatnote-inc/pawl/ratchet"
)

// testSeveral runs a gate on two models, which end in one report.
func (w *world) testSeveral(t *testing.T) {
	i := w.newIsland(t, "second", "a")
	defer func() { _ = i.cmd.Process.Kill() }()
	r := newRepository(t)
	r.commit(t, "120")
	stdout, stderr, err := w.run(t, r.dir, "pawl", "run", "--base", "HEAD~1", "--on", "cpu,second", "--json")
	var v ratchet.Result
	if code := exitCode(t, err); code != 1 || json.Unmarshal([]byte(stdout), &v) != nil {
		t.Fatalf("exit code %d, want 1\n%s%s", code, stdout, stderr)
	}
	if v.Verdict != ratchet.Regression || v.Sentence != "Regression on cpu, regression on second." || len(v.Cases) != 2 {
		t.Errorf("%s: %s\n%+v", v.Verdict, v.Sentence, v.Cases)
	}
	for _, name := range []string{"report.html", "ratchet_report.md", "verdict.json", "cpu/current.json", "second/current.json"} {
		if _, err := os.Stat(filepath.Join(r.dir, "results", name)); err != nil {
			t.Error(err)
		}
	}
}

// head returns the commit of the working tree.
func (r repository) head(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "-C", r.dir, "rev-parse", "HEAD").Output()
	must(t, err)
	return strings.TrimSpace(string(out))
}

// pull is a pull request of a project that gates what its forge reports.
type pull struct {
	repository
	w                         *world
	secret, bare, base, suite string
}

func (w *world) newPull(t *testing.T) *pull {
	t.Helper()
	dir := t.TempDir()
	p := &pull{newRepository(t), w, strings.Repeat("k", 32), filepath.Join(dir, "kernels.git"), "", ""}
	must(t, os.WriteFile(filepath.Join(dir, "secret"), []byte(p.secret+"\n"), 0o600))
	w.must(t, "pawld", "fleet", "gate", "kernels", "--repository", w.forge.Repo.String(), "--models", "cpu", "--secret-file", filepath.Join(dir, "secret"))
	p.git(t, "init", "-q", "--bare", p.bare)
	must(t, w.forge.ServeGit(p.bare))
	suite, err := os.ReadFile(filepath.Join(p.dir, "pawl.yaml"))
	must(t, err)
	p.suite, p.base = string(suite), p.head(t)
	w.forge.AddFile(p.base, "pawl.yaml", p.suite)
	w.forge.AddPull(forge.Pull{Open: true, HeadBranch: "change", BaseSHA: p.base})
	return p
}

// push pushes a commit in which the kernel takes so many milliseconds.
func (p *pull) push(t *testing.T, ms string) (head string) {
	t.Helper()
	p.commit(t, ms)
	p.git(t, "push", "-q", "--force", p.bare, "HEAD:refs/pull/1/head")
	head = p.head(t)
	p.w.forge.AddFile(head, "pawl.yaml", p.suite)
	p.w.forge.SetMergeBase(p.base, head, p.base)
	p.w.forge.EditPull(1, func(pull *forge.Pull) { pull.HeadSHA = head })
	return head
}

// report sends the webhook that tells of an action, and returns the status of the answer.
func (p *pull) report(t *testing.T, secret, action, head string) int {
	t.Helper()
	return p.w.deliver(t, secret, fmt.Sprintf(`{"action": %q, "pull_request": {"number": 1, "head": {"sha": %q}}, "repository": {"full_name": %q}}`, action, head, p.w.forge.Repo))
}

// testHook lets the forge report a pull request and, while it is measured, a new push to it.
func (w *world) testHook(t *testing.T) {
	p := w.newPull(t)
	title := func(head string) string {
		if checks := w.forge.Checks(head); len(checks) == 1 && checks[0].Status == forge.Completed {
			return checks[0].Title
		}
		return ""
	}

	slow := p.push(t, "120")
	must(t, os.WriteFile(p.hold, []byte("6"), 0o600))
	if code := p.report(t, p.secret, "opened", slow); code != http.StatusAccepted {
		t.Fatalf("the delivery was answered with %d", code)
	}
	await.TrueWithin(t, patience, "the kernel to wait", func() bool { return p.made() > 6 })
	if code := p.report(t, p.secret, "opened", slow); code != http.StatusConflict {
		t.Errorf("a replayed delivery was answered with %d", code)
	}
	if code := p.report(t, "guess", "closed", slow); code != http.StatusUnauthorized {
		t.Errorf("a delivery with another secret was answered with %d", code)
	}

	slower := p.push(t, "150")
	if code := p.report(t, p.secret, "synchronize", slower); code != http.StatusAccepted {
		t.Fatalf("the delivery was answered with %d", code)
	}
	await.TrueWithin(t, patience, "the older gate to be superseded", func() bool { return title(slow) == "superseded" })
	must(t, os.Remove(p.hold))
	await.TrueWithin(t, patience, "the newer gate to end", func() bool { return title(slower) != "" })
	if got := title(slower); !strings.Contains(got, "1 regression") {
		t.Errorf("the check says %q", got)
	}
	var reports []forge.Comment
	await.TrueWithin(t, patience, "the report", func() bool {
		reports = w.forge.Comments(1)
		return len(reports) > 0
	})
	if len(reports) != 1 || !strings.Contains(reports[0].Body, "1 regression") {
		t.Errorf("reports %+v", reports)
	}
	w.must(t, "pawld", "fleet", "gate", "kernels", "--off")
	if code := p.report(t, p.secret, "reopened", slower); code != http.StatusUnauthorized {
		t.Errorf("a delivery for a project that gates nothing was answered with %d", code)
	}
}

// deliver sends a pull_request webhook to pawld, and returns the status.
func (w *world) deliver(t *testing.T, secret, body string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.server+"/v1/projects/kernels/deliveries", bytes.NewReader([]byte(body)))
	must(t, err)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	r.Header.Set(github.SignatureHeader, "sha256="+hex.EncodeToString(mac.Sum(nil)))
	r.Header.Set(github.EventHeader, "pull_request")
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	must(t, err)
	defer resp.Body.Close()
	return resp.StatusCode
}
