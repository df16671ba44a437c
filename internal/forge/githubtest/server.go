// Package githubtest is a GitHub for tests: real HTTP on loopback, with state, with
// faults on demand, and held against GitHub's own description of its API where the
// variable PAWL_GITHUB_API names it (scripts/github-api fetches it). It knows the part of
// the API that pawl uses. It must not know what pawl writes there.
package githubtest

import (
	"crypto/sha1" //nolint:gosec // names of commits, as git makes them
	"encoding/hex"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge"
)

// Server is a GitHub with one repository. Change its fields before the first request.
type Server struct {
	URL           string // of the API, as in GITHUB_API_URL; URL+"/api/v3" works as well
	Repo          forge.Repo
	RepoID        int64
	Token         string // may do everything
	ReadOnlyToken string // as a pull request of a fork has it: writes are refused
	Login         string // who writes with the tokens

	Now     func() time.Time
	ListLag time.Duration // what is created or deleted shows in lists only after that

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
	common    map[string]string // where two commits parted
}

// Request is one that came, and what was answered.
type Request struct {
	Method, Path string
	Status       int    // 0 where the connection was cut
	Body         string // of the request
}

// New starts a server that ends with the test. Whatever breaks the description of
// GitHub's API fails the test.
func New(t testing.TB) *Server {
	t.Helper()
	s, err := Listen("127.0.0.1:0", t.Errorf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Listen starts a server outside a test, at an address of loopback; complain is told of
// requests and answers that GitHub's description does not allow.
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
		return nil, fmt.Errorf("serve a GitHub for tests on %s: %w", addr, err)
	}
	s.http = &httptest.Server{Listener: l, Config: &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}}
	s.http.Start()
	s.URL = s.http.URL
	return s, nil
}

// Close ends the server.
func (s *Server) Close() { s.http.Close() }

// id gives out numbers that rise, as GitHub's do. The caller holds the lock.
func (s *Server) id() int64 {
	s.lastID++
	return s.lastID
}

// AddPull adds a pull request and returns its number; one is given where it has none.
// One that is no fork has its head here.
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

// EditPull changes a pull request as if somebody had pushed to it or closed it.
func (s *Server) EditPull(number int, change func(p *forge.Pull)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pulls {
		if p.Number == number {
			change(&p.Pull)
		}
	}
}

// AddRun adds a run of a workflow and returns its number; one is given where it has none.
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

// AddArtifact adds what a run left, a ZIP file.
func (s *Server) AddArtifact(run int64, name string, zip []byte) forge.Artifact {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := artifact{Artifact: forge.Artifact{ID: s.id(), Name: name, Size: int64(len(zip)), Run: run, Created: s.Now()}, zip: zip}
	s.artifacts = append(s.artifacts, a)
	return a.Artifact
}

// AddJob adds a job of a run; its status is "queued", "in_progress" or "completed".
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

// SetPermission says what somebody may do.
func (s *Server) SetPermission(user string, p forge.Permission) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.perms[strings.ToLower(user)] = p
}

// SetPublic says whether everybody can read the repository; it begins public.
func (s *Server) SetPublic(public bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.public = public
}

// AddComment writes a comment as somebody, and returns it.
func (s *Server) AddComment(pull int, author, body string) forge.Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.newComment(pull, author, body)
	return k.public()
}

// Comments lists the comments on a pull request as they are now.
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

// Checks lists the checks on a commit: of several of a name the newest, as GitHub
// counts them.
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

// CheckRuns lists all check runs of a name on a commit, the oldest first: there are
// several after another attempt, or after an answer that was lost.
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

// Pulls lists all pull requests.
func (s *Server) Pulls() []forge.Pull {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []forge.Pull
	for _, p := range s.pulls {
		all = append(all, p.Pull)
	}
	return all
}

// PullText gives the title and the body of a pull request.
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

// Requests lists all that came.
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
