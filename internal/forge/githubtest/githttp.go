package githubtest

import (
	"net/http"
	"net/http/cgi" //nolint:gosec // for tests, with a Go that is not vulnerable
	"os/exec"
	"path/filepath"
	"strings"
)

// ServeGit serves a bare repository at URL/OWNER/NAME.git, as GITHUB_SERVER_URL does, to clients with the token.
func (s *Server) ServeGit(dir string) error {
	out, err := exec.Command("git", "--exec-path").Output() //nolint:noctx // it answers at once
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gitHTTP = &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"), Root: s.gitPath(),
		Env: []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1"},
	}
	return nil
}

func (s *Server) gitPath() string { return "/" + s.Repo.String() + ".git" }

// serveGitHTTP answers a request of git, and reports whether it was one.
func (s *Server) serveGitHTTP(w http.ResponseWriter, r *http.Request) bool {
	if !strings.HasPrefix(r.URL.Path, s.gitPath()+"/") {
		return false
	}
	s.mu.Lock()
	h := s.gitHTTP
	s.mu.Unlock()
	user, password, _ := r.BasicAuth()
	switch {
	case h == nil:
		http.NotFound(w, r)
	case user != "x-access-token" || password != s.Token:
		w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
		http.Error(w, "no access", http.StatusUnauthorized)
	default:
		h.ServeHTTP(w, r)
	}
	return true
}
