package githubtest

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge"
)

type checkRun struct {
	forge.Check
	id                int64
	external          string
	text              string
	created, complete time.Time
}

// checkText is the body of a request that creates or updates a check run.
type checkText struct {
	Name        *string
	HeadSHA     string  `json:"head_sha"`
	ExternalID  *string `json:"external_id"`
	DetailsURL  *string `json:"details_url"`
	Status      *string
	Conclusion  *string
	StartedAt   *time.Time `json:"started_at"`
	CompletedAt *time.Time `json:"completed_at"`
	Output      *struct {
		Title, Summary, Text string
		Annotations          []struct {
			Path, Message, Title string
			Level                string `json:"annotation_level"`
			Line                 int    `json:"start_line"`
			EndLine              int    `json:"end_line"`
		}
	}
}

func (s *Server) serveChecks(q *parsedRequest) *response {
	switch {
	case q.is(http.MethodPost, "check-runs"):
		t, bad := read[checkText](q)
		if bad != nil {
			return bad
		}
		if t.Name == nil || len(t.HeadSHA) != 40 {
			return invalid("No commit found for SHA: " + t.HeadSHA)
		}
		k := &checkRun{id: s.id(), created: s.Now().UTC(), Check: forge.Check{SHA: t.HeadSHA, Status: forge.Queued}}
		k.Started = k.created
		s.setCheck(k, t)
		s.checks = append(s.checks, k)
		return reply(http.StatusCreated, s.checkShape(k))
	case q.is(http.MethodGet, "commits/*/check-runs"):
		return s.listChecks(q)
	case len(q.parts) < 2 || q.parts[0] != "check-runs":
		return nil
	}
	i := slices.IndexFunc(s.checks, func(k *checkRun) bool { return k.id == q.number(1) })
	if i < 0 {
		return nil
	}
	k := s.checks[i]
	switch {
	case q.is(http.MethodPatch, "check-runs/*"):
		t, bad := read[checkText](q)
		if bad != nil {
			return bad
		}
		s.setCheck(k, t)
		return reply(http.StatusOK, s.checkShape(k))
	case q.is(http.MethodGet, "check-runs/*"):
		return reply(http.StatusOK, s.checkShape(k))
	case q.is(http.MethodGet, "check-runs/*/annotations"):
		return page(q, k.Annotations, func(l []forge.Annotation) any { return annotationShapes(l) })
	}
	return nil
}

func (s *Server) listChecks(q *parsedRequest) *response {
	name, all := q.URL.Query().Get("check_name"), q.URL.Query().Get("filter") == "all"
	var found []object
	seen := map[string]bool{}
	for _, k := range slices.Backward(s.checks) {
		if k.SHA != q.parts[1] || name != "" && k.Name != name || !s.listed(k.created, time.Time{}) || !all && seen[k.Name] {
			continue
		}
		seen[k.Name] = true
		found = append(found, s.checkShape(k))
	}
	return page(q, found, func(l []object) any { return object{"total_count": len(found), "check_runs": l} })
}

func (s *Server) setCheck(k *checkRun, t checkText) {
	set := func(to, from *string) {
		if from != nil {
			*to = *from
		}
	}
	set(&k.Name, t.Name)
	set(&k.external, t.ExternalID)
	set(&k.URL, t.DetailsURL)
	if t.StartedAt != nil {
		k.Started = *t.StartedAt
	}
	if t.Status != nil {
		k.Status = forge.Status(*t.Status)
	}
	if t.Conclusion != nil {
		k.Status, k.Conclusion, k.complete = forge.Completed, forge.Conclusion(*t.Conclusion), s.Now().UTC()
	}
	if t.CompletedAt != nil {
		k.complete = *t.CompletedAt
	}
	if k.Status != forge.Completed {
		k.Conclusion, k.complete = "", time.Time{}
	}
	if t.Output != nil {
		k.Title, k.Summary, k.text = t.Output.Title, t.Output.Summary, t.Output.Text
		for _, a := range t.Output.Annotations {
			k.Annotations = append(k.Annotations, forge.Annotation{Path: a.Path, Line: a.Line, EndLine: a.EndLine, Level: forge.Level(a.Level), Title: a.Title, Message: a.Message})
		}
	}
}

func (s *Server) checkShape(k *checkRun) object {
	o := object{
		"id": k.id, "node_id": "CR", "head_sha": k.SHA, "name": k.Name, "external_id": k.external,
		"url":         fmt.Sprintf("%s/check-runs/%d", s.api(), k.id),
		"html_url":    fmt.Sprintf("%s/runs/%d", s.html(), k.id),
		"details_url": k.URL, "status": k.Status, "conclusion": nil,
		"started_at": stamp(k.Started), "completed_at": nil,
		"check_suite": object{"id": 1}, "app": s.app(), "pull_requests": []any{},
		"output": object{
			"title": k.Title, "summary": k.Summary, "text": k.text,
			"annotations_count": len(k.Annotations),
			"annotations_url":   fmt.Sprintf("%s/check-runs/%d/annotations", s.api(), k.id),
		},
	}
	if k.Status == forge.Completed {
		o["conclusion"], o["completed_at"] = k.Conclusion, stamp(k.complete)
	}
	return o
}

func annotationShapes(l []forge.Annotation) []object {
	out := []object{}
	for _, a := range l {
		out = append(out, object{
			"path": a.Path, "blob_href": "https://github.example/blob", "start_line": a.Line, "end_line": a.EndLine,
			"start_column": nil, "end_column": nil, "annotation_level": a.Level, "title": a.Title, "message": a.Message, "raw_details": nil,
		})
	}
	return out
}
