// Package forgetest has a forge in memory, for tests. It shows what a second forge takes: this package, and one line in the
// list of internal/cli.
package forgetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/goatnote-inc/pawl/internal/forge"
)

// Memory is a forge with one repository. Its fields are what the repository holds; a test fills them before use, and reads
// them afterwards.
type Memory struct {
	Current     forge.Job // the job that pawl runs in
	Token       string    // variable that must be set to open a client
	Pulls       map[int]forge.Pull
	Said        map[int][]forge.Comment // comments by pull request
	Permissions map[string]forge.Permission
	Files       map[string][]byte // by ref:path
	Bases       map[string]string // merge bases by head
	AllRuns     []forge.Run
	Uploads     map[int64][]byte // artifacts' contents by ID
	Uploaded    []forge.Artifact

	mu       sync.Mutex
	checks   map[string]forge.Check           // by commit and name
	sections map[int]map[string]forge.Section // by pull request and key
	branches map[string][]forge.Change        // by name
	drafts   map[string]forge.Draft           // by head
}

// Job returns the current job.
func (m *Memory) Job(func(string) string) (*forge.Job, error) {
	j := m.Current
	return &j, nil
}

// Open returns the repository.
func (m *Memory) Open(a forge.Access) (forge.Client, error) {
	if a.Getenv(m.Token) == "" {
		return nil, fmt.Errorf("%w: set %s", forge.ErrNoToken, m.Token)
	}
	return client{m}, nil
}

// Check returns a check of a commit.
func (m *Memory) Check(sha, name string) (forge.Check, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.checks[sha+" "+name]
	return c, ok
}

// Sections returns the report on a pull request, one text per section, in the order of their keys.
func (m *Memory) Sections(pull int) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []string
	for _, key := range slices.Sorted(maps.Keys(m.sections[pull])) {
		list = append(list, m.sections[pull][key].Body)
	}
	return list
}

// Draft returns the draft pull request of a branch, and the commits on the branch.
func (m *Memory) Draft(head string) (forge.Draft, []forge.Change) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.drafts[head], m.branches[head]
}

type client struct{ *Memory }

func missing(format string, args ...any) error {
	return fmt.Errorf("%w: %s", forge.ErrNotFound, fmt.Sprintf(format, args...))
}

func (c client) Pull(_ context.Context, number int) (forge.Pull, error) {
	p, ok := c.Pulls[number]
	if !ok {
		return p, missing("pull request %d", number)
	}
	return p, nil
}

func (c client) PullsOf(_ context.Context, head forge.Head) ([]forge.Pull, error) {
	var list []forge.Pull
	for _, number := range slices.Sorted(maps.Keys(c.Pulls)) {
		if p := c.Pulls[number]; p.Open && (forge.Head{Repo: p.HeadRepo, Branch: p.HeadBranch, SHA: p.HeadSHA}) == head {
			list = append(list, p)
		}
	}
	return list, nil
}

func (c client) Comments(_ context.Context, pull int) ([]forge.Comment, error) {
	return c.Said[pull], nil
}

func (c client) Permission(_ context.Context, user string) (forge.Permission, error) {
	if p, ok := c.Permissions[user]; ok {
		return p, nil
	}
	return forge.NoAccess, nil
}

func (c client) File(_ context.Context, ref, path string) ([]byte, error) {
	text, ok := c.Files[ref+":"+path]
	if !ok {
		return nil, missing("%s at %s", path, ref)
	}
	return text, nil
}

func (c client) MergeBase(_ context.Context, base, head string) (string, error) {
	if common, ok := c.Bases[head]; ok {
		return common, nil
	}
	return base, nil
}

func (c client) Run(_ context.Context, id int64) (forge.Run, error) {
	for _, r := range c.AllRuns {
		if r.ID == id {
			return r, nil
		}
	}
	return forge.Run{}, missing("run %d", id)
}

func (c client) Runs(_ context.Context, q forge.RunQuery) ([]forge.Run, error) {
	return slices.DeleteFunc(slices.Clone(c.AllRuns), func(r forge.Run) bool {
		return q.Workflow != "" && r.Workflow != q.Workflow || q.HeadSHA != "" && r.Head.SHA != q.HeadSHA
	}), nil
}

func (c client) Artifacts(_ context.Context, run int64) ([]forge.Artifact, error) {
	return slices.DeleteFunc(slices.Clone(c.Uploaded), func(a forge.Artifact) bool { return a.Run != run }), nil
}

func (c client) ArtifactsNamed(_ context.Context, name string) ([]forge.Artifact, error) {
	return slices.DeleteFunc(slices.Clone(c.Uploaded), func(a forge.Artifact) bool { return a.Name != name }), nil
}

func (c client) Download(_ context.Context, a forge.Artifact, w io.Writer, limit int64) error {
	text, ok := c.Uploads[a.ID]
	switch {
	case !ok:
		return missing("artifact %d", a.ID)
	case int64(len(text)) > limit:
		return fmt.Errorf("artifact %d has more than %d bytes", a.ID, limit)
	}
	_, err := io.Copy(w, bytes.NewReader(text))
	return err
}

func (c client) Report(_ context.Context, pull int, s forge.Section) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sections == nil {
		c.sections = map[int]map[string]forge.Section{}
	}
	if c.sections[pull] == nil {
		if s.Quiet {
			return "", nil
		}
		c.sections[pull] = map[string]forge.Section{}
	}
	c.sections[pull][s.Key] = s
	return fmt.Sprintf("memory://pulls/%d", pull), nil
}

func (c client) SetCheck(_ context.Context, k forge.Check) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.checks == nil {
		c.checks = map[string]forge.Check{}
	}
	c.checks[k.SHA+" "+k.Name] = k
	return "memory://checks/" + k.SHA, nil
}

func (c client) Commit(_ context.Context, change forge.Change) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.branches == nil {
		c.branches = map[string][]forge.Change{}
	}
	c.branches[change.Branch] = append(c.branches[change.Branch], change)
	return fmt.Sprintf("%040d", len(c.branches[change.Branch])), nil
}

func (c client) OpenDraft(_ context.Context, d forge.Draft) (forge.Pull, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.drafts == nil {
		c.drafts = map[string]forge.Draft{}
	}
	c.drafts[d.Head] = d
	return forge.Pull{Open: true, Draft: true, HeadBranch: d.Head, BaseBranch: d.Base, URL: "memory://drafts/" + d.Head}, nil
}

func (c client) Visibility(context.Context) (bool, error) { return false, nil }
