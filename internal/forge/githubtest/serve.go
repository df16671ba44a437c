package githubtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Fault is how a request fails.
type Fault struct {
	Status      int         // status to respond with instead; 0 cuts the connection
	Header      http.Header // of that response
	Body        string      // of that response; a short JSON if empty
	AfterEffect bool        // process the request, then fail
	Truncate    bool        // process the request, and send half of the response
	Twice       bool        // process the request twice, and respond normally to the second
	Delay       time.Duration
}

// Fault sets a function that injects faults. It is called before every request, the n-th
// from 1, and returns nil for no fault. It must not call the server.
func (s *Server) Fault(f func(r *http.Request, n int) *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if id, ok := strings.CutPrefix(r.URL.Path, "/_blob/"); ok {
		s.serveBlob(w, r, id)
		return
	}
	if s.serveGitHTTP(w, r) {
		return
	}
	r.URL.Path = strings.TrimPrefix(r.URL.Path, "/api/v3")
	r.URL.RawPath = strings.TrimPrefix(r.URL.RawPath, "/api/v3")
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, Request{Method: r.Method, Path: r.URL.Path, Body: string(body)})
	n := len(s.requests)
	var f *Fault
	if s.fault != nil {
		f = s.fault(r, n)
	}
	s.mu.Unlock()
	code := 0
	defer func() { // even if the connection is cut
		s.mu.Lock()
		s.requests[n-1].Status = code
		s.mu.Unlock()
	}()
	if f == nil {
		code = s.handle(r, body).send(w)
		return
	}
	time.Sleep(f.Delay)
	var done *response
	if f.AfterEffect || f.Truncate || f.Twice {
		done = s.handle(r, body)
	}
	switch {
	case f.Twice:
		code = s.handle(r, body).send(w)
	case f.Truncate:
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Content-Length", strconv.Itoa(len(done.body)+1))
		w.WriteHeader(done.code)
		_, _ = w.Write(done.body[:len(done.body)/2])
		panic(http.ErrAbortHandler)
	case f.Status == 0:
		panic(http.ErrAbortHandler)
	default:
		bad := &response{code: f.Status, header: f.Header.Clone(), body: []byte(f.Body)}
		if f.Body == "" {
			bad.body = fmt.Appendf(nil, `{"message":%q}`, http.StatusText(f.Status))
		}
		code = bad.send(w)
	}
}

// response is a response before it is sent.
type response struct {
	code         int
	header       http.Header
	body         []byte
	undocumented bool // GitHub really sends this, despite its description
}

func (a *response) send(w http.ResponseWriter) int {
	maps.Copy(w.Header(), a.header)
	if len(a.body) > 0 && w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
	}
	w.WriteHeader(a.code)
	_, _ = w.Write(a.body) //nolint:gosec // for tests, and JSON
	return a.code
}

// handle processes a request and validates request and response against the description.
func (s *Server) handle(r *http.Request, body []byte) *response {
	a := s.route(r, body)
	if s.validate != nil && r.URL.Path != "/graphql" && r.URL.Path != "/api/graphql" {
		for _, problem := range s.validate.check(r, body, a) {
			s.complain("%s %s: %s", r.Method, r.URL.Path, problem)
		}
	}
	return a
}

func (s *Server) route(r *http.Request, body []byte) *response {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if token != s.Token && token != s.ReadOnlyToken {
		return problem(http.StatusUnauthorized, "Bad credentials")
	}
	if strings.HasSuffix(r.URL.Path, "/graphql") {
		u := s.user(s.Login)
		return reply(http.StatusOK, object{"data": object{"viewer": object{"login": u["login"], "databaseId": u["id"]}}})
	}
	if token == s.ReadOnlyToken && r.Method != http.MethodGet {
		return problem(http.StatusForbidden, "Resource not accessible by integration")
	}
	path, ok := strings.CutPrefix(r.URL.Path, "/repos/"+s.Repo.String())
	if !ok {
		return problem(http.StatusNotFound, "Not Found")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q := &parsedRequest{Request: r, body: body, parts: strings.Split(strings.Trim(path, "/"), "/")}
	var handlers []func(*parsedRequest) *response
	switch q.parts[0] {
	case "":
		return reply(http.StatusOK, s.repository(s.RepoID))
	case "issues":
		handlers = append(handlers, s.serveComments)
	case "check-runs", "commits":
		handlers = append(handlers, s.serveChecks)
	case "pulls":
		handlers = append(handlers, s.servePulls)
	case "actions":
		handlers = append(handlers, s.serveActions)
	case "collaborators":
		handlers = append(handlers, s.servePermission)
	case "compare":
		handlers = append(handlers, s.serveCompare)
	case "contents", "git":
		handlers = append(handlers, s.serveGit)
	}
	for _, h := range handlers {
		if a := h(q); a != nil {
			return a
		}
	}
	return problem(http.StatusNotFound, "Not Found")
}

// parsedRequest is a parsed request.
type parsedRequest struct {
	*http.Request
	body  []byte
	parts []string // of the path below the repository
}

// is matches method and path, where "*" matches any part and the last may be "**".
func (q *parsedRequest) is(method, pattern string) bool {
	if q.Method != method {
		return false
	}
	want := strings.Split(pattern, "/")
	for i, p := range want {
		if p == "**" {
			return i < len(q.parts)
		}
		if i >= len(q.parts) || p != "*" && p != q.parts[i] {
			return false
		}
	}
	return len(want) == len(q.parts)
}

func (q *parsedRequest) number(i int) int64 {
	n, _ := strconv.ParseInt(q.parts[i], 10, 64)
	return n
}

func (q *parsedRequest) rest(i int) string { return strings.Join(q.parts[i:], "/") }

// read decodes the body.
func read[T any](q *parsedRequest) (T, *response) {
	var v T
	if err := json.NewDecoder(bytes.NewReader(q.body)).Decode(&v); err != nil {
		return v, problem(http.StatusBadRequest, "Problems parsing JSON")
	}
	return v, nil
}

type object = map[string]any

func reply(code int, v any) *response {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return problem(http.StatusInternalServerError, err.Error())
	}
	return &response{code: code, header: http.Header{}, body: b.Bytes()}
}

func problem(code int, message string) *response {
	return reply(code, object{"message": message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(code)})
}

// invalid returns a 422 response.
func invalid(message string) *response {
	return reply(http.StatusUnprocessableEntity, object{
		"message": "Validation Failed", "documentation_url": "https://docs.github.com/rest",
		"errors": []object{{"resource": "Thing", "code": "custom", "message": message}},
	})
}

// page returns the requested page of a list, with a link to the next one. Wrap builds the
// response.
func page[T any](q *parsedRequest, all []T, wrap func([]T) any) *response {
	per, _ := strconv.Atoi(q.URL.Query().Get("per_page"))
	if per <= 0 || per > 100 {
		per = 30
	}
	at, _ := strconv.Atoi(q.URL.Query().Get("page"))
	at = max(at, 1)
	from, to := min((at-1)*per, len(all)), min(at*per, len(all))
	some := append([]T{}, all[from:to]...)
	a := reply(http.StatusOK, wrap(some))
	if to < len(all) {
		next := *q.URL
		v := next.Query()
		v.Set("page", strconv.Itoa(at+1))
		next.RawQuery = v.Encode()
		a.header.Set("Link", fmt.Sprintf(`<http://%s%s>; rel="next"`, q.Host, next.RequestURI()))
	}
	return a
}

func bare[T any](l []T) any { return l }
