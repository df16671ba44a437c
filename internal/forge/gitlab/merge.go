package gitlab

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/sections"
)

type mergeRequest struct {
	IID     int    `json:"iid"`
	State   string `json:"state"`
	Draft   bool   `json:"draft"`
	Author  user   `json:"author"`
	Source  int64  `json:"source_project_id"` // null if that project is gone
	Target  int64  `json:"target_project_id"`
	Branch  string `json:"source_branch"`
	Base    string `json:"target_branch"`
	SHA     string `json:"sha"`
	DiffRef struct {
		Start string `json:"start_sha"`
	} `json:"diff_refs"` // null in lists
	Labels []string `json:"labels"`
	URL    string   `json:"web_url"`
}

type user struct {
	ID       int64  `json:"id"`
	Username string `json:"username"`
}

func (m mergeRequest) pull() forge.Pull {
	return forge.Pull{
		Number: m.IID, Open: m.State == "opened" || m.State == "locked", Draft: m.Draft, Author: m.Author.Username,
		HeadRepo: m.Source, HeadBranch: m.Branch, HeadSHA: m.SHA, BaseBranch: m.Base, BaseSHA: m.DiffRef.Start,
		Fork: m.Source != m.Target, Labels: m.Labels, URL: m.URL,
	}
}

// Pull returns one merge request.
func (c *Client) Pull(ctx context.Context, number int) (forge.Pull, error) {
	var m mergeRequest
	_, err := c.call(ctx, http.MethodGet, c.mergeRequest(number), nil, nil, &m)
	return m.pull(), c.wrapError(err, "cannot read merge request %d", number)
}

func (c *Client) mergeRequest(number int) string {
	return c.project + "/merge_requests/" + strconv.Itoa(number)
}

// PullsOf returns the open merge requests with exactly that head.
func (c *Client) PullsOf(ctx context.Context, head forge.Head) ([]forge.Pull, error) {
	open, err := c.openPulls(ctx, head.Branch)
	if err != nil {
		return nil, c.wrapError(err, "cannot list the open merge requests")
	}
	return slices.DeleteFunc(open, func(p forge.Pull) bool {
		return p.HeadRepo == 0 || p.HeadRepo != head.Repo || p.HeadBranch != head.Branch || p.HeadSHA != head.SHA
	}), nil
}

func (c *Client) openPulls(ctx context.Context, branch string) ([]forge.Pull, error) {
	found, err := list[mergeRequest](ctx, c, 50, c.project+"/merge_requests", url.Values{"state": {"opened"}, "source_branch": {branch}})
	var open []forge.Pull
	for _, m := range found {
		open = append(open, m.pull())
	}
	return open, err
}

// OpenDraft opens a merge request as a draft, or updates the open one of that branch.
func (c *Client) OpenDraft(ctx context.Context, d forge.Draft) (forge.Pull, error) {
	title := "Draft: " + d.Title
	for range 10 {
		open, err := c.openPulls(ctx, d.Head)
		if err != nil {
			return forge.Pull{}, c.wrapError(err, "cannot list the merge requests of branch %s", d.Head)
		}
		open = slices.DeleteFunc(open, func(p forge.Pull) bool { return p.Fork || p.HeadBranch != d.Head })
		var m mergeRequest
		if len(open) > 0 {
			_, err = c.call(ctx, http.MethodPut, c.mergeRequest(open[0].Number), nil, map[string]any{"title": title, "description": d.Body}, &m)
		} else {
			_, err = c.call(ctx, http.MethodPost, c.project+"/merge_requests", nil,
				map[string]any{"source_branch": d.Head, "target_branch": d.Base, "title": title, "description": d.Body}, &m)
		}
		if !errors.Is(err, errUnknown) {
			return m.pull(), c.wrapError(err, "cannot open a draft merge request from %s to %s", d.Head, d.Base)
		}
	}
	return forge.Pull{}, c.wrapError(ErrBusy, "cannot open a draft merge request from %s to %s", d.Head, d.Base)
}

type note struct {
	ID      int64     `json:"id"`
	Body    string    `json:"body"`
	Author  user      `json:"author"`
	System  bool      `json:"system"`
	Created time.Time `json:"created_at"`
	Updated time.Time `json:"updated_at"`
}

// maxNotes is the number of pages of notes that are read.
const maxNotes = 50

func (c *Client) notes(ctx context.Context, pull int) ([]note, error) {
	return list[note](ctx, c, maxNotes, c.mergeRequest(pull)+"/notes", url.Values{"sort": {"asc"}, "order_by": {"created_at"}})
}

// Comments returns the notes of users on a merge request, oldest first.
func (c *Client) Comments(ctx context.Context, pull int) ([]forge.Comment, error) {
	found, err := c.notes(ctx, pull)
	if err != nil {
		return nil, c.wrapError(err, "cannot list the notes on merge request %d", pull)
	}
	var all []forge.Comment
	for _, n := range found {
		if !n.System {
			all = append(all, forge.Comment{ID: n.ID, Author: n.Author.Username, Body: n.Body, Created: n.Created, Edited: !n.Updated.Equal(n.Created), URL: c.noteURL(pull, n.ID)})
		}
	}
	return all, nil
}

// noteURL returns the address of a note. GitLab does not say it.
func (c *Client) noteURL(pull int, id int64) string {
	web, _, _ := strings.Cut(c.BaseURL, "/api/")
	return web + "/" + c.Repo.String() + "/-/merge_requests/" + strconv.Itoa(pull) + "#note_" + strconv.FormatInt(id, 10)
}

// Report writes a section of the report on a merge request and returns the report's URL; empty if there is no report and the
// section is quiet.
func (c *Client) Report(ctx context.Context, pull int, s forge.Section) (string, error) {
	if err := sections.CheckKey(s.Key); err != nil {
		return "", err
	}
	me, err := c.account(ctx)
	if err != nil {
		return "", c.wrapError(err, "cannot look up the token's account for the notes")
	}
	address, err := sections.Write(ctx, &thread{c, pull, me}, sections.Clock{Now: c.Now, Sleep: c.Sleep, Random: c.Random, Settle: c.Settle}, s)
	switch {
	case errors.Is(err, sections.ErrFull):
		err = errors.Join(ErrInvalid, err)
	case errors.Is(err, sections.ErrBusy):
		err = errors.Join(ErrBusy, err)
	}
	return address, c.wrapError(err, "cannot write the report on merge request %d", pull)
}

// account returns the number of the token's account. Any user can write a note that looks like the report, so only notes by this
// account count.
func (c *Client) account(ctx context.Context) (int64, error) {
	c.mu.Lock()
	known := c.me
	c.mu.Unlock()
	if known != 0 {
		return known, nil
	}
	var me user
	if _, err := c.call(ctx, http.MethodGet, "/user", nil, nil, &me); err != nil {
		return 0, err
	}
	c.mu.Lock()
	c.me = me.ID
	c.mu.Unlock()
	return me.ID, nil
}

// thread is the notes of one merge request.
type thread struct {
	*Client
	pull int
	me   int64
}

// Pace implements sections.Thread. GitLab asks for no pause between writes.
func (t *thread) Pace(context.Context) error { return nil }

// Own implements sections.Thread.
func (t *thread) Own(ctx context.Context) (all []sections.Note, asOf time.Time, err error) {
	asOf = t.Now()
	found, err := t.notes(ctx, t.pull)
	if err != nil {
		return nil, asOf, err
	}
	for _, n := range found {
		if n.Author.ID == t.me && !n.System && sections.IsReport(n.Body) {
			all = append(all, sections.Note{ID: n.ID, Body: sections.Normalize(n.Body), URL: t.noteURL(t.pull, n.ID), Updated: n.Updated})
		}
	}
	slices.SortFunc(all, func(a, b sections.Note) int { return cmp.Compare(a.ID, b.ID) })
	return all, asOf, nil
}

// Do implements sections.Thread.
func (t *thread) Do(ctx context.Context, a sections.Action) error {
	at := t.mergeRequest(t.pull) + "/notes"
	one := at + "/" + strconv.FormatInt(a.ID, 10)
	var err error
	switch a.Kind {
	case sections.Create:
		_, err = t.call(ctx, http.MethodPost, at, nil, map[string]any{"body": a.Body}, nil)
		if status(err) == http.StatusNotFound {
			return err // no merge request: reading again would not help
		}
	case sections.Edit:
		_, err = t.call(ctx, http.MethodPut, one, nil, map[string]any{"body": a.Body}, nil)
	case sections.Remove:
		_, err = t.call(ctx, http.MethodDelete, one, nil, nil, nil)
	}
	if errors.Is(err, errUnknown) || errors.Is(err, forge.ErrNotFound) || status(err) == http.StatusConflict {
		return nil
	}
	return err
}
