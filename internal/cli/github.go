package cli

import (
	"context"
	"errors"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/github"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
)

// errNoToken means that the environment has no credentials for GitHub.
var errNoToken = errors.New("no token: set GITHUB_TOKEN, or PAWL_APP_ID, PAWL_APP_INSTALLATION and PAWL_APP_KEY_FILE for an App of your own")

// atGitHub returns a client for a repository. It authenticates as the App that the environment names,
// restricted to the permissions in may, or else with the token of the job.
func (g *globals) atGitHub(repo forge.Repo, may map[string]string, log func(format string, args ...any)) (*github.Client, error) {
	now := g.Now
	if now == nil {
		now = time.Now
	}
	app, err := identity.AppFrom(identity.Env{Getenv: g.Getenv, Sleep: g.Sleep}, now, may)
	if err != nil {
		return nil, usageError{err}
	}
	token := func(context.Context) (string, error) { return g.Getenv("GITHUB_TOKEN"), nil }
	switch {
	case app != nil:
		token = app.Source()
	case g.Getenv("GITHUB_TOKEN") == "":
		return nil, exitError{exitCannot, errNoToken}
	}
	c, err := github.New(github.Config{BaseURL: g.Getenv("GITHUB_API_URL"), Repo: repo, Token: token, Now: g.Now, Sleep: g.Sleep, Log: log})
	if err != nil {
		return nil, usageError{err}
	}
	return c, nil
}
