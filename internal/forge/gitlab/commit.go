package gitlab

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/sections"
)

var shaPattern = lazyregexp.New(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// descriptionMost is GitLab's limit for the description of a commit status, in characters.
const descriptionMost = 255

// SetCheck sets a commit status and returns the URL that it links to. GitLab's statuses have one line of text and no neutral state:
// a neutral check succeeds and says so. Summary and annotations are not shown.
func (c *Client) SetCheck(ctx context.Context, k forge.Check) (string, error) {
	if k.Name == "" || !shaPattern.MatchString(k.SHA) {
		return "", fmt.Errorf("a check needs a name and a full commit SHA, got %q on %q", forge.OneLine(k.Name), forge.OneLine(k.SHA))
	}
	state, err := stateOf(k)
	if err != nil {
		return "", err
	}
	text := forge.OneLine(k.Title)
	if k.Conclusion == forge.Neutral {
		text = "neutral: " + text
	}
	body := map[string]any{"state": state, "name": k.Name, "description": sections.Prefix(text, descriptionMost)}
	if k.URL != "" {
		body["target_url"] = k.URL
	}
	for range 10 {
		_, err = c.call(ctx, http.MethodPost, c.project+"/statuses/"+k.SHA, nil, body, nil)
		if !errors.Is(err, errUnknown) {
			break
		}
	}
	// GitLab refuses a state that the status already has. That is what a lost response looks like.
	if status(err) == http.StatusBadRequest && strings.Contains(err.Error(), "Cannot transition status") {
		err = nil
	}
	return k.URL, c.wrapError(err, "cannot set the status %q on %.12s", k.Name, k.SHA)
}

func stateOf(k forge.Check) (string, error) {
	switch {
	case k.Status == forge.Queued && k.Conclusion == "":
		return "pending", nil
	case k.Status == forge.InProgress && k.Conclusion == "":
		return "running", nil
	case k.Status == forge.Completed && k.Conclusion == forge.Failure:
		return "failed", nil
	case k.Status == forge.Completed && (k.Conclusion == forge.Success || k.Conclusion == forge.Neutral):
		return "success", nil
	}
	return "", fmt.Errorf("check %q has status %s and conclusion %q: a completed check must have a conclusion, any other must not", k.Name, k.Status, k.Conclusion)
}

// Commit makes one commit on a branch without a clone, and returns its SHA. If the branch already has the files, it commits nothing
// and returns the tip. A branch that does not exist starts at From.
func (c *Client) Commit(ctx context.Context, change forge.Change) (string, error) {
	if change.Branch == "" || len(change.Files) == 0 {
		return "", errors.New("a commit needs a branch and files")
	}
	for range 10 {
		sha, err := c.tryCommit(ctx, change)
		// A 400 may mean that another writer changed one of the files since they were read.
		if !errors.Is(err, errUnknown) && status(err) != http.StatusBadRequest {
			return sha, c.wrapError(err, "cannot commit to branch %s", change.Branch)
		}
		if err := c.Sleep(ctx, forge.FirstPause); err != nil {
			return "", err
		}
	}
	return "", c.wrapError(ErrBusy, "cannot commit to branch %s", change.Branch)
}

func (c *Client) tryCommit(ctx context.Context, change forge.Change) (string, error) {
	var branch struct {
		Commit struct {
			ID string `json:"id"`
		} `json:"commit"`
	}
	_, err := c.call(ctx, http.MethodGet, c.project+"/repository/branches/"+url.PathEscape(change.Branch), nil, nil, &branch)
	exists := err == nil
	if err != nil && !errors.Is(err, forge.ErrNotFound) {
		return "", err
	}
	at := branch.Commit.ID
	if !exists {
		at = change.From
	}
	var actions []map[string]any
	for _, path := range slices.Sorted(maps.Keys(change.Files)) {
		content := change.Files[path]
		old, err := c.fileAt(ctx, at, path)
		missing := errors.Is(err, forge.ErrNotFound)
		switch {
		case err != nil && !missing:
			return "", err
		case content == nil && missing, content != nil && !missing && string(old) == string(content):
			continue
		case content == nil:
			actions = append(actions, map[string]any{"action": "delete", "file_path": path})
			continue
		}
		do := "update"
		if missing {
			do = "create"
		}
		actions = append(actions, map[string]any{"action": do, "file_path": path, "content": base64.StdEncoding.EncodeToString(content), "encoding": "base64"})
	}
	if len(actions) == 0 && exists {
		return at, nil
	}
	body := map[string]any{"branch": change.Branch, "commit_message": change.Message, "actions": actions}
	if !exists && change.From != "" {
		body["start_sha"] = change.From
	}
	var made struct {
		ID string `json:"id"`
	}
	_, err = c.call(ctx, http.MethodPost, c.project+"/repository/commits", nil, body, &made)
	return made.ID, err
}

// fileLimit is the size of the largest file that is read.
const fileLimit = 1 << 20

func (c *Client) fileAt(ctx context.Context, ref, path string) ([]byte, error) {
	if ref == "" {
		return nil, forge.ErrNotFound // a repository without history
	}
	var file struct {
		Size    int64  `json:"size"`
		Content string `json:"content"`
	}
	_, err := c.call(ctx, http.MethodGet, c.project+"/repository/files/"+url.PathEscape(path), url.Values{"ref": {ref}}, nil, &file)
	if err != nil {
		return nil, err
	}
	if file.Size > fileLimit {
		return nil, fmt.Errorf("it has %d bytes, the max is %d", file.Size, fileLimit)
	}
	return base64.StdEncoding.DecodeString(file.Content)
}

// File returns a file of at most 1 MB at a commit, a branch or a tag.
func (c *Client) File(ctx context.Context, ref, path string) ([]byte, error) {
	text, err := c.fileAt(ctx, ref, path)
	return text, c.wrapError(err, "cannot read %s at %s", path, ref)
}

// MergeBase returns the common ancestor of two commits.
func (c *Client) MergeBase(ctx context.Context, base, head string) (string, error) {
	var found struct {
		ID string `json:"id"`
	}
	_, err := c.call(ctx, http.MethodGet, c.project+"/repository/merge_base", url.Values{"refs[]": {base, head}}, nil, &found)
	return found.ID, c.wrapError(err, "cannot find the merge base of %.12s and %.12s", base, head)
}

// Permission returns the permission of a user, also of one that has it through a group.
func (c *Client) Permission(ctx context.Context, name string) (forge.Permission, error) {
	if name == "" || len(name) > 255 {
		return forge.NoAccess, fmt.Errorf("%q is not a user name", forge.OneLine(name))
	}
	found, err := list[struct {
		user
		Level int    `json:"access_level"`
		State string `json:"state"`
	}](ctx, c, 20, c.project+"/members/all", url.Values{"query": {name}})
	if err != nil {
		return forge.NoAccess, c.wrapError(err, "cannot read the permission of %s", forge.OneLine(name))
	}
	level := 0
	for _, m := range found {
		if strings.EqualFold(m.Username, name) && m.State == "active" {
			level = max(level, m.Level)
		}
	}
	switch {
	case level >= 50:
		return forge.Admin, nil
	case level >= 40:
		return forge.Maintain, nil
	case level >= 30:
		return forge.Write, nil
	case level >= 20:
		return forge.Triage, nil
	case level >= 10:
		return forge.Read, nil
	}
	return forge.NoAccess, nil
}

// Visibility reports whether the project is public.
func (c *Client) Visibility(ctx context.Context) (public bool, err error) {
	var project struct {
		Visibility string `json:"visibility"`
	}
	_, err = c.call(ctx, http.MethodGet, c.project, nil, nil, &project)
	return project.Visibility == "public", c.wrapError(err, "cannot read the settings")
}
