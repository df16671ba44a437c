package start

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/forge/workflow"
	"github.com/goatnote-inc/pawl/internal/forge/workflow/install"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
)

// githubFlags are the flags of pawl init --github.
type githubFlags struct {
	on, upgrade bool
	asked       workflow.Settings
}

func (g *githubFlags) add(fl *pflag.FlagSet) {
	fl.BoolVar(&g.on, "github", false, "write what GitHub needs: workflows, a pull request template section, ruleset proposals")
	fl.BoolVar(&g.upgrade, "upgrade", false, "with --github: update the workflows; edited files are kept")
	fl.StringVar(&g.asked.Shared, "shared", "", "with --github: call the workflows of `OWNER/REPO@COMMIT` instead of writing them here")
	fl.StringSliceVar(&g.asked.Folders, "suite", nil, "with --github: `folders` of the suites (default: every pawl.yaml in the repository)")
	fl.StringSliceVar(&g.asked.Runner, "runner", nil, "with --github: `labels` of the GPU runner (default self-hosted,gpu)")
	fl.StringSliceVar(&g.asked.ForkRunner, "fork-runner", nil, "with --github: `labels` of the ephemeral GPU runner for forks (default self-hosted,gpu,ephemeral)")
	fl.StringVar(&g.asked.Branch, "branch", "", "with --github: the default `branch` (default: the one of origin)")
	fl.StringVar(&g.asked.Install, "install", "", "with --github: `version` of pawl on the runners: a release, source, or installed (default: this version)")
	fl.StringVar(&g.asked.Action, "action", "", "with --github: the action that installs pawl, as `OWNER/REPO@COMMIT`, for a mirror")
}

// check rejects flags that need --github.
func (g *githubFlags) check(fl *pflag.FlagSet) error {
	var err error
	fl.Visit(func(f *pflag.Flag) {
		if !g.on && slices.Contains([]string{"upgrade", "shared", "suite", "runner", "fork-runner", "branch", "install", "action"}, f.Name) {
			err = fmt.Errorf("--%s requires --github", f.Name)
		}
	})
	return err
}

// runGitHub writes the files that GitHub needs. Without a suite it creates one first.
func (f *initFlags) runGitHub(ctx context.Context, source string) error {
	repo, err := build.Open(ctx, ".")
	if err != nil {
		return command.Exit(command.ExitCannot, fmt.Errorf("workflows belong at the top of a git repository: %w\n  run `git init`", err))
	}
	suites, err := install.Suites(ctx, repo.Root)
	if err != nil {
		return err
	}
	var placeholder error
	if len(suites) == 0 && len(f.github.asked.Folders) == 0 && !f.github.upgrade {
		switch err := f.run(ctx, source); {
		case errors.Is(err, errPlaceholder):
			placeholder = err
		case err != nil:
			return err
		}
	}
	done, err := install.Write(ctx, repo.Root, install.Request{Settings: f.github.asked, Upgrade: f.github.upgrade, Force: f.force, Now: time.Now()})
	if err != nil {
		return err
	}
	return errors.Join(f.printGitHub(done), placeholder)
}

func (f *initFlags) printGitHub(d install.Report) error {
	if f.json {
		return command.WriteJSON(f.Out, d)
	}
	var b strings.Builder
	for _, c := range d.Files {
		fmt.Fprintf(&b, "%-10s  %s", c.Deed, c.Path)
		if c.Why != "" {
			fmt.Fprintf(&b, "  (%s)", c.Why)
		}
		b.WriteByte('\n')
		if c.New != "" {
			fmt.Fprintf(&b, "%-10s  the new version is %s: diff %s %s\n", "", c.New, c.Path, c.New)
		}
	}
	for _, n := range d.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	if len(d.ByHand) > 0 {
		b.WriteString("\nto do by hand on GitHub:\n")
		for i, text := range d.ByHand {
			fmt.Fprintf(&b, "  %d. %s\n", i+1, text)
		}
		b.WriteString("\nnext:\n  pawl doctor --github    # check that the workflows are safe\n  git add --all           # then commit, push, and open a pull request\n")
	}
	_, err := fmt.Fprint(f.Out, b.String())
	return err
}
