package cli_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/untrusted/untrustedtest"
)

const forkRepo = 9009

// ended is a run of the gate for the head of pull request 1, with the results as its
// artifact.
func (p *publishing) ended(repo int64) int64 {
	p.Helper()
	id := p.server.AddRun(forge.Run{
		Workflow: gate, Event: "pull_request", Head: forge.Head{Repo: repo, Branch: "change", SHA: untrustedtest.Head}, Status: "completed", Conclusion: "success",
	})
	p.server.AddArtifact(id, "pawl-results", p.packed())
	return id
}

func (p *publishing) packed() []byte {
	p.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	if err := z.AddFS(os.DirFS(p.results)); err != nil {
		p.Fatal(err)
	}
	if err := z.Close(); err != nil {
		p.Fatal(err)
	}
	return b.Bytes()
}

func TestCommentFork(t *testing.T) {
	p := newPublishing(t, forge.Pull{HeadRepo: forkRepo, Fork: true})
	p.measured(-0.3)
	id := p.ended(forkRepo)
	p.event("workflow_run", fmt.Sprintf(`{"workflow_run": {"id": %d}}`, id))
	p.run(0)
	p.check(forge.Completed, forge.Neutral, "claimed by a fork")
	p.report("Claimed by a fork", "/artifacts/")
	if got := p.report(); strings.Contains(got, filepath.Dir(p.results)) {
		t.Errorf("it names our folders:\n%s", got)
	}
}

func TestCommentForkBegins(t *testing.T) {
	p := newPublishing(t, forge.Pull{HeadRepo: forkRepo, Fork: true})
	id := p.server.AddRun(forge.Run{Workflow: gate, Event: "pull_request", Head: forge.Head{Repo: forkRepo, Branch: "change", SHA: untrustedtest.Head}, Status: "queued"})
	p.run(0, "--from-run", fmt.Sprint(id))
	p.check(forge.InProgress, "", "measuring")
}

func TestCommentForkWithoutResults(t *testing.T) {
	p := newPublishing(t, forge.Pull{HeadRepo: forkRepo, Fork: true})
	id := p.server.AddRun(forge.Run{
		Workflow: gate, Event: "pull_request", Head: forge.Head{Repo: forkRepo, Branch: "change", SHA: untrustedtest.Head}, Status: "completed", Conclusion: "success",
	})
	p.run(0, "--from-run", fmt.Sprint(id))
	p.check(forge.Completed, forge.Neutral, "claimed by a fork")
	if all := p.server.Comments(1); len(all) != 0 {
		t.Errorf("a report of nothing: %+v", all)
	}
}

// What is not exactly one open pull request of that head is told nothing.
func TestCommentNobody(t *testing.T) {
	for name, bend := range map[string]func(*publishing){
		"closed":         func(p *publishing) { p.server.EditPull(1, func(q *forge.Pull) { q.Open = false }) },
		"another branch": func(p *publishing) { p.server.EditPull(1, func(q *forge.Pull) { q.HeadBranch = "other" }) },
		"another head":   func(p *publishing) { p.server.EditPull(1, func(q *forge.Pull) { q.HeadSHA = untrustedtest.Base }) },
		"another fork":   func(p *publishing) { p.server.EditPull(1, func(q *forge.Pull) { q.HeadRepo = 8 }) },
		"a fork is gone": func(p *publishing) { p.server.EditPull(1, func(q *forge.Pull) { q.HeadRepo = 0 }) },
		"two of them": func(p *publishing) {
			p.server.AddPull(forge.Pull{Open: true, HeadRepo: forkRepo, Fork: true, HeadBranch: "change", HeadSHA: untrustedtest.Head, BaseBranch: "next"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPublishing(t, forge.Pull{HeadRepo: forkRepo, Fork: true})
			p.measured(0)
			id := p.ended(forkRepo)
			bend(p)
			p.run(0, "--from-run", fmt.Sprint(id))
			if !strings.Contains(p.out.String(), "nothing is published") {
				t.Errorf("it says %q", p.out.String())
			}
			if len(p.server.Checks(untrustedtest.Head))+len(p.server.Comments(1))+len(p.server.Comments(2)) != 0 {
				t.Error("something is published")
			}
		})
	}
}

func TestCommentOtherRuns(t *testing.T) {
	p := newPublishing(t, forge.Pull{})
	head := forge.Head{Branch: "change", SHA: untrustedtest.Head}
	id := p.server.AddRun(forge.Run{Workflow: ".github/workflows/evil.yml", Event: "pull_request", Head: head, Status: "completed"})
	p.run(4, "--from-run", fmt.Sprint(id))
	id = p.server.AddRun(forge.Run{Workflow: gate, Event: "push", Head: head, Status: "completed"})
	p.run(0, "--from-run", fmt.Sprint(id))
	p.run(3, "--from-run", "123")
	if len(p.server.Checks(untrustedtest.Head)) != 0 {
		t.Error("something is published")
	}
}

func TestCommentAccepts(t *testing.T) {
	p := newPublishing(t, forge.Pull{})
	p.measured(0.1)
	p.ended(0)
	p.server.SetPermission("writer", forge.Write)
	comment := p.server.AddComment(1, "writer", "/pawl accept 1111111 the old one was wrong")
	event := func(body string) {
		p.event("issue_comment", fmt.Sprintf(`{"action": "created", "issue": {"number": 1, "pull_request": {}}, "comment": {"body": %q}}`, body))
	}
	event("LGTM")
	p.run(0)
	if len(p.server.Checks(untrustedtest.Head)) != 0 {
		t.Error("any comment publishes")
	}
	event(comment.Body)
	p.run(0)
	p.check(forge.Completed, forge.Neutral, "accepted by writer")
	p.report("the old one was wrong")
	p.event("issue_comment", `{"action": "created", "issue": {"number": 1}, "comment": {"body": "/pawl accept 1111111 x"}}`)
	p.run(0)
	if !strings.Contains(p.out.String(), "nothing is published") {
		t.Errorf("an issue that is no pull request: %q", p.out.String())
	}
}
