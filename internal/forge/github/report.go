package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	gh "github.com/google/go-github/v89/github"

	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/sections"
)

// Report writes a section of the report on a pull request and returns the report's URL;
// empty if there is no report and the section is quiet. It writes nothing if the section is
// already there.
func (c *Client) Report(ctx context.Context, pull int, s forge.Section) (string, error) {
	if err := sections.CheckKey(s.Key); err != nil {
		return "", err
	}
	ctx = c.withBudget(ctx)
	address, err := c.writeReport(ctx, pull, s)
	return address, c.wrapError(err, "cannot write the report on pull request %d", pull)
}

func (c *Client) writeReport(ctx context.Context, pull int, s forge.Section) (string, error) {
	me, err := c.ownAccount(ctx)
	if err != nil {
		return "", err
	}
	address, err := sections.Write(ctx, &thread{c, pull, me}, sections.Clock{Now: c.Now, Sleep: c.Sleep, Random: c.Random, Settle: c.Settle}, s)
	switch {
	case errors.Is(err, sections.ErrFull):
		err = fmt.Errorf("%w: %w", ErrInvalid, err)
	case errors.Is(err, sections.ErrBusy):
		err = fmt.Errorf("%w: %w", ErrBusy, err)
	}
	return address, err
}

// thread is the comments of one pull request.
type thread struct {
	*Client
	pull int
	me   account
}

// Pace implements sections.Thread.
func (t *thread) Pace(ctx context.Context) error { return t.pace(ctx) }

// isTransient reports whether reading again will explain an error: the comment to be written is
// gone because another writer merged it, or is being written.
func isTransient(err error) bool {
	code := status(err)
	return code == http.StatusConflict || code == http.StatusGone || code == http.StatusNotFound
}

// Own implements sections.Thread. A list can lag behind, so the oldest, which is the one to
// write, is read on its own at a known time. The others need not be fresh: their writers have
// not settled yet.
func (t *thread) Own(ctx context.Context) (all []sections.Note, asOf time.Time, err error) {
	comments, err := t.listComments(ctx, t.pull)
	if err != nil {
		return nil, asOf, err
	}
	comments = slices.DeleteFunc(comments, func(k *gh.IssueComment) bool {
		return !sections.IsReport(k.GetBody()) || !t.me.wrote(k)
	})
	slices.SortFunc(comments, func(a, b *gh.IssueComment) int { return cmp.Compare(a.GetID(), b.GetID()) })
	for len(comments) > 0 {
		asOf = t.Now()
		fresh, _, err := t.api.Issues.GetComment(ctx, t.Repo.Owner, t.Repo.Name, comments[0].GetID())
		if code := status(err); code == http.StatusNotFound || code == http.StatusGone {
			comments = comments[1:] // deleted meanwhile
			continue
		}
		if err != nil {
			return nil, asOf, err
		}
		comments[0] = fresh
		break
	}
	for _, k := range comments {
		all = append(all, sections.Note{ID: k.GetID(), Body: sections.Normalize(k.GetBody()), URL: k.GetHTMLURL(), Updated: k.GetUpdatedAt().Time})
	}
	return all, asOf, nil
}

// Do implements sections.Thread.
func (t *thread) Do(ctx context.Context, a sections.Action) error {
	var err error
	switch a.Kind {
	case sections.Create:
		_, _, err = t.api.Issues.CreateComment(ctx, t.Repo.Owner, t.Repo.Name, t.pull, &gh.IssueComment{Body: &a.Body})
		if status(err) == http.StatusNotFound {
			return errors.Join(ErrGone, err) // no pull request: reading again would not help
		}
	case sections.Edit:
		_, _, err = t.api.Issues.EditComment(ctx, t.Repo.Owner, t.Repo.Name, a.ID, &gh.IssueComment{Body: &a.Body})
	case sections.Remove:
		_, err = t.api.Issues.DeleteComment(ctx, t.Repo.Owner, t.Repo.Name, a.ID)
	}
	if shouldRetry(err) || isTransient(err) {
		return nil
	}
	return err
}
