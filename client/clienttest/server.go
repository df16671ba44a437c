// Package clienttest provides a fake pawld for tests of clients. It stores blobs and reports in memory by
// the rules of the API, and can be made to fail.
package clienttest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/client"
)

// Server is a fake server with one project.
type Server struct {
	*httptest.Server
	Project string
	Token   string // required bearer token; empty for none

	mu sync.Mutex
	// before may answer a request itself. after may drop the connection of a request that was processed but not
	// yet answered.
	before  func(http.ResponseWriter, *http.Request) bool
	after   func(*http.Request) bool
	blobs   map[string][]byte
	reports map[string]kept
	calls   []string
}

type kept struct {
	body    []byte
	receipt client.Receipt
}

// New starts a server. The caller must call Close.
func New(project, token string) *Server {
	s := &Server{Project: project, Token: token, blobs: map[string][]byte{}, reports: map[string]kept{}}
	mux := http.NewServeMux()
	mux.HandleFunc("HEAD /v1/projects/{project}/blobs/{digest}", s.headBlob)
	mux.HandleFunc("POST /v1/projects/{project}/blobs/{digest}", s.postBlob)
	mux.HandleFunc("POST /v1/projects/{project}/reports", s.postReport)
	s.Server = httptest.NewServer(s.guard(mux))
	return s
}

// Before lets f answer requests instead of the server. f reports whether it did.
func (s *Server) Before(f func(http.ResponseWriter, *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = f
}

// CutAfter drops the connection of processed requests for which f returns true.
func (s *Server) CutAfter(f func(*http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.after = f
}

// Reports returns the bodies of the stored reports, by key.
func (s *Server) Reports() map[string][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := map[string][]byte{}
	for key, k := range s.reports {
		list[key] = k.body
	}
	return list
}

// Blobs returns the digests of the stored blobs.
func (s *Server) Blobs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for d := range s.blobs {
		list = append(list, d)
	}
	slices.Sort(list)
	return list
}

// DeleteBlob deletes a blob, as garbage collection would.
func (s *Server) DeleteBlob(digest string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.blobs, digest)
}

// Calls returns all requests received, as "METHOD PATH".
func (s *Server) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.calls = append(s.calls, r.Method+" "+r.URL.Path)
		before, after := s.before, s.after
		s.mu.Unlock()
		if before != nil && before(w, r) {
			return
		}
		if s.Token != "" && r.Header.Get("Authorization") != "Bearer "+s.Token {
			Refuse(w, http.StatusUnauthorized, client.ProblemError{Detail: "wrong token"})
			return
		}
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		if after != nil && after(r) {
			panic(http.ErrAbortHandler)
		}
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
}

// Refuse responds with a problem.
func Refuse(w http.ResponseWriter, status int, p client.ProblemError) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	p.Status = status
	write(w, p)
}

func (s *Server) headBlob(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.blobs[r.PathValue("digest")]; !ok || r.PathValue("project") != s.Project {
		w.WriteHeader(http.StatusNotFound)
	}
}

func (s *Server) postBlob(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	sum := sha256.Sum256(body)
	if digest := r.PathValue("digest"); err != nil || hex.EncodeToString(sum[:]) != digest || r.ContentLength != int64(len(body)) {
		Refuse(w, http.StatusUnprocessableEntity, client.ProblemError{Detail: "the body does not match the digest"})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blobs[r.PathValue("digest")] = body
	w.WriteHeader(http.StatusCreated)
}

func (s *Server) postReport(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		Refuse(w, http.StatusBadRequest, client.ProblemError{Detail: "the body ended early"})
		return
	}
	report, err := client.Decode(body, time.Now())
	if err != nil {
		Refuse(w, http.StatusBadRequest, client.ProblemError{Detail: err.Error()})
		return
	}
	key := client.Key(report)
	if r.Header.Get("Idempotency-Key") != key {
		Refuse(w, http.StatusBadRequest, client.ProblemError{Detail: "the idempotency key does not match the run"})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var missing []string
	for _, b := range report.Blobs {
		if _, ok := s.blobs[b.Digest]; !ok {
			missing = append(missing, b.Digest)
		}
	}
	k, again := s.reports[key]
	switch {
	case again && !bytes.Equal(k.body, body):
		Refuse(w, http.StatusConflict, client.ProblemError{Detail: "run " + report.Run + " was already reported with different content"})
		return
	case !again && len(missing) > 0:
		Refuse(w, http.StatusUnprocessableEntity, client.ProblemError{Detail: "blobs are missing", Missing: missing})
		return
	case !again:
		n := int64(len(s.reports) + 1)
		k = kept{body, client.Receipt{
			Report: n, Run: report.Run, Received: time.Now().UTC(), Points: len(report.Points), Lane: client.Branch,
			URL: fmt.Sprintf("https://pawl.example/p/%s/runs/%d", s.Project, n),
		}}
		s.reports[key] = k
	}
	k.receipt.Again = again
	w.Header().Set("Content-Type", "application/json")
	if !again {
		w.WriteHeader(http.StatusCreated)
	}
	write(w, k.receipt)
}

// write encodes an answer that is always valid JSON. Write errors are ignored: the client is gone.
func write(w io.Writer, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	_, _ = w.Write(text)
}
