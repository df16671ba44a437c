// Package githubtest is a fake GitHub for tests: real HTTP on loopback, with state and
// injected faults. It validates traffic against GitHub's own API description if
// PAWL_GITHUB_API names that file (scripts/github-api fetches it). It implements the part
// of the API that pawl uses. It must not know what pawl writes there.
package githubtest

import (
	"crypto/sha1" //nolint:gosec // commit hashes, as in git
	"encoding/hex"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/cgi" //nolint:gosec // for tests, with a Go that is not vulnerable
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge"
)

// Server is a fake GitHub with one repository. Set its fields before the first request.
type Server struct {
	URL           string // of the API, as in GITHUB_API_URL; URL+"/api/v3" works as well
	Repo          forge.Repo
	RepoID        int64
	Token         string // full access
	ReadOnlyToken string // the token of a pull request from a fork: writes are refused
	Login         string // account of the tokens

	Now     func() time.Time
	ListLag time.Duration // delay until created or deleted items show in lists

	http     *httptest.Server
	validate *validator
	complain func(format string, args ...any)

	mu       sync.Mutex
	fault    func(r *http.Request, n int) *Fault
	requests []Request
	lastID   int64

	public    bool
	comments  []*comment
	checks    []*checkRun
	pulls     []*pull
	runs      []forge.Run
	jobs      []job
	artifacts []artifact
	perms     map[string]forge.Permission
	git       gitStore
	common    map[string]string // merge bases

	gitHTTP *cgi.Handler // for git; see ServeGit
}

// Request is a received request and its response status.
type Request struct {
	Method, Path string
	Status       int    // 0 if the connection was cut
	Body         string // of the request
}

// New starts a server that is closed at the end of the test. Traffic that violates GitHub's
// API description fails the test.
func New(t testing.TB) *Server {
	t.Helper()
	s, err := Listen("127.0.0.1:0", t.Errorf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Listen starts a server outside a test, on a loopback address. It calls complain for
// requests and responses that GitHub's description does not allow.
func Listen(addr string, complain func(format string, args ...any)) (*Server, error) {
	v, err := loadValidator()
	if err != nil {
		return nil, err
	}
	s := &Server{
		Repo: forge.Repo{Owner: "octo", Name: "kernels"}, RepoID: 1001,
		Token: "token-for-tests", ReadOnlyToken: "read-only-token-for-tests", Login: "github-actions[bot]",
		Now: time.Now, validate: v, complain: complain, public: true,
		perms: map[string]forge.Permission{}, lastID: 5000,
		git: newGitStore(),
	}
	l, err := net.Listen("tcp", addr) //nolint:noctx // ends with Close
	if err != nil {
		return nil, fmt.Errorf("cannot serve a test GitHub on %s: %w", addr, err)
	}
	s.http = &httptest.Server{Listener: l, Config: &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}}
	s.http.Start()
	s.URL = s.http.URL
	return s, nil
}

// Close stops the server.
func (s *Server) Close() { s.http.Close() }

// id returns increasing IDs, as GitHub does. The caller must hold the lock.
func (s *Server) id() int64 {
	s.lastID++
	return s.lastID
}

// AddPull adds a pull request and returns its number, which is assigned if unset. The head
// of one that is not a fork is in this repository.
func (s *Server) AddPull(p forge.Pull) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.Number == 0 {
		p.Number = len(s.pulls) + 1
	}
	if p.HeadRepo == 0 && !p.Fork {
		p.HeadRepo = s.RepoID
	}
	p.Fork = p.HeadRepo != s.RepoID
	if p.BaseBranch == "" {
		p.BaseBranch = "main"
	}
	if p.BaseSHA == "" {
		p.BaseSHA = s.git.branches["main"]
	}
	if p.Author == "" {
		p.Author = "ann"
	}
	p.URL = s.html() + fmt.Sprintf("/pull/%d", p.Number)
	s.pulls = append(s.pulls, &pull{Pull: p, title: "A change", created: s.Now()})
	return p.Number
}

// EditPull changes a pull request, like a push or a close does.
func (s *Server) EditPull(number int, change func(p *forge.Pull)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pulls {
		if p.Number == number {
			change(&p.Pull)
		}
	}
}

// AddRun adds a workflow run and returns its ID, which is assigned if unset.
func (s *Server) AddRun(r forge.Run) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.ID == 0 {
		r.ID = s.id()
	}
	if r.Head.Repo == 0 {
		r.Head.Repo = s.RepoID
	}
	if r.Created.IsZero() {
		r.Created = s.Now()
	}
	r.Attempt = max(r.Attempt, 1)
	r.Fork = r.Head.Repo != s.RepoID
	r.URL = s.html() + fmt.Sprintf("/actions/runs/%d", r.ID)
	s.runs = append(s.runs, r)
	return r.ID
}

// AddArtifact adds an artifact of a run, a ZIP file.
func (s *Server) AddArtifact(run int64, name string, zip []byte) forge.Artifact {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := artifact{Artifact: forge.Artifact{ID: s.id(), Name: name, Size: int64(len(zip)), Run: run, Created: s.Now()}, zip: zip}
	s.artifacts = append(s.artifacts, a)
	return a.Artifact
}

// AddJob adds a job to a run. Its status is "queued", "in_progress" or "completed".
func (s *Server) AddJob(run int64, status string, labels ...string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.id()
	s.jobs = append(s.jobs, job{id: id, run: run, status: status, labels: labels, created: s.Now()})
	return id
}

// SetJob changes the status of a job.
func (s *Server) SetJob(id int64, status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.jobs {
		if s.jobs[i].id == id {
			s.jobs[i].status = status
		}
	}
}

// SetPermission sets the permission of a user.
func (s *Server) SetPermission(user string, p forge.Permission) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.perms[strings.ToLower(user)] = p
}

// SetPublic sets whether the repository is public, which is the default.
func (s *Server) SetPublic(public bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.public = public
}

// AddComment adds a comment by author and returns it.
func (s *Server) AddComment(pull int, author, body string) forge.Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.newComment(pull, author, body)
	return k.public()
}

// Comments returns the current comments on a pull request.
func (s *Server) Comments(pull int) []forge.Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []forge.Comment
	for _, k := range s.comments {
		if k.pull == pull && k.deleted.IsZero() {
			all = append(all, k.public())
		}
	}
	return all
}

// Checks returns the checks on a commit. If several have the same name, it returns the
// newest, as GitHub does.
func (s *Server) Checks(sha string) []forge.Check {
	s.mu.Lock()
	defer s.mu.Unlock()
	newest := map[string]forge.Check{}
	for _, k := range s.checks {
		if k.SHA == sha {
			newest[k.Name] = k.Check
		}
	}
	var all []forge.Check
	for _, name := range slices.Sorted(maps.Keys(newest)) {
		all = append(all, newest[name])
	}
	return all
}

// CheckRuns returns all check runs of a name on a commit, oldest first. There are several
// after another attempt, or after a lost response.
func (s *Server) CheckRuns(sha, name string) []forge.Check {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []forge.Check
	for _, k := range s.checks {
		if k.SHA == sha && k.Name == name {
			all = append(all, k.Check)
		}
	}
	return all
}

// Pulls returns all pull requests.
func (s *Server) Pulls() []forge.Pull {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []forge.Pull
	for _, p := range s.pulls {
		all = append(all, p.Pull)
	}
	return all
}

// PullText returns the title and the body of a pull request.
func (s *Server) PullText(number int) (title, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pulls {
		if p.Number == number {
			return p.title, p.body
		}
	}
	return "", ""
}

// Requests returns all received requests.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *Server) html() string { return "https://github.example/" + s.Repo.String() }
func (s *Server) api() string  { return s.URL + "/repos/" + s.Repo.String() }

func hash(parts ...string) string {
	h := sha1.New() //nolint:gosec // see above
	for _, p := range parts {
		fmt.Fprintf(h, "%d %s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}
