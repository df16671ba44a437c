package githubtest

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge"
)

type artifact struct {
	forge.Artifact
	zip []byte
}

type job struct {
	id, run int64
	status  string
	labels  []string
	created time.Time
}

func (s *Server) serveActions(q *parsedRequest) *response {
	switch {
	case q.is(http.MethodGet, "actions/runs/*"):
		for _, r := range s.runs {
			if r.ID == q.number(2) {
				return reply(http.StatusOK, s.runShape(r))
			}
		}
	case q.is(http.MethodGet, "actions/runs"), q.is(http.MethodGet, "actions/workflows/*/runs"):
		return s.listRuns(q)
	case q.is(http.MethodGet, "actions/runs/*/artifacts"), q.is(http.MethodGet, "actions/artifacts"):
		return s.listArtifacts(q)
	case q.is(http.MethodGet, "actions/artifacts/*/zip"):
		for _, a := range s.artifacts {
			if a.ID != q.number(2) {
				continue
			}
			if a.Expired {
				return problem(http.StatusGone, "Artifact has expired")
			}
			return &response{code: http.StatusFound, header: http.Header{
				"Location": {fmt.Sprintf("%s/_blob/%d?sig=%s", s.URL, a.ID, hash(s.Token))},
			}}
		}
	case q.is(http.MethodGet, "actions/runs/*/jobs"):
		var all []object
		for _, j := range s.jobs {
			if j.run == q.number(2) {
				all = append(all, s.jobShape(j))
			}
		}
		return page(q, all, func(l []object) any { return object{"total_count": len(all), "jobs": l} })
	}
	return nil
}

// serveBlob is the storage host of artifacts. It is a different host, which must not
// receive the token.
func (s *Server) serveBlob(w http.ResponseWriter, r *http.Request, id string) {
	if r.Header.Get("Authorization") != "" {
		s.complain("the token was sent to the artifact store")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, Request{Method: r.Method, Path: r.URL.Path, Status: http.StatusOK})
	var f *Fault
	if s.fault != nil {
		f = s.fault(r, len(s.requests))
	}
	if r.URL.Query().Get("sig") != hash(s.Token) {
		http.Error(w, "no", http.StatusForbidden)
		return
	}
	for _, a := range s.artifacts {
		if strconv.FormatInt(a.ID, 10) != id {
			continue
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(a.zip)))
		if f != nil {
			if f.Status != 0 {
				w.Header().Del("Content-Length")
				http.Error(w, "fault", f.Status)
				return
			}
			_, _ = w.Write(a.zip[:len(a.zip)/2])
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write(a.zip)
		return
	}
	http.NotFound(w, r)
}

func (s *Server) listRuns(q *parsedRequest) *response {
	v := q.URL.Query()
	since, _ := time.Parse(time.RFC3339, strings.TrimPrefix(v.Get("created"), ">="))
	var all []object
	for _, r := range slices.Backward(s.runs) {
		file := q.parts[len(q.parts)-2]
		if q.parts[1] == "workflows" && path.Base(r.Workflow) != file ||
			v.Get("head_sha") != "" && r.Head.SHA != v.Get("head_sha") ||
			v.Get("status") != "" && r.Status != v.Get("status") ||
			v.Get("event") != "" && r.Event != v.Get("event") ||
			r.Created.Before(since) {
			continue
		}
		all = append(all, s.runShape(r))
	}
	return page(q, all, func(l []object) any { return object{"total_count": len(all), "workflow_runs": l} })
}

func (s *Server) listArtifacts(q *parsedRequest) *response {
	var all []object
	for _, a := range slices.Backward(s.artifacts) {
		if q.parts[1] == "runs" && a.Run != q.number(2) {
			continue
		}
		if name := q.URL.Query().Get("name"); name != "" && a.Name != name {
			continue
		}
		self := fmt.Sprintf("%s/actions/artifacts/%d", s.api(), a.ID)
		all = append(all, object{
			"id": a.ID, "node_id": "AR", "name": a.Name, "size_in_bytes": a.Size, "url": self, "archive_download_url": self + "/zip",
			"expired": a.Expired, "created_at": stamp(a.Created), "updated_at": stamp(a.Created), "expires_at": stamp(a.Created.AddDate(0, 0, 30)),
			"workflow_run": object{"id": a.Run, "repository_id": s.RepoID, "head_repository_id": s.RepoID},
		})
	}
	return page(q, all, func(l []object) any { return object{"total_count": len(all), "artifacts": l} })
}

func (s *Server) runShape(r forge.Run) object {
	self := fmt.Sprintf("%s/actions/runs/%d", s.api(), r.ID)
	o := object{
		"id": r.ID, "node_id": "WR", "name": "run", "head_branch": r.Head.Branch, "head_sha": r.Head.SHA, "run_number": 1, "run_attempt": r.Attempt,
		"display_title": "A change", "event": r.Event, "status": nil, "conclusion": nil, "path": r.Workflow, "workflow_id": 1,
		"created_at": stamp(r.Created), "updated_at": stamp(r.Created), "html_url": r.URL, "url": self,
		"jobs_url": self, "logs_url": self, "check_suite_url": self, "cancel_url": self, "rerun_url": self, "artifacts_url": self, "workflow_url": self,
		"pull_requests": []any{}, "head_commit": nil,
		"head_repository": s.repository(r.Head.Repo), "repository": s.repository(s.RepoID),
	}
	if r.Status != "" {
		o["status"] = r.Status
	}
	if r.Conclusion != "" {
		o["conclusion"] = r.Conclusion
	}
	return o
}

func (s *Server) jobShape(j job) object {
	self := fmt.Sprintf("%s/actions/jobs/%d", s.api(), j.id)
	return object{
		"id": j.id, "node_id": "JO", "run_id": j.run, "run_url": self, "head_sha": hash("head"), "workflow_name": "gate", "head_branch": "topic",
		"name": "measure", "url": self, "html_url": self, "status": j.status, "conclusion": nil,
		"started_at": stamp(j.created), "created_at": stamp(j.created), "completed_at": nil,
		"check_run_url": self, "labels": append([]string{}, j.labels...),
		"runner_id": nil, "runner_name": nil, "runner_group_id": nil, "runner_group_name": nil,
	}
}

func (s *Server) servePermission(q *parsedRequest) *response {
	if !q.is(http.MethodGet, "collaborators/*/permission") {
		return nil
	}
	role, ok := s.perms[strings.ToLower(q.parts[1])]
	if !ok {
		return nil
	}
	old := map[forge.Permission]forge.Permission{forge.Triage: forge.Read, forge.Maintain: forge.Write}[role]
	if old == "" {
		old = role
	}
	user := s.user(q.parts[1])
	user["role_name"] = role
	return reply(http.StatusOK, object{"permission": old, "role_name": role, "user": user})
}
