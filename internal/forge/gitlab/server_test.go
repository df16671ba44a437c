package gitlab_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

type object = map[string]any

const (
	token = "glpat-test-token"
	path  = "group/sub/kernels"
	botID = 7
)

// server is a GitLab with one project. It holds every request and every answer against testdata/api.yaml.
type server struct {
	t      *testing.T
	router routers.Router
	url    string

	mu       sync.Mutex
	notes    []object // of merge request 5
	merges   []object
	statuses []object
	files    map[string]map[string]string // by branch or commit
	members  []object
	broken   []int // statuses to answer with before anything else
	asked    []string
}

var started = time.Date(2026, 11, 18, 3, 0, 0, 0, time.UTC)

func newServer(t *testing.T) *server {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromFile("testdata/api.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	doc.Servers = openapi3.Servers{{URL: "/api/v4"}}
	s := &server{t: t, files: map[string]map[string]string{"main": {"a.txt": "old"}, sha("m"): {"a.txt": "old"}}}
	if s.router, err = gorillamux.NewRouter(doc); err != nil {
		t.Fatal(err)
	}
	s.merges = []object{mergeRequest(5, 1, "change", sha("h")), mergeRequest(6, 2, "change", sha("f"))}
	front := httptest.NewServer(s)
	t.Cleanup(front.Close)
	s.url = front.URL
	return s
}

func sha(letter string) string {
	return strings.Repeat(fmt.Sprintf("%02x", letter[0]), 20)
}

func mergeRequest(iid int, source int64, branch, head string) object {
	return object{
		"iid": iid, "state": "opened", "draft": false, "author": object{"id": 3, "username": "ada"}, "source_project_id": source, "target_project_id": 1,
		"source_branch": branch, "target_branch": "main", "sha": head, "diff_refs": object{"base_sha": sha("b"), "start_sha": sha("m"), "head_sha": head},
		"labels": []string{"kernels"}, "web_url": "https://gitlab.example/" + path + "/-/merge_requests/" + strconv.Itoa(iid),
	}
}

// ServeHTTP answers, and checks question and answer.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.Method+" "+r.URL.Path)
	if len(s.broken) > 0 {
		code := s.broken[0]
		s.broken = s.broken[1:]
		w.Header().Set("Retry-After", "1")
		http.Error(w, "out of order", code)
		return
	}
	if r.Header.Get("Private-Token") != token {
		http.Error(w, `{"message":"401 Unauthorized"}`, http.StatusUnauthorized)
		return
	}
	var in object
	if len(body) > 0 {
		if err := json.Unmarshal(body, &in); err != nil {
			s.t.Errorf("%s %s: %v", r.Method, r.URL, err)
		}
	}
	code, answer := s.answer(r, in)
	text, err := json.Marshal(answer)
	if err != nil {
		s.t.Error(err)
	}
	if answer == nil {
		text = nil
	}
	s.check(r, body, code, text)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(text)
}

func (s *server) check(r *http.Request, body []byte, code int, answer []byte) {
	in := r.Clone(r.Context())
	in.Body = io.NopCloser(bytes.NewReader(body))
	route, params, err := s.router.FindRoute(in)
	if err != nil {
		s.t.Errorf("%s %s is not described: %v", r.Method, r.URL, err)
		return
	}
	if code >= 400 {
		return
	}
	options := &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true}
	asked := &openapi3filter.RequestValidationInput{Request: in, PathParams: params, Route: route, Options: options}
	if err := openapi3filter.ValidateRequest(r.Context(), asked); err != nil {
		s.t.Errorf("%s %s: %v", r.Method, r.URL, err)
	}
	err = openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: asked, Status: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(answer)), Options: options,
	})
	if err != nil {
		s.t.Errorf("the answer to %s %s: %v", r.Method, r.URL, err)
	}
}

func missing() (int, any) { return http.StatusNotFound, object{"message": "404 Not found"} }

func (s *server) answer(r *http.Request, in object) (int, any) {
	rest, own := strings.CutPrefix(r.URL.EscapedPath(), "/api/v4/projects/"+strings.ReplaceAll(path, "/", "%2F"))
	parts := strings.Split(strings.Trim(rest, "/"), "/")
	switch {
	case r.URL.Path == "/api/v4/user":
		return http.StatusOK, object{"id": botID, "username": "project_1_bot"}
	case !own:
		return missing()
	case rest == "":
		return http.StatusOK, object{"id": 1, "visibility": "private"}
	case parts[0] == "merge_requests" && len(parts) > 2:
		return s.answerNotes(r, parts, in)
	case parts[0] == "merge_requests":
		return s.answerMerges(r, parts, in)
	case parts[0] == "statuses":
		for _, k := range s.statuses {
			if k["name"] == in["name"] && k["state"] == in["state"] {
				return http.StatusBadRequest, object{"message": "Cannot transition status via :run from :running"}
			}
		}
		s.statuses = append(s.statuses, in)
		return http.StatusCreated, object{"id": len(s.statuses), "status": in["state"], "name": in["name"]}
	case rest == "/members/all":
		return http.StatusOK, s.members
	case parts[0] == "repository":
		return s.answerRepository(r, parts[1:], in)
	case parts[0] == "pipelines", parts[0] == "jobs":
		return s.answerPipelines(r, parts)
	}
	return missing()
}

func (s *server) answerMerges(r *http.Request, parts []string, in object) (int, any) {
	if r.Method == http.MethodPost {
		m := mergeRequest(len(s.merges)+5, 1, in["source_branch"].(string), sha("n"))
		m["title"], m["draft"] = in["title"], strings.HasPrefix(in["title"].(string), "Draft: ")
		s.merges = append(s.merges, m)
		return http.StatusCreated, m
	}
	if len(parts) == 1 {
		branch := r.URL.Query().Get("source_branch")
		return http.StatusOK, slices.DeleteFunc(slices.Clone(s.merges), func(m object) bool { return m["source_branch"] != branch })
	}
	for _, m := range s.merges {
		if strconv.Itoa(m["iid"].(int)) == parts[1] {
			if r.Method == http.MethodPut {
				m["title"] = in["title"]
			}
			return http.StatusOK, m
		}
	}
	return missing()
}

func (s *server) answerNotes(r *http.Request, parts []string, in object) (int, any) {
	if parts[1] != "5" {
		return missing()
	}
	now := started.Add(time.Duration(len(s.asked)) * time.Second)
	if r.Method == http.MethodPost {
		n := object{"id": len(s.asked), "body": in["body"], "author": object{"id": botID, "username": "bot"}, "system": false, "created_at": now, "updated_at": now}
		s.notes = append(s.notes, n)
		return http.StatusCreated, n
	}
	if r.Method == http.MethodGet {
		return http.StatusOK, append([]object{}, s.notes...)
	}
	i := slices.IndexFunc(s.notes, func(n object) bool { return fmt.Sprint(n["id"]) == parts[3] })
	if i < 0 {
		return missing()
	}
	if r.Method == http.MethodDelete {
		s.notes = slices.Delete(s.notes, i, i+1)
		return http.StatusNoContent, nil
	}
	s.notes[i]["body"], s.notes[i]["updated_at"] = in["body"], now
	return http.StatusOK, s.notes[i]
}

func (s *server) answerRepository(r *http.Request, parts []string, in object) (int, any) {
	switch parts[0] {
	case "branches":
		if _, ok := s.files[parts[1]]; ok {
			return http.StatusOK, object{"name": parts[1], "commit": object{"id": sha("m")}}
		}
	case "files":
		if text, ok := s.files[r.URL.Query().Get("ref")][strings.ReplaceAll(parts[1], "%2F", "/")]; ok {
			return http.StatusOK, object{"file_path": parts[1], "size": len(text), "encoding": "base64", "content": base64.StdEncoding.EncodeToString([]byte(text))}
		}
	case "merge_base":
		return http.StatusOK, object{"id": sha("b")}
	case "commits":
		branch := in["branch"].(string)
		if s.files[branch] == nil {
			s.files[branch] = map[string]string{}
		}
		for _, a := range in["actions"].([]any) {
			do := a.(object)
			text, _ := base64.StdEncoding.DecodeString(fmt.Sprint(do["content"]))
			s.files[branch][do["file_path"].(string)] = string(text)
		}
		return http.StatusCreated, object{"id": sha("c")}
	}
	return missing()
}

func (s *server) answerPipelines(r *http.Request, parts []string) (int, any) {
	one := object{
		"id": 40, "project_id": 1, "sha": sha("h"), "ref": "main", "status": "success", "source": "push",
		"web_url": "https://gitlab.example/" + path + "/-/pipelines/40", "created_at": started,
	}
	job := object{"id": 400, "pipeline": object{"id": 40}, "created_at": started, "artifacts_file": object{"filename": "pawl-results.zip", "size": 5}}
	other := object{"id": 401, "pipeline": object{"id": 40}, "created_at": started, "artifacts_file": nil}
	switch {
	case len(parts) == 1 && parts[0] == "pipelines":
		return http.StatusOK, []object{one}
	case len(parts) == 1, len(parts) == 3 && parts[2] == "jobs":
		return http.StatusOK, []object{job, other}
	case len(parts) == 2 && parts[1] == "40":
		return http.StatusOK, one
	case len(parts) == 3 && parts[2] == "artifacts":
		return http.StatusOK, "zip"
	}
	return missing()
}
