package github

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"unicode/utf8"

	gh "github.com/google/go-github/v89/github"

	"github.com/goatnote-inc/pawl/internal/forge"
)

// Commit makes one commit on a branch without a clone, and returns its SHA. It never
// forces: it retries on top of newer commits. If the branch already has the files, it commits nothing
// and returns the tip, so that repeating a call after a lost response is safe. A branch
// that does not exist starts at From, or without history if From is empty.
func (c *Client) Commit(ctx context.Context, change forge.Change) (string, error) {
	if change.Branch == "" || len(change.Files) == 0 {
		return "", errors.New("a commit needs a branch and files")
	}
	ctx = c.withBudget(ctx)
	var made []string // commits of this call: the branch may be at one whose response was lost
	for range 20 {
		sha, err := c.tryCommit(ctx, change, &made)
		switch {
		case err == nil:
			return sha, nil
		case shouldRetry(err):
		case errors.Is(err, ErrMoved), status(err) == http.StatusConflict:
			if err := c.Sleep(ctx, forge.FirstPause); err != nil {
				return "", err
			}
		default:
			return "", c.wrapError(err, "cannot commit to branch %s", change.Branch)
		}
	}
	return "", c.wrapError(ErrBusy, "cannot commit to branch %s", change.Branch)
}

func (c *Client) tryCommit(ctx context.Context, change forge.Change, made *[]string) (string, error) {
	owner, name := c.Repo.Owner, c.Repo.Name
	tip, exists, err := c.tip(ctx, change.Branch)
	if err != nil {
		return "", err
	}
	if exists && slices.Contains(*made, tip) {
		return tip, nil
	}
	parent := tip
	if !exists {
		parent = change.From
	}
	var parents []*gh.Commit
	var base string
	if parent != "" {
		at, _, err := c.api.Git.GetCommit(ctx, owner, name, parent)
		if err != nil {
			return "", err
		}
		parents, base = []*gh.Commit{{SHA: &parent}}, at.GetTree().GetSHA()
	}
	entries, err := c.entries(ctx, change.Files)
	if err != nil {
		return "", err
	}
	tree, _, err := c.api.Git.CreateTree(ctx, owner, name, base, entries)
	if err != nil {
		return "", err
	}
	if exists && tree.GetSHA() == base {
		return tip, nil
	}
	commit, _, err := c.api.Git.CreateCommit(ctx, owner, name, gh.Commit{Message: &change.Message, Tree: tree, Parents: parents}, nil)
	if err != nil {
		return "", err
	}
	*made = append(*made, commit.GetSHA())
	if exists {
		_, _, err = c.api.Git.UpdateRef(ctx, owner, name, "heads/"+change.Branch, gh.UpdateRef{SHA: commit.GetSHA()})
	} else {
		_, _, err = c.api.Git.CreateRef(ctx, owner, name, gh.CreateRef{Ref: "refs/heads/" + change.Branch, SHA: commit.GetSHA()})
	}
	return commit.GetSHA(), c.moved(ctx, err, change.Branch, tip)
}

// moved distinguishes a concurrent write from a missing permission: GitHub responds with
// 422 to both.
func (c *Client) moved(ctx context.Context, err error, branch, was string) error {
	if status(err) != http.StatusUnprocessableEntity {
		return err
	}
	if tip, _, look := c.tip(ctx, branch); look == nil && tip != was {
		return fmt.Errorf("%w: %w", ErrMoved, err)
	}
	return err
}

// tip returns the commit of a branch, if the branch exists.
func (c *Client) tip(ctx context.Context, branch string) (sha string, exists bool, err error) {
	ref, _, err := c.api.Git.GetRef(ctx, c.Repo.Owner, c.Repo.Name, "heads/"+branch)
	if status(err) == http.StatusNotFound {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	return ref.GetObject().GetSHA(), true, nil
}

// entries returns the tree changes. Text is sent inline; other content is uploaded first.
func (c *Client) entries(ctx context.Context, files map[string][]byte) ([]*gh.TreeEntry, error) {
	var all []*gh.TreeEntry
	for _, path := range slices.Sorted(maps.Keys(files)) {
		content := files[path]
		e := &gh.TreeEntry{Path: &path, Mode: new("100644"), Type: new("blob")}
		switch {
		case content == nil: // deleted
		case utf8.Valid(content):
			e.Content = new(string(content))
		default:
			blob, _, err := c.api.Git.CreateBlob(ctx, c.Repo.Owner, c.Repo.Name,
				gh.Blob{Content: new(base64.StdEncoding.EncodeToString(content)), Encoding: new("base64")})
			if err != nil {
				return nil, err
			}
			e.SHA = blob.SHA
		}
		all = append(all, e)
	}
	return all, nil
}
