package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/comment"
	"github.com/goatnote-inc/pawl/internal/forge/github"
)

// target is the commit or pull request to publish to. All of it comes from GitHub, not from the results.
type target struct {
	pull        *forge.Pull // nil for a merge group or a manual run
	sha         string      // commit of the head
	heads       []string    // commits that count as the head in a record
	bases       []string    // commits that count as its base; see isBase
	manual      bool        // a user with write access chose the base
	fork        bool
	stale       bool  // the pull request has a newer head or is closed, so its report is not updated
	running     bool  // the run has not ended
	run         int64 // run whose artifact holds the results; 0 for a folder
	runURL      string
	noNewReport bool // nothing here is worth a new report
	conclusion  string
}

// target finds what to publish to: by the flags first, then by the event.
func (p *publisher) target(ctx context.Context) (target, error) {
	named := p.results != "" || p.start || p.untouched
	switch e := p.event; {
	case p.run != 0:
		return p.targetOfRun(ctx, p.run)
	case !named && e.name == "workflow_run" && e.WorkflowRun != nil:
		return p.targetOfRun(ctx, e.WorkflowRun.ID)
	case !named && e.name == "issue_comment":
		return p.targetOfComment(ctx)
	case !named:
		return target{}, usageError{errors.New("what is to be published? Name --results DIR, --from-run ID, --start or --untouched")}
	case p.pull != 0:
		return p.targetOfPull(ctx, p.pull)
	case e.PullRequest != nil:
		return p.targetOfEvent(ctx, *e.PullRequest)
	case e.MergeGroup != nil:
		return target{sha: e.MergeGroup.Head, heads: []string{e.MergeGroup.Head}, bases: []string{e.MergeGroup.Base}, runURL: p.ownRun()}, nil
	default:
		return p.targetOfCommit()
	}
}

// ownRun returns the URL of the workflow run that this job belongs to.
func (p *publisher) ownRun() string {
	server, id := p.Getenv("GITHUB_SERVER_URL"), p.Getenv("GITHUB_RUN_ID")
	if _, err := strconv.ParseInt(id, 10, 64); err != nil || server == "" {
		return ""
	}
	return fmt.Sprintf("%s/%s/actions/runs/%s", strings.TrimRight(server, "/"), p.repo, id)
}

// targetOfCommit returns a commit without a pull request: a run that was started manually.
func (p *publisher) targetOfCommit() (target, error) {
	sha := p.sha
	if sha == "" {
		sha = p.Getenv("GITHUB_SHA")
	}
	if sha == "" {
		return target{}, usageError{errors.New("of which commit? Name it with --sha, or the pull request with --pull")}
	}
	return target{sha: sha, heads: []string{sha}, manual: true, runURL: p.ownRun()}, nil
}

// targetOfPull returns the pull request that the user named.
func (p *publisher) targetOfPull(ctx context.Context, number int) (target, error) {
	pull, err := p.forge.Pull(ctx, number)
	if err != nil {
		return target{}, err
	}
	t := target{pull: &pull, sha: pull.HeadSHA, heads: []string{pull.HeadSHA}, bases: []string{pull.BaseSHA}, fork: pull.Fork, runURL: p.ownRun()}
	if p.sha != "" && p.sha != pull.HeadSHA {
		t.sha, t.heads, t.stale = p.sha, []string{p.sha}, true
	}
	return t, nil
}

// targetOfEvent returns the pull request that the workflow runs for. The measured commit is the head in the
// event; the pull request may have a newer one by now.
func (p *publisher) targetOfEvent(ctx context.Context, e eventPull) (target, error) {
	t := target{sha: e.Head.SHA, heads: []string{e.Head.SHA}, bases: []string{e.Base.SHA}, fork: e.fork(), runURL: p.ownRun()}
	if p.event.name == "pull_request" {
		if merge := p.Getenv("GITHUB_SHA"); merge != "" { // merge commit of head and base, made by GitHub
			t.heads = append(t.heads, merge)
		}
	}
	if p.start || p.untouched || p.offline {
		return t, nil // only the head is needed
	}
	pull, err := p.forge.Pull(ctx, e.Number)
	if err != nil {
		return t, err
	}
	t.pull, t.fork = &pull, t.fork || pull.Fork
	t.stale = pull.HeadSHA != t.sha || !pull.Open
	return t, nil
}

// targetOfRun returns the only open pull request whose head is the head of a run of the gate.
func (p *publisher) targetOfRun(ctx context.Context, id int64) (target, error) {
	run, err := p.forge.Run(ctx, id)
	if err != nil {
		return target{}, err
	}
	switch {
	case run.Workflow != p.workflow:
		return target{}, exitError{exitUsage, fmt.Errorf("run %d is of %q, and only runs of %s are published: --workflow names another gate", id, run.Workflow, p.workflow)}
	case run.Event != "pull_request":
		return target{}, skipped("run %d was started by %s: it publishes its results itself", id, run.Event)
	}
	pulls, err := p.forge.PullsOf(ctx, run.Head)
	if err != nil {
		return target{}, err
	}
	if len(pulls) != 1 {
		return target{}, skipped("%d open pull requests have the head of run %d (branch %q at %.12s): there has to be exactly one", len(pulls), id, run.Head.Branch, run.Head.SHA)
	}
	return p.targetOfPullRun(pulls[0], run), nil
}

func (p *publisher) targetOfPullRun(pull forge.Pull, run forge.Run) target {
	return target{
		pull: &pull, sha: pull.HeadSHA, heads: []string{pull.HeadSHA}, bases: []string{pull.BaseSHA},
		fork: pull.Fork || run.Fork, running: run.Status != "completed", run: run.ID, runURL: run.URL, conclusion: run.Conclusion,
	}
}

// targetOfComment returns the pull request of a new comment that accepts a regression. The results of its last
// run are published again.
func (p *publisher) targetOfComment(ctx context.Context) (target, error) {
	e := p.event
	if e.Issue == nil || e.Issue.Pull == nil || e.Comment == nil || e.Action != "created" {
		return target{}, skipped("this comment is on no pull request, or not a new one")
	}
	if _, _, ok := comment.ParseAccept(e.Comment.Body); !ok {
		return target{}, skipped("this comment accepts nothing: the line is %s", comment.AcceptLine("SHA"))
	}
	pull, err := p.forge.Pull(ctx, e.Issue.Number)
	if err != nil {
		return target{}, err
	}
	if !pull.Open {
		return target{}, skipped("pull request %d is closed", pull.Number)
	}
	runs, err := p.forge.Runs(ctx, github.RunQuery{Workflow: p.workflow, HeadSHA: pull.HeadSHA})
	if err != nil {
		return target{}, err
	}
	head := forge.Head{Repo: pull.HeadRepo, Branch: pull.HeadBranch, SHA: pull.HeadSHA}
	i := slices.IndexFunc(runs, func(r forge.Run) bool {
		return r.Workflow == p.workflow && r.Event == "pull_request" && r.Head == head && r.Status == "completed"
	})
	if i < 0 {
		return target{}, skipped("no run of %s has ended for %.12s yet: the acceptance counts when one does", p.workflow, pull.HeadSHA)
	}
	return p.targetOfPullRun(pull, runs[i]), nil
}

// isBase returns a function that reports whether the head may be compared with a commit: the base, or
// the merge base of the change.
func (p *publisher) isBase(ctx context.Context, t target) func(string) bool {
	return func(commit string) bool {
		if t.manual || commit != "" && slices.Contains(t.bases, commit) {
			return commit != ""
		}
		if commit == "" || len(t.bases) == 0 || p.offline {
			return false
		}
		common, err := p.forge.MergeBase(ctx, t.bases[0], t.sha)
		if err != nil {
			p.say(logText(fmt.Sprintf("pawl: where the change began is not known: %v", err)))
			return false
		}
		return common == commit
	}
}
