package github

import (
	"context"
	"slices"

	gh "github.com/google/go-github/v89/github"

	"github.com/goatnote-inc/pawl/internal/forge"
)

// Pull returns one pull request.
func (c *Client) Pull(ctx context.Context, number int) (forge.Pull, error) {
	ctx = c.withBudget(ctx)
	p, _, err := c.api.PullRequests.Get(ctx, c.Repo.Owner, c.Repo.Name, number)
	if err != nil {
		return forge.Pull{}, c.wrapError(err, "cannot read pull request %d", number)
	}
	return pullOf(p), nil
}

// PullsOf returns the open pull requests with exactly that head. It reads all open ones,
// because GitHub's lookups from a commit to its pull requests ignore forks.
func (c *Client) PullsOf(ctx context.Context, head forge.Head) ([]forge.Pull, error) {
	open, err := c.openPulls(c.withBudget(ctx), "")
	if err != nil {
		return nil, c.wrapError(err, "cannot list the open pull requests")
	}
	return slices.DeleteFunc(open, func(p forge.Pull) bool {
		return p.HeadRepo == 0 || p.HeadRepo != head.Repo || p.HeadBranch != head.Branch || p.HeadSHA != head.SHA
	}), nil
}

func (c *Client) openPulls(ctx context.Context, head string) ([]forge.Pull, error) {
	found, err := pages(50, func(o gh.ListOptions) ([]*gh.PullRequest, *gh.Response, error) {
		return c.api.PullRequests.List(ctx, c.Repo.Owner, c.Repo.Name,
			&gh.PullRequestListOptions{State: "open", Head: head, ListOptions: o})
	})
	if err != nil {
		return nil, err
	}
	var open []forge.Pull
	for _, p := range found {
		open = append(open, pullOf(p))
	}
	return open, nil
}

func pullOf(p *gh.PullRequest) forge.Pull {
	head, base := p.GetHead(), p.GetBase()
	out := forge.Pull{
		Number: p.GetNumber(), Open: p.GetState() == "open", Draft: p.GetDraft(),
		Author:     p.GetUser().GetLogin(),
		HeadRepo:   head.GetRepo().GetID(),
		HeadBranch: head.GetRef(), HeadSHA: head.GetSHA(),
		BaseBranch: base.GetRef(), BaseSHA: base.GetSHA(),
		URL: p.GetHTMLURL(),
	}
	// A head whose repository is gone was a fork: the repository being queried exists.
	out.Fork = out.HeadRepo != base.GetRepo().GetID()
	for _, l := range p.Labels {
		out.Labels = append(out.Labels, l.GetName())
	}
	return out
}

// OpenDraft opens a pull request as a draft, or updates the open one of that head.
func (c *Client) OpenDraft(ctx context.Context, d forge.Draft) (forge.Pull, error) {
	ctx = c.withBudget(ctx)
	for range 10 {
		open, err := c.openPulls(ctx, c.Repo.Owner+":"+d.Head)
		if err != nil {
			return forge.Pull{}, c.wrapError(err, "cannot list the pull requests of branch %s", d.Head)
		}
		open = slices.DeleteFunc(open, func(p forge.Pull) bool { return p.Fork || p.HeadBranch != d.Head })
		var p *gh.PullRequest
		if len(open) > 0 {
			p, _, err = c.api.PullRequests.Edit(ctx, c.Repo.Owner, c.Repo.Name, open[0].Number,
				&gh.PullRequest{Title: &d.Title, Body: &d.Body})
		} else {
			p, _, err = c.api.PullRequests.Create(ctx, c.Repo.Owner, c.Repo.Name,
				&gh.NewPullRequest{Title: &d.Title, Head: &d.Head, Base: &d.Base, Body: &d.Body, Draft: new(true)})
		}
		switch {
		case err == nil:
			return pullOf(p), nil
		case !shouldRetry(err):
			return forge.Pull{}, c.wrapError(err, "cannot open a draft pull request from %s to %s", d.Head, d.Base)
		}
	}
	return forge.Pull{}, c.wrapError(ErrBusy, "cannot open a draft pull request from %s to %s", d.Head, d.Base)
}
