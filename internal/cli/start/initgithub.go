package start

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/goatnote-inc/pawl/internal/base/version"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/forge/workflow"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/discover"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
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
	folders, err := suiteFolders(ctx, repo.Root)
	if err != nil {
		return err
	}
	if len(folders) == 0 && len(f.github.asked.Folders) == 0 && !f.github.upgrade {
		if err := f.run(ctx, source); err != nil {
			return err
		}
		if folders, err = suiteFolders(ctx, repo.Root); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(repo.Root)
	if err != nil {
		return fmt.Errorf("cannot open %s: %w", repo.Root, err)
	}
	defer root.Close()
	w := &githubWriter{root: root, force: f.force, upgrade: f.github.upgrade}
	if err := w.checkPullRequestTarget(); err != nil {
		return err
	}
	s, err := f.githubSettings(ctx, w, repo.Root, folders)
	if err != nil {
		return err
	}
	if s, err = w.write(s, time.Now()); err != nil {
		return err
	}
	return f.printGitHub(w.document(s))
}

// suiteFolders returns the folders of all suites that git tracks or does not ignore, the top one first.
func suiteFolders(ctx context.Context, root string) ([]string, error) {
	out, err := env.GitOutput(ctx, root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", discover.SuiteFile, "*/"+discover.SuiteFile)
	if err != nil {
		return nil, command.Exit(command.ExitCannot, fmt.Errorf("cannot list the suites in %s: %w", root, err))
	}
	var list []string
	for name := range strings.SplitSeq(out, "\x00") {
		if path.Base(name) != discover.SuiteFile {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(name))); err == nil {
			list = append(list, path.Dir(name))
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// maxSuites is the number of suites above which a list is probably a mistake.
const maxSuites = 8

// githubSettings returns the settings of the workflows. Flags come first, then the settings that an
// upgrade finds in the files, then what the repository shows, then defaults.
func (f *initFlags) githubSettings(ctx context.Context, w *githubWriter, root string, folders []string) (workflow.Settings, error) {
	fresh := workflow.Default()
	fresh.Branch = defaultBranch(ctx, root, fresh.Branch)
	fresh.Install = "source"
	if release.MatchString(version.Version()) {
		fresh.Install = version.Version()
	}
	if fresh.Action, fresh.ActionTag = f.github.asked.Action, ""; fresh.Action == "" {
		fresh.Action, fresh.ActionTag = ownAction(ctx)
	}
	asked := f.github.asked
	for i, folder := range asked.Folders {
		asked.Folders[i] = path.Clean(filepath.ToSlash(folder))
	}
	if len(folders) > 0 {
		fresh.Folders = folders
	}
	var s workflow.Settings
	switch st, there := w.installed(); {
	case there && !f.github.upgrade && !f.force:
		return s, command.Usage(fmt.Errorf("%s already exists\n  run `pawl init --github --upgrade` to update the workflows", gateFile))
	case !there && f.github.upgrade:
		return s, command.Usage(fmt.Errorf("nothing to upgrade: there is no %s that pawl wrote\n  run `pawl init --github` to write it", gateFile))
	case f.github.upgrade:
		s = workflow.Merge(asked, st.Settings, fresh)
	default:
		s = asked.WithDefaults(fresh)
	}
	if len(s.Folders) > maxSuites {
		return s, command.Usage(fmt.Errorf("the repository has %d suites: choose those to gate, the main one first\n  pawl init --github --suite %s", len(s.Folders), strings.Join(s.Folders[:2], ",")))
	}
	if err := s.WithNames(s.Folders).Check(); err != nil {
		return s, command.Usage(err)
	}
	return s, nil
}

const gateFile = workflow.Folder + "/pawl-gate.yml"

// githubWriter writes files into a repository and records the changes.
type githubWriter struct {
	root           *os.Root
	force, upgrade bool
	changes        []githubChange
	notes          []string
}

// read returns the content of a file; nil if it cannot be read.
func (w *githubWriter) read(name string) []byte {
	text, err := w.root.ReadFile(filepath.FromSlash(name))
	if err != nil {
		return nil
	}
	return append([]byte{}, text...)
}

func (w *githubWriter) installed() (workflow.Stamp, bool) {
	return workflow.ReadStamp(w.read(gateFile))
}

// checkPullRequestTarget returns an error for a workflow on pull_request_target, which would make the gate worthless.
func (w *githubWriter) checkPullRequestTarget() error {
	for name, text := range workflowFiles(w.root) {
		for _, p := range workflow.Check(name, text) {
			if p.Rule == "pull-request-target" {
				return command.Usage(fmt.Errorf("%s:%d: %s", p.Path, p.Line, p.Message))
			}
		}
	}
	return nil
}

// writeFile writes a file and creates its parent folders.
func (w *githubWriter) writeFile(name string, text []byte) error {
	name = filepath.FromSlash(name)
	if err := w.root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := w.root.WriteFile(name, text, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// write writes all files. The suites come first, so that an unreadable one stops before any workflow is
// written. The names of the suites become part of the settings.
func (w *githubWriter) write(s workflow.Settings, now time.Time) (workflow.Settings, error) {
	var names []string
	var baselines string
	for _, folder := range s.Folders {
		loaded, err := w.extendSuite(path.Join(folder, discover.SuiteFile), s.Branch, now)
		if err != nil {
			return s, err
		}
		names = append(names, loaded.Name)
		if loaded.Baseline.Keep == "branch" {
			baselines = loaded.Baseline.Branch
		}
		if loaded.Baseline.Keep == "none" {
			w.notes = append(w.notes, fmt.Sprintf("the suite in %s keeps no baselines, so pawl-ratchet.yml has nothing to move: set baseline: {keep: branch, remote: origin}", folder))
		}
	}
	s = s.WithNames(names)
	files, err := workflow.Render(s, version.Version())
	if err != nil {
		return s, command.Usage(err)
	}
	for _, c := range workflow.Plan(files, w.read, w.force) {
		if err := w.apply(c); err != nil {
			return s, err
		}
	}
	if w.upgrade {
		return s, nil
	}
	rulesets, err := workflow.Rulesets(s.Checks(), baselines)
	if err != nil {
		return s, err
	}
	for _, file := range append(rulesets, workflow.Lint(s)) {
		if w.read(file.Path) != nil && !w.force {
			continue // the file is the user's, or was adapted since
		}
		if err := w.apply(workflow.Change{File: file, Deed: workflow.Create}); err != nil {
			return s, err
		}
	}
	return s, w.pullRequest()
}

// apply carries out the planned change of a file.
func (w *githubWriter) apply(c workflow.Change) error {
	done := githubChange{Path: c.Path, Deed: c.Deed, Why: c.Why}
	switch c.Deed {
	case workflow.Same:
	case workflow.Keep:
		done.New = c.Path + workflow.NewSuffix
		if err := w.writeFile(done.New, c.Text); err != nil {
			return err
		}
	default:
		if err := w.writeFile(c.Path, c.Text); err != nil {
			return err
		}
	}
	w.changes = append(w.changes, done)
	return nil
}

// extendSuite adds the keys of a gate to a suite that has none, and returns the suite read again.
func (w *githubWriter) extendSuite(name, branch string, now time.Time) (*suite.Suite, error) {
	full := filepath.Join(w.root.Name(), filepath.FromSlash(name))
	loaded, err := suite.Load(full)
	if err != nil {
		return nil, err
	}
	if w.upgrade {
		return loaded, nil // the keys were added earlier, or removed since
	}
	before := w.read(name)
	text, added, err := workflow.AddKeys(before, branch, now)
	if err != nil {
		w.notes = append(w.notes, fmt.Sprintf("%s: %v: add gate: {mode: advise, since: %s} by hand", name, err, now.Format(time.DateOnly)))
		return loaded, nil
	}
	if added == nil {
		return loaded, nil
	}
	if err := w.writeFile(name, text); err != nil {
		return nil, err
	}
	if loaded, err = suite.Load(full); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot read %s with the added keys, so it is restored: %w", name, err), w.writeFile(name, before))
	}
	w.changes = append(w.changes, githubChange{Path: name, Deed: "extended", Why: "with " + strings.Join(added, " and ")})
	return loaded, nil
}

// pullRequest adds a section to the template for pull requests.
func (w *githubWriter) pullRequest() error {
	name, text := workflow.PullRequestPlaces[0], []byte(nil)
	for _, place := range workflow.PullRequestPlaces {
		if there := w.read(place); there != nil {
			name, text = place, there
			break
		}
	}
	longer := workflow.PullRequest(text)
	if longer == nil {
		return nil
	}
	deed := workflow.Create
	if text != nil {
		deed = "extended"
	}
	return w.apply(workflow.Change{File: workflow.File{Path: name, Text: longer}, Deed: deed})
}

// workflowFiles returns the workflows of a repository that mention pawl, by path.
func workflowFiles(root *os.Root) map[string][]byte {
	list := map[string][]byte{}
	entries, err := fs.ReadDir(root.FS(), workflow.Folder)
	if err != nil {
		return list
	}
	for _, e := range entries {
		name := path.Join(workflow.Folder, e.Name())
		if ext := path.Ext(name); ext != ".yml" && ext != ".yaml" || !e.Type().IsRegular() {
			continue
		}
		if text, err := root.ReadFile(name); err == nil && workflow.UsesPawl(text) {
			list[name] = text
		}
	}
	return list
}
