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

// GitHub cannot change a comment only if it is still what was read, so two writers can
// undo each other's sections. Three rules make them converge without it:
//
//  1. A write is sent within half of Settle after the comments it is based on were read,
//     or there is another look first. So no write is based on anything older than Settle.
//  2. Who has written looks again until it sees one comment with its section in it stay
//     the same for Settle. Every later write is then based on a look that saw the section,
//     and keeps it.
//  3. Of several comments the oldest is the report: the others' sections go into it
//     before they are deleted.
const maxLooks = 60

// Report writes a section of the report on a pull request, and returns the report's
// address; none where there is none and the section is quiet. It writes nothing where
// the section stands there already.
func (c *Client) Report(ctx context.Context, pull int, s forge.Section) (string, error) {
	if !validKey(s.Key) {
		return "", fmt.Errorf("%q is no key of a section", oneLine(s.Key))
	}
	ctx = c.begin(ctx)
	address, err := c.converge(ctx, pull, s)
	return address, c.explain(err, "write the report on pull request %d", pull)
}

func (c *Client) converge(ctx context.Context, pull int, s forge.Section) (string, error) {
	me, err := c.me(ctx)
	if err != nil {
		return "", err
	}
	w := &writer{mine: newSection(s), quiet: s.Quiet}
	var still []found // what was seen before the last rest, if it was as it should be
	for range maxLooks {
		if err := c.pace(ctx); err != nil { // before the look: what it sees ages from then
			return "", err
		}
		all, asOf, err := c.ours(ctx, pull, me)
		if err != nil {
			return "", err
		}
		do := w.next(all)
		if do.kind == full {
			return "", fmt.Errorf("%w: the report has %d sections, the most there can be", ErrInvalid, maxSections)
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
		if w.wrote { // somebody writes at the same time: fall out of step
			if err := c.Sleep(ctx, time.Duration(c.Random()*float64(c.Settle)/4)); err != nil {
				return "", err
			}
		}
		if do.kind != create && c.Now().Sub(asOf) > c.Settle/2 {
			continue
		}
		w.wrote = true
		if err := c.do(ctx, pull, do); err != nil && !again(err) && !passing(err) {
			return "", err
		}
	}
	return "", fmt.Errorf("%w: after %d looks others are still writing it", ErrBusy, maxLooks)
}

// passing holds for answers that another look explains: what was to be written is
// gone, because another writer merged it, or is being written.
func passing(err error) bool {
	code := status(err)
	return code == http.StatusConflict || code == http.StatusGone || code == http.StatusNotFound
}

// found is a comment of ours that is a report.
type found struct {
	id      int64
	body    string
	url     string
	updated time.Time
}

// ours lists the comments that are reports and that we wrote, the oldest first. A list
// can be behind, so the oldest, which is the one to write, is read by itself, at a time.
// The others need not be fresh: whoever wrote one of them has not settled yet.
func (c *Client) ours(ctx context.Context, pull int, me person) (all []found, asOf time.Time, err error) {
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
			comments = comments[1:] // deleted since
			continue
		}
		if err != nil {
			return nil, asOf, err
		}
		comments[0] = fresh
		break
	}
	for _, k := range comments {
		all = append(all, found{id: k.GetID(), body: normal(k.GetBody()), url: k.GetHTMLURL(), updated: k.GetUpdatedAt().Time})
	}
	return all, asOf, nil
}

// action is what one look leads to.
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
			return errors.Join(ErrGone, err) // no pull request: another look would not explain it
		}
	case edit:
		_, _, err = c.api.Issues.EditComment(ctx, c.Repo.Owner, c.Repo.Name, a.id, &gh.IssueComment{Body: &a.body})
	case remove:
		_, err = c.api.Issues.DeleteComment(ctx, c.Repo.Owner, c.Repo.Name, a.id)
	}
	return err
}

// writer decides what to do about what it sees. It knows nothing of time or GitHub.
type writer struct {
	mine  section
	quiet bool
	wrote bool
	old   []string // digests of our section that were there before we wrote it
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

// overtaken holds when somebody wrote our section after us: that is the newer one. To
// see what was there before we wrote means only that a slow writer undid us.
func (w *writer) overtaken(sections []section) bool {
	i := slices.IndexFunc(sections, func(s section) bool { return s.key == w.mine.key })
	if i < 0 || sections[i].digest == w.mine.digest {
		// Ours, perhaps shortened since: what others cut is not made whole again.
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

// merge collects the sections of all comments; of a key, that of the comment written last.
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
