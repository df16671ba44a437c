package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	gh "github.com/google/go-github/v89/github"

	"github.com/goatnote-inc/pawl/internal/forge"
)

// maxReads is how often a writer reads the comments before it gives up.
//
// GitHub cannot update a comment only if it is unchanged, so two writers can undo each
// other's sections. Three rules make them converge anyway:
//
//  1. A write is sent within half of Settle after reading the comments it is based on;
//     otherwise they are read again. So no write is based on a state older than Settle.
//  2. After a write, the writer keeps reading until one comment that contains its section
//     stays unchanged for Settle. Every later write is then based on a state that includes
//     the section, and keeps it.
//  3. Of several comments the oldest is the report: the sections of the others are merged
//     into it before they are deleted.
const maxReads = 60

// Report writes a section of the report on a pull request and returns the report's URL;
// empty if there is no report and the section is quiet. It writes nothing if the section is
// already there.
func (c *Client) Report(ctx context.Context, pull int, s forge.Section) (string, error) {
	if !validKey(s.Key) {
		return "", fmt.Errorf("%q is not a valid section key", oneLine(s.Key))
	}
	ctx = c.withBudget(ctx)
	address, err := c.converge(ctx, pull, s)
	return address, c.wrapError(err, "cannot write the report on pull request %d", pull)
}

func (c *Client) converge(ctx context.Context, pull int, s forge.Section) (string, error) {
	me, err := c.ownAccount(ctx)
	if err != nil {
		return "", err
	}
	w := &writer{mine: newSection(s), quiet: s.Quiet}
	var still []found // the state before the last pause, if it was as required
	for range maxReads {
		if err := c.pace(ctx); err != nil { // before the read, because the state ages from then on
			return "", err
		}
		all, asOf, err := c.ownReports(ctx, pull, me)
		if err != nil {
			return "", err
		}
		do := w.next(all)
		if do.kind == full {
			return "", fmt.Errorf("%w: the report already has %d sections, the max", ErrInvalid, maxSections)
		}
		if do.kind == nothing {
			if !w.wrote || slices.Equal(all, still) {
				return do.url, nil
			}
			still = all
			if err := c.Sleep(ctx, c.Settle); err != nil {
				return "", err
			}
			continue
		}
		still = nil
		if w.wrote { // another writer is active: add jitter
			if err := c.Sleep(ctx, time.Duration(c.Random()*float64(c.Settle)/4)); err != nil {
				return "", err
			}
		}
		if do.kind != create && c.Now().Sub(asOf) > c.Settle/2 {
			continue
		}
		w.wrote = true
		if err := c.do(ctx, pull, do); err != nil && !shouldRetry(err) && !isTransient(err) {
			return "", err
		}
	}
	return "", fmt.Errorf("%w: after %d reads, other jobs are still writing it", ErrBusy, maxReads)
}

// isTransient reports whether reading again will explain an error: the comment to be written is
// gone because another writer merged it, or is being written.
func isTransient(err error) bool {
	code := status(err)
	return code == http.StatusConflict || code == http.StatusGone || code == http.StatusNotFound
}

// found is one of pawl's comments that is a report.
type found struct {
	id      int64
	body    string
	url     string
	updated time.Time
}

// ownReports returns the reports that this account wrote, oldest first. A list can lag behind, so
// the oldest, which is the one to write, is read on its own at a known time. The others
// need not be fresh: their writers have not settled yet.
func (c *Client) ownReports(ctx context.Context, pull int, me account) (all []found, asOf time.Time, err error) {
	comments, err := c.listComments(ctx, pull)
	if err != nil {
		return nil, asOf, err
	}
	comments = slices.DeleteFunc(comments, func(k *gh.IssueComment) bool {
		_, report := parse(k.GetBody())
		return !report || !me.wrote(k)
	})
	slices.SortFunc(comments, func(a, b *gh.IssueComment) int { return cmp.Compare(a.GetID(), b.GetID()) })
	for len(comments) > 0 {
		asOf = c.Now()
		fresh, _, err := c.api.Issues.GetComment(ctx, c.Repo.Owner, c.Repo.Name, comments[0].GetID())
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
		all = append(all, found{id: k.GetID(), body: normalize(k.GetBody()), url: k.GetHTMLURL(), updated: k.GetUpdatedAt().Time})
	}
	return all, asOf, nil
}

// action is the next step after a read.
type action struct {
	kind int
	id   int64
	body string
	url  string
}

const (
	nothing = iota
	create
	edit
	remove
	full
)

func (c *Client) do(ctx context.Context, pull int, a action) error {
	var err error
	switch a.kind {
	case create:
		_, _, err = c.api.Issues.CreateComment(ctx, c.Repo.Owner, c.Repo.Name, pull, &gh.IssueComment{Body: &a.body})
		if status(err) == http.StatusNotFound {
			return errors.Join(ErrGone, err) // no pull request: reading again would not help
		}
	case edit:
		_, _, err = c.api.Issues.EditComment(ctx, c.Repo.Owner, c.Repo.Name, a.id, &gh.IssueComment{Body: &a.body})
	case remove:
		_, err = c.api.Issues.DeleteComment(ctx, c.Repo.Owner, c.Repo.Name, a.id)
	}
	return err
}

// writer decides what to do about the current state. It is independent of time and GitHub.
type writer struct {
	mine  section
	quiet bool
	wrote bool
	old   []string // digests of this section from before the first write
}

func (w *writer) next(all []found) action {
	if len(all) == 0 {
		if w.quiet {
			return action{}
		}
		return action{kind: create, body: render([]section{w.mine})}
	}
	sections := merge(all)
	if !w.overtaken(sections) {
		sections = put(sections, w.mine)
	}
	if len(sections) > maxSections {
		return action{kind: full}
	}
	report := all[0]
	body := render(sections)
	switch {
	case strings.TrimSpace(body) != strings.TrimSpace(report.body):
		return action{kind: edit, id: report.id, body: body}
	case len(all) > 1:
		return action{kind: remove, id: all[len(all)-1].id}
	}
	return action{url: report.url}
}

// overtaken reports whether another writer wrote this section later, so that its version is
// newer. Seeing a version from before the first write only means that a slow writer undid
// it.
func (w *writer) overtaken(sections []section) bool {
	i := slices.IndexFunc(sections, func(s section) bool { return s.key == w.mine.key })
	if i < 0 || sections[i].digest == w.mine.digest {
		// The same section, possibly shortened since: do not restore what others cut.
		if i >= 0 {
			w.mine.text = sections[i].text
		}
		return false
	}
	if !w.wrote {
		w.old = append(w.old, sections[i].digest)
	}
	return !slices.Contains(w.old, sections[i].digest)
}

// merge collects the sections of all comments. For each key, the last written comment wins.
func merge(all []found) []section {
	byAge := slices.Clone(all)
	slices.SortStableFunc(byAge, func(a, b found) int { return a.updated.Compare(b.updated) })
	var sections []section
	for _, f := range byAge {
		own, _ := parse(f.body)
		for _, s := range own {
			sections = put(sections, s)
		}
	}
	return sections
}
