package githubtest

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge"
)

type pull struct {
	forge.Pull
	title, body string
	created     time.Time
}

func (s *Server) pull(number int) *pull {
	for _, p := range s.pulls {
		if p.Number == number {
			return p
		}
	}
	return nil
}

func (s *Server) servePulls(q *parsedRequest) *response {
	switch {
	case q.is(http.MethodGet, "pulls"):
		var found []*pull
		for _, p := range s.pulls {
			if matches(q, p, s.Repo.Owner) {
				found = append(found, p)
			}
		}
		a := page(q, found, func(l []*pull) any {
			out := []object{}
			for _, p := range l {
				out = append(out, s.pullShape(p))
			}
			return out
		})
		for _, p := range found {
			a.undocumented = a.undocumented || p.HeadRepo == 0
		}
		return a
	case q.is(http.MethodPost, "pulls"):
		return s.openPull(q)
	case q.is(http.MethodGet, "pulls/*"), q.is(http.MethodPatch, "pulls/*"):
		p := s.pull(int(q.number(1)))
		if p == nil {
			return nil
		}
		if q.Method == http.MethodPatch {
			t, bad := read[struct{ Title, Body, State *string }](q)
			if bad != nil {
				return bad
			}
			if t.Title != nil {
				p.title = *t.Title
			}
			if t.Body != nil {
				p.body = *t.Body
			}
			if t.State != nil {
				p.Open = *t.State == "open"
			}
		}
		a := reply(http.StatusOK, s.pullShape(p))
		a.undocumented = p.HeadRepo == 0 // GitHub sends null, which its description does not mention
		return a
	}
	return nil
}

func matches(q *parsedRequest, p *pull, owner string) bool {
	v := q.URL.Query()
	state := v.Get("state")
	if p.Open == (state == "closed") && state != "all" {
		return false
	}
	head := v.Get("head")
	return head == "" || !p.Fork && head == owner+":"+p.HeadBranch
}

func (s *Server) openPull(q *parsedRequest) *response {
	t, bad := read[struct {
		Title, Head, Base, Body string
		Draft                   bool
	}](q)
	if bad != nil {
		return bad
	}
	head, ok := s.git.branches[strings.TrimPrefix(t.Head, s.Repo.Owner+":")]
	base, known := s.git.branches[t.Base]
	if !ok || !known {
		return invalid("head or base is not a branch")
	}
	for _, p := range s.pulls {
		if p.Open && !p.Fork && p.HeadBranch == t.Head && p.BaseBranch == t.Base {
			return invalid("A pull request already exists for " + s.Repo.Owner + ":" + t.Head + ".")
		}
	}
	p := &pull{
		Pull: forge.Pull{
			Number: len(s.pulls) + 1, Open: true, Draft: t.Draft, Author: s.Login, HeadRepo: s.RepoID,
			HeadBranch: t.Head, HeadSHA: head, BaseBranch: t.Base, BaseSHA: base,
		},
		title: t.Title, body: t.Body, created: s.Now(),
	}
	p.URL = s.html() + fmt.Sprintf("/pull/%d", p.Number)
	s.pulls = append(s.pulls, p)
	return reply(http.StatusCreated, s.pullShape(p))
}

func (s *Server) pullShape(p *pull) object {
	self := fmt.Sprintf("%s/pulls/%d", s.api(), p.Number)
	link := object{"href": self}
	o := object{
		"id": 70_000 + p.Number, "node_id": "PR", "number": p.Number, "title": p.title, "body": p.body,
		"state": "closed", "draft": p.Draft, "locked": false, "labels": []object{},
		"url": self, "html_url": p.URL, "diff_url": p.URL + ".diff", "patch_url": p.URL + ".patch",
		"issue_url": self, "comments_url": self, "commits_url": self, "review_comment_url": self,
		"review_comments_url": self, "statuses_url": self,
		"_links": object{
			"comments": link, "commits": link, "statuses": link, "html": link,
			"issue": link, "review_comments": link, "review_comment": link, "self": link,
		},
		"user": s.user(p.Author), "assignee": nil, "milestone": nil, "author_association": "NONE", "auto_merge": nil,
		"merge_commit_sha": nil, "merged_at": nil, "closed_at": nil, "merged": false, "merged_by": nil,
		"created_at": stamp(p.created), "updated_at": stamp(p.created),
		"additions": 1, "deletions": 1, "changed_files": 1, "comments": 0, "commits": 1, "review_comments": 0,
		"mergeable": true, "mergeable_state": "clean", "maintainer_can_modify": false,
		"head": object{"label": p.HeadBranch, "ref": p.HeadBranch, "sha": p.HeadSHA, "repo": nil, "user": s.user(p.Author)},
		"base": object{"label": p.BaseBranch, "ref": p.BaseBranch, "sha": p.BaseSHA, "repo": s.repository(s.RepoID), "user": s.user(s.Repo.Owner)},
	}
	if p.Open {
		o["state"] = "open"
	}
	if head, ok := o["head"].(object); ok && p.HeadRepo != 0 {
		head["repo"] = s.repository(p.HeadRepo)
	}
	var labels []object
	for i, l := range p.Labels {
		labels = append(labels, object{"id": i + 1, "node_id": "LA", "url": self, "name": l, "description": nil, "color": "cccccc", "default": false})
	}
	if labels != nil {
		o["labels"] = labels
	}
	return o
}
