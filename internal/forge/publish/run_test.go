package publish_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/publish"
	"github.com/goatnote-inc/pawl/internal/forge/untrusted/untrustedtest"
	"github.com/goatnote-inc/pawl/internal/judge/cost"
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

func TestPublish_Fork(t *testing.T) {
	p := newPublishing(t, forge.Pull{HeadRepo: forkRepo, Fork: true})
	p.measured(-0.3)
	id := p.ended(forkRepo)
	p.event("workflow_run", fmt.Sprintf(`{"workflow_run": {"id": %d}}`, id))
	p.run(publish.Request{})
	p.check(forge.Completed, forge.Neutral, "claimed by a fork")
	p.report("Claimed by a fork", "/artifacts/")
	if got := p.report(); strings.Contains(got, filepath.Dir(p.results)) {
		t.Errorf("it names our folders:\n%s", got)
	}
}

func TestPublish_ForkStarts(t *testing.T) {
	p := newPublishing(t, forge.Pull{HeadRepo: forkRepo, Fork: true})
	id := p.server.AddRun(forge.Run{Workflow: gate, Event: "pull_request", Head: forge.Head{Repo: forkRepo, Branch: "change", SHA: untrustedtest.Head}, Status: "queued"})
	p.run(publish.Request{Run: id})
	p.check(forge.InProgress, "", "measuring")
}

func TestPublish_ForkWithoutResults(t *testing.T) {
	p := newPublishing(t, forge.Pull{HeadRepo: forkRepo, Fork: true})
	id := p.server.AddRun(forge.Run{
		Workflow: gate, Event: "pull_request", Head: forge.Head{Repo: forkRepo, Branch: "change", SHA: untrustedtest.Head}, Status: "completed", Conclusion: "success",
	})
	p.run(publish.Request{Run: id})
	p.check(forge.Completed, forge.Neutral, "claimed by a fork")
	if all := p.server.Comments(1); len(all) != 0 {
		t.Errorf("a report of nothing: %+v", all)
	}
}

// Nothing is published unless exactly one open pull request has the head of the run.
func TestPublish_NoSinglePullRequest(t *testing.T) {
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
			if got := p.run(publish.Request{Run: id}); got.Skipped == "" {
				t.Errorf("%+v", got)
			}
			if len(p.server.Checks(untrustedtest.Head))+len(p.server.Comments(1))+len(p.server.Comments(2)) != 0 {
				t.Error("something is published")
			}
		})
	}
}

func TestPublish_OtherRuns(t *testing.T) {
	p := newPublishing(t, forge.Pull{})
	head := forge.Head{Branch: "change", SHA: untrustedtest.Head}
	id := p.server.AddRun(forge.Run{Workflow: ".github/workflows/evil.yml", Event: "pull_request", Head: head, Status: "completed"})
	_, err := p.publish(publish.Request{Run: id})
	if _, ok := errors.AsType[*forge.InputError](err); !ok {
		t.Errorf("another workflow: error %v", err)
	}
	id = p.server.AddRun(forge.Run{Workflow: gate, Event: "push", Head: head, Status: "completed"})
	if got := p.run(publish.Request{Run: id}); got.Skipped == "" {
		t.Errorf("a run of a push: %+v", got)
	}
	if _, err := p.publish(publish.Request{Run: 123}); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("a run that does not exist: error %v", err)
	}
	if len(p.server.Checks(untrustedtest.Head)) != 0 {
		t.Error("something is published")
	}
}

func TestPublish_CommentThatAccepts(t *testing.T) {
	p := newPublishing(t, forge.Pull{})
	p.measured(0.1)
	p.ended(0)
	p.server.SetPermission("writer", forge.Write)
	comment := p.server.AddComment(1, "writer", "/pawl accept 1111111 the old one was wrong")
	event := func(body string) {
		p.event("issue_comment", fmt.Sprintf(`{"action": "created", "issue": {"number": 1, "pull_request": {}}, "comment": {"body": %q}}`, body))
	}
	event("LGTM")
	p.run(publish.Request{})
	if len(p.server.Checks(untrustedtest.Head)) != 0 {
		t.Error("any comment publishes")
	}
	event(comment.Body)
	p.run(publish.Request{})
	p.check(forge.Completed, forge.Neutral, "accepted by writer")
	p.report("the old one was wrong")
	p.event("issue_comment", `{"action": "created", "issue": {"number": 1}, "comment": {"body": "/pawl accept 1111111 x"}}`)
	if got := p.run(publish.Request{}); got.Skipped == "" {
		t.Errorf("an issue that is no pull request: %+v", got)
	}
}

// A report shows the summary of the last nightly run. It ignores summaries from pull requests and forks, and invalid ones.
func TestPublish_ShowsTheCostSummary(t *testing.T) {
	for name, test := range map[string]struct {
		event string
		repo  int64
		sum   string
		want  bool
	}{
		"of last night":     {event: "schedule", sum: `{"runs": 40, "dollars": 2, "month_runs": 31, "month_dollars": 1.5, "caught": 2}`, want: true},
		"of a pull request": {event: "pull_request", sum: `{"runs": 40, "dollars": 2, "month_runs": 31}`},
		"of a fork":         {event: "schedule", repo: forkRepo, sum: `{"runs": 40, "dollars": 2, "month_runs": 31}`},
		"impossible":        {event: "schedule", sum: `{"runs": 40, "dollars": -2, "month_runs": 31}`},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPublishing(t, forge.Pull{})
			id := p.server.AddRun(forge.Run{Event: test.event, Head: forge.Head{Repo: test.repo, Branch: "main", SHA: strings.Repeat("c", 40)}, Status: "completed", Conclusion: "success"})
			p.write(filepath.Join(p.results, cost.SummaryFile), test.sum)
			p.server.AddArtifact(id, cost.SummaryArtifact, p.packed())
			p.measured(0.1)
			p.run(p.ofResults())
			if got := strings.Contains(p.report(), "Last 30 days: 31 runs, "); got != test.want {
				t.Errorf("the sum is shown: %t\n%s", got, p.report())
			}
		})
	}
}
