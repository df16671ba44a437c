package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	gh "github.com/google/go-github/v89/github"

	"github.com/goatnote-inc/pawl/internal/forge"
)

// Comments returns the comments on a pull request, oldest first.
func (c *Client) Comments(ctx context.Context, pull int) ([]forge.Comment, error) {
	found, err := c.listComments(c.withBudget(ctx), pull)
	if err != nil {
		return nil, c.wrapError(err, "cannot list the comments on pull request %d", pull)
	}
	var all []forge.Comment
	for _, k := range found {
		all = append(all, forge.Comment{
			ID: k.GetID(), Author: k.GetUser().GetLogin(), Body: k.GetBody(), URL: k.GetHTMLURL(),
			Created: k.GetCreatedAt().Time, Edited: !k.GetUpdatedAt().Equal(k.GetCreatedAt()),
		})
	}
	return all, nil
}

// listComments reads all comments. GitHub allows 2,500 per pull request.
func (c *Client) listComments(ctx context.Context, pull int) ([]*gh.IssueComment, error) {
	if pull <= 0 {
		return nil, fmt.Errorf("there is no pull request %d", pull)
	}
	return pages(30, func(o gh.ListOptions) ([]*gh.IssueComment, *gh.Response, error) {
		return c.api.Issues.ListComments(ctx, c.Repo.Owner, c.Repo.Name, pull, &gh.IssueListCommentsOptions{ListOptions: o})
	})
}

// Permission returns the permission of a user. A user unknown to GitHub has none.
func (c *Client) Permission(ctx context.Context, user string) (forge.Permission, error) {
	if !validName(strings.TrimSuffix(user, "[bot]")) {
		return forge.NoAccess, fmt.Errorf("%q is not a user name", forge.OneLine(user))
	}
	p, _, err := c.api.Repositories.GetPermissionLevel(c.withBudget(ctx), c.Repo.Owner, c.Repo.Name, user)
	if status(err) == http.StatusNotFound {
		return forge.NoAccess, nil
	}
	if err != nil {
		return forge.NoAccess, c.wrapError(err, "cannot read the permission of %s as a collaborator", user)
	}
	// The role is more precise, but an organization can define its own; then the legacy
	// permission counts.
	for _, word := range []string{p.GetRoleName(), p.GetPermission()} {
		switch known := forge.Permission(word); known {
		case forge.Read, forge.Triage, forge.Write, forge.Maintain, forge.Admin:
			return known, nil
		case forge.NoAccess:
		}
	}
	return forge.NoAccess, nil
}

// File returns a file of at most 1 MB at a commit, a branch or a tag.
func (c *Client) File(ctx context.Context, ref, path string) ([]byte, error) {
	file, _, _, err := c.api.Repositories.GetContents(c.withBudget(ctx), c.Repo.Owner, c.Repo.Name, path, &gh.RepositoryContentGetOptions{Ref: ref})
	if err == nil && file == nil {
		err = errors.New("it is a folder")
	}
	if err == nil && file.GetType() != "file" {
		err = fmt.Errorf("it is a %s", forge.OneLine(file.GetType()))
	}
	if err != nil {
		return nil, c.wrapError(err, "cannot read %s at %s", path, ref)
	}
	text, err := file.GetContent()
	if err == nil && file.GetEncoding() == "none" {
		err = fmt.Errorf("it has %d bytes: GitHub returns only files up to 1 MB", file.GetSize())
	}
	return []byte(text), c.wrapError(err, "cannot read %s at %s", path, ref)
}

// Visibility reports whether the repository is public.
func (c *Client) Visibility(ctx context.Context) (public bool, err error) {
	r, _, err := c.api.Repositories.Get(c.withBudget(ctx), c.Repo.Owner, c.Repo.Name)
	if err != nil {
		return false, c.wrapError(err, "cannot read the settings")
	}
	return !r.GetPrivate() && r.GetVisibility() != "internal", nil
}

// account is a GitHub account.
type account struct {
	ID    int64
	Login string
}

func (p account) wrote(k *gh.IssueComment) bool {
	u := k.GetUser()
	if p.ID != 0 {
		return u.GetID() == p.ID
	}
	return strings.EqualFold(u.GetLogin(), p.Login)
}

// ownAccount returns the account whose comments are pawl's. Any user can write a comment that looks
// like the report, so only comments by this token's own account count. REST reports the
// account only for user tokens; GraphQL also for the tokens of apps and Actions. If it is
// unknown, it is assumed to be that of Actions: missing pawl's comment costs a second one,
// editing another user's would cost trust.
func (c *Client) ownAccount(ctx context.Context) (account, error) {
	c.mu.Lock()
	known := c.author
	c.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	who, err := c.viewer(ctx)
	if err != nil {
		return account{}, err
	}
	c.mu.Lock()
	c.author = &who
	c.mu.Unlock()
	return who, nil
}

func (c *Client) viewer(ctx context.Context) (account, error) {
	address := c.BaseURL + "/graphql"
	if host, enterprise := strings.CutSuffix(c.BaseURL, "/api/v3"); enterprise {
		address = host + "/api/graphql"
	}
	var answer struct {
		Data struct {
			Viewer struct {
				Login      string
				DatabaseID int64 `json:"databaseId"`
			}
		}
	}
	req, err := c.api.NewRequest(ctx, http.MethodPost, address, map[string]string{"query": "query{viewer{login databaseId}}"})
	if err != nil {
		return account{}, err
	}
	if _, err = c.api.Do(req, &answer); err != nil && status(err) == 0 {
		return account{}, c.wrapError(err, "cannot look up the token's account for the comments")
	}
	if v := answer.Data.Viewer; err == nil && v.Login != "" {
		return account{ID: v.DatabaseID, Login: v.Login}, nil
	}
	return account{Login: "github-actions[bot]"}, nil
}
