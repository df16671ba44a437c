package env

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/github"
	"github.com/goatnote-inc/pawl/internal/forge/gitlab"
)

// Forges lists the forges that pawl knows. The first is the default outside CI.
var Forges = []forge.Forge{github.Forge{}, gitlab.Forge{}}

// CurrentJob returns the forge and the CI job of this process. Outside CI the job is empty.
func (g *Env) CurrentJob() (forge.Forge, *forge.Job, error) {
	for _, f := range Forges {
		if j, err := f.Job(g.Getenv); j != nil || err != nil {
			return f, cmp.Or(j, &forge.Job{}), err
		}
	}
	return Forges[0], &forge.Job{}, nil
}

// AtForge returns a client for a repository, by default that of the job, with at most the permissions in may.
func (g *Env) AtForge(repo string, may map[string]string, log func(format string, args ...any)) (forge.Client, forge.Repo, error) {
	f, j, err := g.CurrentJob()
	if err != nil {
		return nil, forge.Repo{}, command.Usage(err)
	}
	name, err := forge.ParseRepo(cmp.Or(repo, j.Repo))
	if err != nil {
		return nil, name, command.Usage(fmt.Errorf("cannot tell the repository: %w\n  set --repo OWNER/NAME, or run in CI", err))
	}
	c, err := f.Open(forge.Access{Repo: name, May: may, Getenv: g.Getenv, Now: g.Now, Sleep: g.Sleep, Log: log})
	switch {
	case errors.Is(err, forge.ErrNoToken):
		return nil, name, command.Exit(command.ExitCannot, err)
	case err != nil:
		return nil, name, command.Usage(err)
	}
	return c, name, nil
}
