package daemon

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// wantedProject is the wanted state of a project; omitted fields stay as they are.
type wantedProject struct {
	Name       *string         `yaml:"name"`
	Public     *bool           `yaml:"public"`
	Repository *string         `yaml:"repository"`
	Branch     *string         `yaml:"branch"`
	Quotas     *wantedQuotas   `yaml:"quotas"`
	Keep       *wantedKeep     `yaml:"keep"`
	Members    *[]wantedMember `yaml:"members"`
	Rules      *[]wantedRule   `yaml:"rules"`
	Hooks      *[]wantedHook   `yaml:"hooks"`
}

type wantedQuotas struct {
	PointsADay     int64 `yaml:"points_a_day"`
	BlobBytes      int64 `yaml:"blob_bytes"`
	Series         int64 `yaml:"series"`
	ForkPointsADay int64 `yaml:"fork_points_a_day"`
	ForkBlobBytes  int64 `yaml:"fork_blob_bytes"`
}

type wantedKeep struct {
	SampleDays int `yaml:"sample_days"`
	BranchDays int `yaml:"branch_days"`
}

type wantedMember struct {
	Issuer  string     `yaml:"issuer"` // empty means the one in the settings
	Subject string     `yaml:"subject"`
	Role    store.Role `yaml:"role"`
}

type wantedRule struct {
	RepositoryID   int64    `yaml:"repository_id"`
	OwnerID        int64    `yaml:"owner_id"`
	DefaultBranch  string   `yaml:"default_branch"` // empty means the project's
	Events         []string `yaml:"events"`         // empty means the defaults of pawld rule add
	Refs           []string `yaml:"refs"`
	Protected      bool     `yaml:"protected"`
	Workflow       string   `yaml:"workflow"`
	JobWorkflow    string   `yaml:"job_workflow"`
	JobWorkflowSHA string   `yaml:"job_workflow_sha"`
	Environment    string   `yaml:"environment"`
}

// ruleEvents lists the events whose jobs may send by default.
var ruleEvents = []string{"push", "pull_request", "workflow_run"}

func (r wantedRule) rule(branch string) identity.Rule {
	made := identity.Rule(r)
	if made.DefaultBranch == "" {
		made.DefaultBranch = branch
	}
	if len(made.Events) == 0 {
		made.Events = ruleEvents
	}
	return made
}

// plan holds the changes to make to a project.
type plan struct {
	config *config
	slug   string
	want   wantedProject
	prune  bool

	project  store.Project // current state, or the project to create
	fresh    bool
	steps    []step
	unlisted []string // exist, but are not in the file
}

// step is one change: its description and its function.
type step struct {
	text string
	do   func(ctx context.Context, in *store.Store, project int64) error
}

func (p *plan) add(do func(ctx context.Context, in *store.Store, project int64) error, format string, args ...any) {
	p.steps = append(p.steps, step{fmt.Sprintf(format, args...), do})
}

// remove plans to delete an object, or only lists it if prune is off.
func (p *plan) remove(do func(ctx context.Context, in *store.Store, project int64) error, format string, args ...any) {
	if p.prune {
		p.add(do, "remove "+format, args...)
		return
	}
	p.unlisted = append(p.unlisted, fmt.Sprintf(format, args...))
}

// diff determines the differences.
func (p *plan) diff(ctx context.Context, s *store.Store) error {
	now, err := s.Project(ctx, p.slug)
	if p.fresh = errors.Is(err, store.ErrNotFound); p.fresh {
		now, err = store.Project{Project: client.Project{Slug: p.slug, Name: p.slug, Branch: "main"}}, nil
	}
	if err != nil {
		return err
	}
	before := now
	if err := p.want.into(&now); err != nil {
		return err
	}
	p.project = now
	switch {
	case p.fresh:
		text := "create the project"
		if settings := settingsText(before, now); settings != "" {
			text += "; " + settings
		}
		p.add(nil, "%s", text)
	case !reflect.DeepEqual(before, now):
		p.add(func(ctx context.Context, in *store.Store, _ int64) error { return in.UpdateProject(ctx, now) }, "%s", settingsText(before, now))
	}
	for _, part := range []func(context.Context, *store.Store) error{p.members, p.rules, p.hooks} {
		if err := part(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// into overwrites a project with the wanted values.
func (w wantedProject) into(p *store.Project) error {
	set(&p.Name, w.Name)
	set(&p.Public, w.Public)
	set(&p.Repository, w.Repository)
	set(&p.Branch, w.Branch)
	if p.Repository != "" && !strings.HasPrefix(p.Repository, "https://") {
		return fmt.Errorf("repository %q: must be https://HOST/OWNER/NAME", p.Repository)
	}
	if q := w.Quotas; q != nil {
		kept := p.Settings
		p.Settings = store.Settings{PointsPerDay: q.PointsADay, BlobBytes: q.BlobBytes, Series: q.Series, ForkPointsPerDay: q.ForkPointsADay, ForkBlobBytes: q.ForkBlobBytes}
		p.Settings.SampleDays, p.Settings.BranchDays = kept.SampleDays, kept.BranchDays
	}
	if k := w.Keep; k != nil {
		p.Settings.SampleDays, p.Settings.BranchDays = k.SampleDays, k.BranchDays
	}
	n := p.Settings
	if min(n.PointsPerDay, n.BlobBytes, n.Series, n.ForkPointsPerDay, n.ForkBlobBytes, int64(n.SampleDays), int64(n.BranchDays)) < 0 {
		return errors.New("quotas and keep: numbers must not be negative")
	}
	return nil
}

func set[T any](into, from *T) {
	if from != nil {
		*into = *from
	}
}

// settingsText describes the differences between two projects.
func settingsText(a, b store.Project) string {
	var list []string
	for _, x := range []struct {
		what     string
		old, new any
	}{
		{"name", a.Name, b.Name},
		{"public", a.Public, b.Public},
		{"repository", a.Repository, b.Repository},
		{"branch", a.Branch, b.Branch},
		{"quotas", a.Settings.Quotas(), b.Settings.Quotas()},
		{"sample_days", a.Settings.SampleDays, b.Settings.SampleDays},
		{"branch_days", a.Settings.BranchDays, b.Settings.BranchDays},
	} {
		switch {
		case x.old == x.new:
		case x.what == "quotas":
			list = append(list, "quotas")
		default:
			list = append(list, fmt.Sprintf("%s to %v", x.what, x.new))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "set " + strings.Join(list, ", ")
}

// execute makes all changes and adds the line to the audit log, atomically.
func (p *plan) execute(ctx context.Context, s *store.Store) error {
	if len(p.steps) == 0 {
		return nil
	}
	if p.fresh {
		made, err := s.NewProject(ctx, p.project, operator())
		if err != nil {
			return err
		}
		p.project = made
	}
	return s.ChangeAudited(ctx, p.project.ID, operator(), "project.apply", func(in *store.Store) (map[string]string, error) {
		told := map[string]string{}
		for n, step := range p.steps {
			if step.do == nil {
				continue // done above
			}
			told[strconv.Itoa(n+1)] = step.text
			if err := step.do(ctx, in, p.project.ID); err != nil {
				return nil, err
			}
		}
		if len(told) == 0 {
			return nil, nil // nothing but the project, which has its line
		}
		return told, nil
	})
}
