// Package install writes what a gate in pull requests needs into a repository: the workflows, the
// keys of the suites, rulesets to import and a section of the pull request template. It decides by
// what it finds there, and keeps files that a user edited. The package must not know how its
// report is printed.
package install

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/version"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/workflow"
)

// Request says what to write.
type Request struct {
	Settings workflow.Settings // as far as the user chose them
	Upgrade  bool              // update the workflows, and nothing else
	Force    bool              // also replace files that a user edited
	Now      time.Time
}

// Report is what was done.
type Report struct {
	Files    []Change          `json:"files"`
	ByHand   []string          `json:"by_hand,omitempty"` // steps that only a person can do, in the settings on GitHub
	Notes    []string          `json:"notes,omitempty"`
	Settings workflow.Settings `json:"settings"`
}

// Change is what was done with a file.
type Change struct {
	Path string          `json:"path"`
	Deed workflow.Action `json:"deed"`
	Why  string          `json:"why,omitempty"`
	New  string          `json:"new,omitempty"` // path of the new text, if the existing file was kept
}

// Write writes the files into the repository whose top folder is dir.
func Write(ctx context.Context, dir string, r Request) (Report, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Report{}, fmt.Errorf("cannot open %s: %w", dir, err)
	}
	defer root.Close()
	w := &writer{root: root, force: r.Force, upgrade: r.Upgrade}
	if err := w.checkPullRequestTarget(); err != nil {
		return Report{}, err
	}
	s, err := w.settings(ctx, r.Settings)
	if err != nil {
		return Report{}, err
	}
	if s, err = w.write(s, r.Now); err != nil {
		return Report{}, err
	}
	return w.report(s), nil
}

// maxSuites is the number of suites above which a list is probably a mistake.
const maxSuites = 8

// settings returns the settings of the workflows. What the user asked for comes first, then the settings that an
// upgrade finds in the files, then what the repository shows, then defaults.
func (w *writer) settings(ctx context.Context, asked workflow.Settings) (workflow.Settings, error) {
	fresh := workflow.Default()
	fresh.Branch = defaultBranch(ctx, w.root.Name(), fresh.Branch)
	fresh.Install = "source"
	if release.MatchString(version.Version()) {
		fresh.Install = version.Version()
	}
	if asked.Action == "" {
		fresh.Action, fresh.ActionTag = ownAction(ctx)
	}
	for i, folder := range asked.Folders {
		asked.Folders[i] = path.Clean(filepath.ToSlash(folder))
	}
	folders, err := Suites(ctx, w.root.Name())
	if err != nil {
		return asked, err
	}
	if len(folders) > 0 {
		fresh.Folders = folders
	}
	var s workflow.Settings
	switch st, there := workflow.ReadStamp(w.read(workflow.GateFile)); {
	case there && !w.upgrade && !w.force:
		return s, forge.Invalid("%s already exists\n  run `pawl init --github --upgrade` to update the workflows", workflow.GateFile)
	case !there && w.upgrade:
		return s, forge.Invalid("nothing to upgrade: there is no %s that pawl wrote\n  run `pawl init --github` to write it", workflow.GateFile)
	case w.upgrade:
		s = workflow.Merge(asked, st.Settings, fresh)
	default:
		s = asked.WithDefaults(fresh)
	}
	if len(s.Folders) > maxSuites {
		return s, forge.Invalid("the repository has %d suites: choose those to gate, the main one first\n  pawl init --github --suite %s", len(s.Folders), strings.Join(s.Folders[:2], ","))
	}
	if err := s.WithNames(s.Folders).Check(); err != nil {
		return s, forge.Invalid("%w", err)
	}
	return s, nil
}

// report describes what was done, and what is left to do by hand.
func (w *writer) report(s workflow.Settings) Report {
	d := Report{Files: w.changes, Notes: w.notes, Settings: s}
	if _, ref, _ := strings.Cut(s.Action, "@"); !fullCommit.MatchString(ref) {
		d.Notes = append(d.Notes, fmt.Sprintf("cannot find the commit of %s: pin it with pawl init --github --upgrade --action OWNER/REPO@COMMIT", s.Action))
	}
	if w.upgrade {
		return d
	}
	rulesets := workflow.RulesetFile
	if w.read(workflow.BaselineRulesetFile) != nil {
		rulesets += ", then " + workflow.BaselineRulesetFile
	}
	d.ByHand = []string{
		fmt.Sprintf("Settings > Actions > Runners: give the GPU runner the labels %s. For pull requests from forks, add an ephemeral runner with the labels %s.",
			strings.Join(s.Runner, ", "), strings.Join(s.ForkRunner, ", ")),
		"Settings > Environments: create pawl-fork, with required reviewers. Settings > Actions > General: require approval for all external contributors.",
		"Settings > Rules > Rulesets > Import a ruleset: " + rulesets + ".",
	}
	return d
}
