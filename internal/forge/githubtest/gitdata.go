package githubtest

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// gitStore holds the git objects of the branches. Object names are digests of their
// content, as in git, but not the same ones.
type gitStore struct {
	branches map[string]string
	commits  map[string]commit
	trees    map[string]tree
	blobs    map[string]string
}

type tree map[string]string // name of the blob by path

type commit struct {
	tree, message string
	parents       []string
	when          time.Time
}

var wholeSHA = lazyregexp.New(`^[0-9a-f]{40}$`)

func newGitStore() gitStore {
	g := gitStore{branches: map[string]string{}, commits: map[string]commit{}, trees: map[string]tree{}, blobs: map[string]string{}}
	first := commit{tree: g.addTree(tree{}), message: "Begin"}
	g.branches["main"] = g.addCommit(first)
	return g
}

func (g *gitStore) addBlob(content string) string {
	sha := hash("blob", content)
	g.blobs[sha] = content
	return sha
}

func (g *gitStore) addTree(t tree) string {
	parts := []string{"tree"}
	for _, p := range slices.Sorted(maps.Keys(t)) {
		parts = append(parts, p, t[p])
	}
	sha := hash(parts...)
	g.trees[sha] = t
	return sha
}

func (g *gitStore) addCommit(c commit) string {
	sha := hash(append([]string{"commit", c.tree, c.message, c.when.String()}, c.parents...)...)
	g.commits[sha] = c
	return sha
}

// AddFile adds a file to a branch as a new commit, or, if ref is a full SHA, to that
// commit.
func (s *Server) AddFile(ref, path, content string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.git.commits[s.git.resolve(ref)]
	t := maps.Clone(s.git.trees[old.tree])
	if t == nil {
		t = tree{}
	}
	t[path] = s.git.addBlob(content)
	c := commit{tree: s.git.addTree(t), message: "Add " + path}
	if wholeSHA.MatchString(ref) {
		s.git.commits[ref] = c
		return
	}
	if tip := s.git.branches[ref]; tip != "" {
		c.parents = []string{tip}
	}
	s.git.branches[ref] = s.git.addCommit(c)
}

// Branch returns the tip of a branch and its files.
func (s *Server) Branch(name string) (sha string, files map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sha = s.git.branches[name]
	files = map[string]string{}
	for path, blob := range s.git.trees[s.git.commits[sha].tree] {
		files[path] = s.git.blobs[blob]
	}
	return sha, files
}

// Log returns the messages of a branch's commits, newest first.
func (s *Server) Log(branch string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var messages []string
	for at := s.git.branches[branch]; at != ""; {
		c := s.git.commits[at]
		messages, at = append(messages, c.message), ""
		if len(c.parents) > 0 {
			at = c.parents[0]
		}
	}
	return messages
}

func (g *gitStore) resolve(ref string) string {
	if sha, ok := g.branches[strings.TrimPrefix(ref, "refs/heads/")]; ok {
		return sha
	}
	if _, ok := g.commits[ref]; ok {
		return ref
	}
	return ""
}

func (g *gitStore) descends(from, to string) bool {
	if from == to {
		return true
	}
	return slices.ContainsFunc(g.commits[from].parents, func(p string) bool { return g.descends(p, to) })
}

func (s *Server) serveGit(q *parsedRequest) *response {
	switch {
	case q.is(http.MethodGet, "contents/**"):
		return s.serveFile(q)
	case q.is(http.MethodGet, "git/ref/**"):
		name, ok := strings.CutPrefix(q.rest(2), "heads/")
		if sha, there := s.git.branches[name]; ok && there {
			return reply(http.StatusOK, s.refShape(name, sha))
		}
	case q.is(http.MethodPost, "git/refs"), q.is(http.MethodPatch, "git/refs/**"):
		return s.moveRef(q)
	case q.is(http.MethodPost, "git/blobs"):
		t, bad := read[struct{ Content, Encoding string }](q)
		if bad != nil {
			return bad
		}
		if t.Encoding == "base64" {
			b, err := base64.StdEncoding.DecodeString(t.Content)
			if err != nil {
				return invalid("content is not base64")
			}
			t.Content = string(b)
		}
		sha := s.git.addBlob(t.Content)
		return reply(http.StatusCreated, object{"sha": sha, "url": s.api() + "/git/blobs/" + sha})
	case q.is(http.MethodPost, "git/trees"):
		return s.makeTree(q)
	case q.is(http.MethodPost, "git/commits"):
		return s.makeCommit(q)
	case q.is(http.MethodGet, "git/commits/*"):
		if c, ok := s.git.commits[q.parts[2]]; ok {
			return reply(http.StatusOK, s.commitShape(q.parts[2], c))
		}
	}
	return nil
}

func (s *Server) serveFile(q *parsedRequest) *response {
	ref := q.URL.Query().Get("ref")
	if ref == "" {
		ref = "main"
	}
	path := q.rest(1)
	blob, ok := s.git.trees[s.git.commits[s.git.resolve(ref)].tree][path]
	if !ok {
		return nil
	}
	text, self := s.git.blobs[blob], s.api()+"/contents/"+path
	return reply(http.StatusOK, object{
		"type": "file", "name": path[strings.LastIndexByte(path, '/')+1:], "path": path, "sha": blob, "size": len(text),
		"encoding": "base64", "content": base64.StdEncoding.EncodeToString([]byte(text)),
		"url": self, "git_url": self, "html_url": self, "download_url": self, "_links": object{"git": self, "html": self, "self": self},
	})
}

func (s *Server) moveRef(q *parsedRequest) *response {
	t, bad := read[struct {
		Ref, SHA string
		Force    bool
	}](q)
	if bad != nil {
		return bad
	}
	code, name := http.StatusCreated, strings.TrimPrefix(t.Ref, "refs/heads/")
	if q.Method == http.MethodPatch {
		code, name = http.StatusOK, strings.TrimPrefix(q.rest(2), "heads/")
	}
	old, exists := s.git.branches[name]
	_, known := s.git.commits[t.SHA]
	switch {
	case !known:
		return invalid("Object does not exist")
	case q.Method == http.MethodPost && exists:
		return invalid("Reference already exists")
	case q.Method == http.MethodPatch && !exists:
		return invalid("Reference does not exist")
	case exists && !t.Force && !s.git.descends(t.SHA, old):
		return invalid("Update is not a fast forward")
	}
	s.git.branches[name] = t.SHA
	return reply(code, s.refShape(name, t.SHA))
}

func (s *Server) makeTree(q *parsedRequest) *response {
	t, bad := read[struct {
		BaseTree string `json:"base_tree"`
		Tree     []struct {
			Path, Mode string
			SHA        *string
			Content    *string
		}
	}](q)
	if bad != nil {
		return bad
	}
	made := maps.Clone(s.git.trees[t.BaseTree])
	if made == nil {
		made = tree{}
	}
	for _, e := range t.Tree {
		switch {
		case e.Content != nil:
			made[e.Path] = s.git.addBlob(*e.Content)
		case e.SHA == nil:
			if _, there := made[e.Path]; !there {
				return invalid("GitRPC::BadObjectState: " + e.Path + " is not in the tree")
			}
			delete(made, e.Path)
		default:
			if _, ok := s.git.blobs[*e.SHA]; !ok {
				return invalid("tree.sha " + *e.SHA + " is not a valid blob")
			}
			made[e.Path] = *e.SHA
		}
	}
	sha := s.git.addTree(made)
	shape := []object{}
	for _, p := range slices.Sorted(maps.Keys(made)) {
		shape = append(shape, object{"path": p, "mode": "100644", "type": "blob", "sha": made[p]})
	}
	return reply(http.StatusCreated, object{"sha": sha, "url": s.api() + "/git/trees/" + sha, "truncated": false, "tree": shape})
}

func (s *Server) makeCommit(q *parsedRequest) *response {
	t, bad := read[struct {
		Message, Tree string
		Parents       []string
	}](q)
	if bad != nil {
		return bad
	}
	if _, ok := s.git.trees[t.Tree]; !ok {
		return invalid("Tree SHA does not exist")
	}
	c := commit{tree: t.Tree, message: t.Message, parents: t.Parents, when: s.Now()}
	sha := s.git.addCommit(c)
	return reply(http.StatusCreated, s.commitShape(sha, c))
}

func (s *Server) refShape(name, sha string) object {
	return object{
		"ref": "refs/heads/" + name, "node_id": "RE", "url": s.api() + "/git/refs/heads/" + name,
		"object": object{"type": "commit", "sha": sha, "url": s.api() + "/git/commits/" + sha},
	}
}

func (s *Server) commitShape(sha string, c commit) object {
	self := s.api() + "/git/commits/"
	who := object{"name": s.Login, "email": "bot@github.example", "date": stamp(c.when)}
	parents := []object{}
	for _, p := range c.parents {
		parents = append(parents, object{"sha": p, "url": self + p, "html_url": fmt.Sprintf("%s/commit/%s", s.html(), p)})
	}
	return object{
		"sha": sha, "node_id": "CO", "url": self + sha, "html_url": fmt.Sprintf("%s/commit/%s", s.html(), sha),
		"author": who, "committer": who, "message": c.message, "parents": parents,
		"tree":         object{"sha": c.tree, "url": s.api() + "/git/trees/" + c.tree},
		"verification": object{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil},
	}
}
