package server

import (
	_ "embed"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// contract is the API's description: OpenAPI 3.1.
//
//go:embed openapi.yaml
var contract []byte

func (s *Server) getContract(w http.ResponseWriter, r *http.Request, _ store.Project) error {
	if unchanged(w, r, tag(contract)) {
		return nil
	}
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(contract)
	return nil
}

// getProjects lists what the caller may read: for a key, one project.
func (s *Server) getProjects(w http.ResponseWriter, r *http.Request, _ store.Project) error {
	if err := ask(r).err; err != nil {
		return err
	}
	v, err := s.viewer(r)
	if err != nil {
		return err
	}
	visible, err := s.projectsOf(r, v)
	if err != nil {
		return err
	}
	list := page[client.Project]{Items: []client.Project{}}
	for _, p := range visible {
		list.Items = append(list.Items, p.Project)
	}
	return show(w, r, list)
}

// projectsOf returns the projects that a viewer may read.
func (s *Server) projectsOf(r *http.Request, v *Viewer) ([]store.Project, error) {
	account, all := v.sees()
	list, err := s.store.Projects(r.Context(), account, all)
	if err != nil || v.Key == nil {
		return list, err
	}
	own, err := s.store.ProjectByID(r.Context(), v.Key.Project)
	if err != nil {
		return nil, err
	}
	if rights, err := s.rights(r.Context(), v, own); err != nil || own.Public || !slices.Contains(rights, Read) {
		return list, err
	}
	return append(list, own), nil
}

// projectAnswer is a project with its settings.
type projectAnswer struct {
	client.Project
	Settings store.Settings `json:"settings"`
}

func (s *Server) getProject(w http.ResponseWriter, r *http.Request, p store.Project) error {
	return show(w, r, projectAnswer{p.Project, p.Settings})
}

// projectChange holds what an admin may change; omitted fields stay as they are. Only an admin of the whole
// server may change quotas.
type projectChange struct {
	Name       *string         `json:"name"`
	Public     *bool           `json:"public"`
	Repository *string         `json:"repository"`
	Branch     *string         `json:"default_branch"`
	Settings   *store.Settings `json:"settings"`
}

func (s *Server) patchProject(w http.ResponseWriter, r *http.Request, p store.Project) error {
	var change projectChange
	if err := readDocument(w, r, &change); err != nil {
		return err
	}
	p, err := s.changeProject(r, p, change)
	if err != nil {
		return err
	}
	return show(w, r, projectAnswer{p.Project, p.Settings})
}

// changeProject changes a project under a lock. A concurrent change is not overwritten, and If-Match detects
// it.
func (s *Server) changeProject(r *http.Request, p store.Project, change projectChange) (store.Project, error) {
	v, err := s.viewer(r)
	if err != nil {
		return p, err
	}
	err = s.changeAudited(r, p, "project.update", func(in *store.Store) (map[string]string, error) {
		if p, err = in.LockProject(r.Context(), p.ID); err != nil {
			return nil, err
		}
		before, err := encode(projectAnswer{p.Project, p.Settings})
		if err != nil {
			return nil, err
		}
		if err := wantMatch(r, tag(before)); err != nil {
			return nil, err
		}
		if err := change.apply(&p, v.Operator); err != nil {
			return nil, err
		}
		return change.auditDetail(), in.UpdateProject(r.Context(), p)
	})
	return p, err
}

func (c projectChange) apply(p *store.Project, operator bool) error {
	if c.Name != nil {
		if *c.Name == "" || len(*c.Name) > 200 || !isText(*c.Name) {
			return badRequest("name: must be 1 to 200 bytes")
		}
		p.Name = *c.Name
	}
	if c.Repository != nil {
		u, err := url.Parse(*c.Repository)
		if *c.Repository != "" && (err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || len(*c.Repository) > 500) {
			return badRequest("repository: must be https://HOST/OWNER/NAME")
		}
		p.Repository = *c.Repository
	}
	if c.Branch != nil {
		if *c.Branch == "" || len(*c.Branch) > 250 || strings.HasPrefix(*c.Branch, "refs/") || strings.ContainsAny(*c.Branch, " \t\r\n\x00") {
			return badRequest("default_branch: must be the name of a branch, such as main")
		}
		p.Branch = *c.Branch
	}
	if c.Public != nil {
		p.Public = *c.Public
	}
	if c.Settings == nil {
		return nil
	}
	n := *c.Settings
	if min(n.PointsPerDay, n.BlobBytes, n.Series, n.ForkPointsPerDay, n.ForkBlobBytes, int64(n.SampleDays), int64(n.BranchDays)) < 0 {
		return badRequest("settings: numbers must not be negative")
	}
	if !operator && n.Quotas() != p.Settings.Quotas() {
		return problem(http.StatusForbidden, "forbidden", "settings: only an admin of the server can change quotas")
	}
	p.Settings = n
	return nil
}

// auditDetail returns the change as the audit log records it.
func (c projectChange) auditDetail() map[string]string {
	m := map[string]string{}
	for name, value := range map[string]*string{"name": c.Name, "repository": c.Repository, "default_branch": c.Branch} {
		if value != nil {
			m[name] = *value
		}
	}
	if c.Public != nil {
		m["public"] = map[bool]string{true: "true", false: "false"}[*c.Public]
	}
	if c.Settings != nil {
		m["settings"] = "changed"
	}
	return m
}

// wantMatch refuses a change if the object differs from what the client saw. Without If-Match it does not
// check.
func wantMatch(r *http.Request, etag string) error {
	if header := r.Header.Get("If-Match"); header != "" && !matches(header, etag) {
		return problem(http.StatusPreconditionFailed, "changed", "it was changed after you read it: read it again")
	}
	return nil
}

// changeAudited changes a project and records the caller in its audit log, atomically.
func (s *Server) changeAudited(r *http.Request, p store.Project, action string, do func(in *store.Store) (map[string]string, error)) error {
	v, err := s.viewer(r)
	if err != nil {
		return err
	}
	return s.store.ChangeAudited(r.Context(), p.ID, v.Name(), action, do)
}

// audit records an action that does not change the project's own rows. Call it before the action.
func (s *Server) audit(r *http.Request, p store.Project, action string, detail map[string]string) error {
	v, err := s.viewer(r)
	if err != nil {
		return err
	}
	return s.store.Audit(r.Context(), p.ID, v.Name(), action, detail)
}
