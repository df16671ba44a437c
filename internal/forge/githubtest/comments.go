package githubtest

import (
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/goatnote-inc/pawl/internal/forge"
)

type comment struct {
	forge.Comment
	pull             int
	updated, deleted time.Time
}

func (k *comment) public() forge.Comment {
	k.Edited = !k.updated.Equal(k.Created)
	return k.Comment
}

func (s *Server) newComment(pull int, author, body string) *comment {
	id, now := s.id(), s.Now().UTC()
	k := &comment{
		Comment: forge.Comment{
			ID: id, Author: author, Body: body, Created: now,
			URL: fmt.Sprintf("%s/pull/%d#issuecomment-%d", s.html(), pull, id),
		},
		pull: pull, updated: now,
	}
	s.comments = append(s.comments, k)
	return k
}

func (s *Server) serveComments(q *parsedRequest) *response {
	type text struct{ Body string }
	switch {
	case q.is(http.MethodGet, "issues/*/comments"):
		if s.pull(int(q.number(1))) == nil {
			return problem(http.StatusNotFound, "Not Found")
		}
		var all []object
		for _, k := range s.comments {
			if k.pull == int(q.number(1)) && s.listed(k.Created, k.deleted) {
				all = append(all, s.commentShape(k))
			}
		}
		return page(q, all, bare)
	case q.is(http.MethodPost, "issues/*/comments"):
		if s.pull(int(q.number(1))) == nil {
			return problem(http.StatusNotFound, "Not Found")
		}
		t, bad := read[text](q)
		if bad == nil {
			bad = tooLong(t.Body)
		}
		if bad != nil {
			return bad
		}
		return reply(http.StatusCreated, s.commentShape(s.newComment(int(q.number(1)), s.Login, t.Body)))
	case q.is(q.Method, "issues/comments/*"):
		return s.serveComment(q)
	}
	return nil
}

func (s *Server) serveComment(q *parsedRequest) *response {
	for _, k := range s.comments {
		if k.ID != q.number(2) || !k.deleted.IsZero() {
			continue
		}
		switch q.Method {
		case http.MethodPatch:
			t, bad := read[struct{ Body string }](q)
			if bad == nil {
				bad = tooLong(t.Body)
			}
			if bad != nil {
				return bad
			}
			k.Body, k.updated = t.Body, s.Now().UTC()
		case http.MethodDelete:
			k.deleted = s.Now().UTC()
			return &response{code: http.StatusNoContent}
		}
		return reply(http.StatusOK, s.commentShape(k))
	}
	return problem(http.StatusNotFound, "Not Found")
}

func tooLong(body string) *response {
	if n := utf8.RuneCountInString(body); n == 0 || n > 65_536 {
		return invalid("Body is too long (maximum is 65536 characters)")
	}
	return nil
}

// listed reports whether a list shows an item with these times of creation and deletion.
// Lists can lag behind.
func (s *Server) listed(created, deleted time.Time) bool {
	seen := s.Now().Add(-s.ListLag)
	return !created.After(seen) && (deleted.IsZero() || deleted.After(seen))
}

func (s *Server) commentShape(k *comment) object {
	o := object{
		"id": k.ID, "node_id": "IC", "body": k.Body, "html_url": k.URL,
		"url":                fmt.Sprintf("%s/issues/comments/%d", s.api(), k.ID),
		"issue_url":          fmt.Sprintf("%s/issues/%d", s.api(), k.pull),
		"user":               s.user(k.Author),
		"created_at":         stamp(k.Created),
		"updated_at":         stamp(k.updated),
		"author_association": "NONE",
	}
	if isBot(k.Author) {
		o["performed_via_github_app"] = s.app()
	}
	return o
}
