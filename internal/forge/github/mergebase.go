package github

import (
	"context"

	gh "github.com/google/go-github/v89/github"
)

// MergeBase returns the last common commit of two commits: where a change started. The head
// may be a commit of a fork.
func (c *Client) MergeBase(ctx context.Context, base, head string) (string, error) {
	// The second page omits the list of files, which can be long; every page has the commit.
	only := &gh.ListOptions{Page: 2, PerPage: 1}
	found, _, err := c.api.Repositories.CompareCommits(c.withBudget(ctx), c.Repo.Owner, c.Repo.Name, base, head, only)
	if err != nil {
		return "", c.wrapError(err, "cannot find the merge base of %.12s and %.12s", head, base)
	}
	return found.GetMergeBaseCommit().GetSHA(), nil
}
