package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/github"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/server/agents"
	"github.com/goatnote-inc/pawl/internal/server/change"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
)

// webhooksOf returns how webhooks are read; nil without credentials to carry out what they report.
func webhooksOf(env environment) *forge.Webhooks {
	if env["GITHUB_TOKEN"] == "" && env["PAWL_APP_ID"] == "" {
		return nil
	}
	return github.Webhooks()
}

// changes returns what fetches and publishes changes, with the credentials of the environment.
func (p *components) changes(env environment, now func() time.Time) *change.Changes {
	access := func(repo forge.Repo) forge.Access {
		return forge.Access{Repo: repo, May: identity.Publishing, Getenv: func(name string) string { return env[name] }}
	}
	return change.New(change.Options{
		Fleet: fleetstore.New(p.store.DB()), Project: p.projectID, Blobs: agents.Blobs{Store: p.store, Bucket: p.blobs},
		Dir: filepath.Join(env.stateDir(), "repositories"), Log: p.log, Now: now, Pause: 5 * time.Second,
		Open: func(repo forge.Repo) (forge.Client, error) { return github.Forge{}.Open(access(repo)) },
		Remote: func(ctx context.Context, repo forge.Repo) (forge.Remote, error) {
			return github.Remote(ctx, access(repo))
		},
		PullRef: github.PullRef,
	})
}

// fleetGate sets what a project gates when its forge reports it.
func fleetGate(g *globals) *cobra.Command {
	var w fleetstore.Gated
	var secret string
	var off bool
	c := &cobra.Command{
		Use:   "gate PROJECT",
		Short: "Gate the pull requests and pushes of a GitHub repository",
		Long: `Sets what GitHub's webhooks start: a gate for every pull request of the repository, and for pushes to
the named branches, on one device of each model. A new push to a pull request cancels its older
gate. Pull requests from forks run on the models for forks, with the trust checked; without such
models they are not gated.

The suite is that of the base, in one file. pawld fetches with the GITHUB_TOKEN or the App of its
environment. See docs/how-to/fleet.md.`,
		Example: `  pawld fleet gate kernels --repository octo/kernels --models l4,h100 --secret-file webhook-secret
  pawld fleet gate kernels --repository octo/kernels --models l4 --fork-models l4 --branches main --secret-file webhook-secret
  pawld fleet gate kernels --off`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !off {
				if err := readGated(&w, secret); err != nil {
					return usageError{err}
				}
			}
			return g.withStore(cmd.Context(), func(_ *config, s *store.Store) error {
				return g.changeAudited(cmd.Context(), s, args[0], "gate.set", func(in *store.Store, p store.Project) (changeResult, error) {
					fleet := fleetstore.New(in.DB())
					if off {
						err := fleet.RemoveGated(cmd.Context(), p.ID)
						if errors.Is(err, store.ErrNotFound) {
							err = usageError{fmt.Errorf("%s gates no repository", p.Slug)}
						}
						return changeResult{p.Slug + " gates no repository any more", map[string]string{"repository": ""}}, err
					}
					return changeResult{
						fmt.Sprintf("%s gates %s on %s\nwebhook: /v1/projects/%[1]s/deliveries, content type application/json, events: pushes and pull requests", p.Slug, w.Repository, strings.Join(w.Models, ", ")),
						map[string]string{"repository": w.Repository, "models": strings.Join(w.Models, ","), "fork_models": strings.Join(w.ForkModels, ","), "branches": strings.Join(w.Branches, ",")},
					}, fleet.SetGated(cmd.Context(), p.ID, w)
				})
			})
		},
	}
	f := c.Flags()
	f.StringVar(&w.Repository, "repository", "", "`OWNER/NAME` of the repository")
	f.StringVar(&w.Suite, "suite", "pawl.yaml", "`path` of the suite in the repository")
	f.StringSliceVar(&w.Models, "models", nil, "device `models` of own changes, such as l4,h100")
	f.StringSliceVar(&w.ForkModels, "fork-models", nil, "device `models` of pull requests from forks; none: they are not gated")
	f.StringSliceVar(&w.Branches, "branches", nil, "`branches` whose pushes are gated, each against the commit before it")
	f.StringVar(&secret, "secret-file", "", "`file` with the secret of the webhook, 16 bytes or more")
	f.BoolVar(&off, "off", false, "gate nothing any more")
	return c
}

// readGated checks the flags, and reads the secret.
func readGated(w *fleetstore.Gated, secret string) error {
	if _, err := forge.ParseRepo(w.Repository); err != nil {
		return fmt.Errorf("--repository: %w", err)
	}
	for flag, models := range map[string][]string{"--models": w.Models, "--fork-models": w.ForkModels} {
		if flag == "--fork-models" && len(models) == 0 {
			continue
		}
		commit := strings.Repeat("0", 40)
		r := client.GateRequest{Models: models, Bundle: strings.Repeat("0", 64), Base: commit, Head: commit, Suite: w.Suite, Seconds: client.MinGateSeconds}
		if err := r.Check(); err != nil {
			return fmt.Errorf("%s: %w", flag, err)
		}
	}
	if secret == "" {
		return errors.New("--secret-file is needed: openssl rand -hex 32 > webhook-secret")
	}
	text, err := readBounded(secret, maxSecret)
	if err != nil {
		return fmt.Errorf("cannot read the secret of the webhook: %w", err)
	}
	if w.Secret = strings.TrimSpace(string(text)); len(w.Secret) < 16 {
		return fmt.Errorf("the secret has %d bytes, the minimum is 16", len(w.Secret))
	}
	return nil
}
