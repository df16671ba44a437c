package publish

import (
	"context"
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/comment"
)

// target is the commit or pull request to publish to. All of it comes from the forge, not from the results.
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

// target finds what to publish to: by the request first, then by the event.
func (p *publication) target(ctx context.Context) (target, error) {
	named := p.want.named()
	switch e := p.Job.Event; {
	case p.want.Run != 0:
		return p.targetOfRun(ctx, p.want.Run)
	case !named && p.Client == nil && (e.Kind == forge.OnRun || e.Kind == forge.OnComment):
		return target{}, fmt.Errorf("cannot find the pull request of the event: %w", forge.ErrNoToken)
	case !named && e.Kind == forge.OnRun:
		return p.targetOfRun(ctx, e.Run)
	case !named && e.Kind == forge.OnComment:
		return p.targetOfComment(ctx)
	case !named:
		return target{}, forge.Invalid("nothing to publish: set --results DIR, --from-run ID, --start or --untouched")
	case p.want.Pull != 0:
		return p.targetOfPull(ctx, p.want.Pull)
	case e.Kind == forge.OnPull || e.Kind == forge.OnTarget:
		return p.targetOfEvent(ctx, e)
	case e.Kind == forge.OnQueue:
		return target{sha: e.Head, heads: []string{e.Head}, bases: []string{e.Base}, runURL: p.Job.RunURL}, nil
	default:
		return p.targetOfCommit()
	}
}

// targetOfCommit returns a commit without a pull request: a run that was started manually.
func (p *publication) targetOfCommit() (target, error) {
	sha := p.want.SHA
	if sha == "" {
		sha = p.Job.Commit
	}
	if sha == "" {
		return target{}, forge.Invalid("the commit is unknown: set --sha, or set the pull request with --pull")
	}
	return target{sha: sha, heads: []string{sha}, manual: true, runURL: p.Job.RunURL}, nil
}

// targetOfPull returns the pull request that the user named.
func (p *publication) targetOfPull(ctx context.Context, number int) (target, error) {
	pull, err := p.Client.Pull(ctx, number)
	if err != nil {
		return target{}, err
	}
	t := target{pull: &pull, sha: pull.HeadSHA, heads: []string{pull.HeadSHA}, bases: []string{pull.BaseSHA}, fork: pull.Fork, runURL: p.Job.RunURL}
	if p.want.SHA != "" && p.want.SHA != pull.HeadSHA {
		t.sha, t.heads, t.stale = p.want.SHA, []string{p.want.SHA}, true
	}
	return t, nil
}

// targetOfEvent returns the pull request that the workflow runs for. The measured commit is the head in the
// event; the pull request may have a newer one by now.
func (p *publication) targetOfEvent(ctx context.Context, e forge.Event) (target, error) {
	t := target{sha: e.Head, heads: []string{e.Head}, bases: []string{e.Base}, fork: e.Fork, runURL: p.Job.RunURL}
	if e.Kind == forge.OnPull && p.Job.Commit != "" { // merge commit of head and base, made by the forge
		t.heads = append(t.heads, p.Job.Commit)
	}
	if p.want.Start || p.want.Untouched || p.Client == nil {
		return t, nil // only the head is needed
	}
	pull, err := p.Client.Pull(ctx, p.Job.Pull)
	if err != nil {
		return t, err
	}
	t.pull, t.fork = &pull, t.fork || pull.Fork
	t.stale = pull.HeadSHA != t.sha || !pull.Open
	return t, nil
}

// targetOfRun returns the only open pull request whose head is the head of a run of the gate.
func (p *publication) targetOfRun(ctx context.Context, id int64) (target, error) {
	run, err := p.Client.Run(ctx, id)
	if err != nil {
		return target{}, err
	}
	switch {
	case run.Workflow != p.want.Workflow:
		return target{}, forge.Invalid("run %d belongs to %q, but only runs of %s are published: set --workflow to use another gate", id, run.Workflow, p.want.Workflow)
	case !run.Pull:
		return target{}, skipped("run %d was started by %s and publishes its own results", id, run.Event)
	}
	pulls, err := p.Client.PullsOf(ctx, run.Head)
	if err != nil {
		return target{}, err
	}
	if len(pulls) != 1 {
		return target{}, skipped("%d open pull requests have the head of run %d (branch %q at %.12s): expected exactly one", len(pulls), id, run.Head.Branch, run.Head.SHA)
	}
	return p.targetOfPullRun(pulls[0], run), nil
}

func (p *publication) targetOfPullRun(pull forge.Pull, run forge.Run) target {
	return target{
		pull: &pull, sha: pull.HeadSHA, heads: []string{pull.HeadSHA}, bases: []string{pull.BaseSHA},
		fork: pull.Fork || run.Fork, running: run.Status != "completed", run: run.ID, runURL: run.URL, conclusion: run.Conclusion,
	}
}

// targetOfComment returns the pull request of a new comment that accepts a regression. The results of its last
// run are published again.
func (p *publication) targetOfComment(ctx context.Context) (target, error) {
	e := p.Job.Event
	if e.Pull == 0 {
		return target{}, skipped("this is not a new comment on a pull request")
	}
	if _, _, ok := comment.ParseAccept(e.Comment); !ok {
		return target{}, skipped("this comment does not accept a regression: expected the line %s", comment.AcceptLine("SHA"))
	}
	pull, err := p.Client.Pull(ctx, e.Pull)
	if err != nil {
		return target{}, err
	}
	if !pull.Open {
		return target{}, skipped("pull request %d is closed", pull.Number)
	}
	runs, err := p.Client.Runs(ctx, forge.RunQuery{Workflow: p.want.Workflow, HeadSHA: pull.HeadSHA})
	if err != nil {
		return target{}, err
	}
	head := forge.Head{Repo: pull.HeadRepo, Branch: pull.HeadBranch, SHA: pull.HeadSHA}
	i := slices.IndexFunc(runs, func(r forge.Run) bool {
		return r.Workflow == p.want.Workflow && r.Pull && r.Head == head && r.Status == "completed"
	})
	if i < 0 {
		return target{}, skipped("no run of %s has ended for %.12s yet: the acceptance takes effect when one does", p.want.Workflow, pull.HeadSHA)
	}
	return p.targetOfPullRun(pull, runs[i]), nil
}

// isBase returns a function that reports whether the head may be compared with a commit: the base, or
// the merge base of the change.
func (p *publication) isBase(ctx context.Context, t target) func(string) bool {
	return func(commit string) bool {
		if t.manual || commit != "" && slices.Contains(t.bases, commit) {
			return commit != ""
		}
		if commit == "" || len(t.bases) == 0 || p.Client == nil {
			return false
		}
		common, err := p.Client.MergeBase(ctx, t.bases[0], t.sha)
		if err != nil {
			p.Log("pawl: cannot find the merge base of the change: %v", err)
			return false
		}
		return common == commit
	}
}
