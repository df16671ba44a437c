package install

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/version"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/workflow"
	"github.com/goatnote-inc/pawl/internal/kernel/discover"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// writer writes files into a repository and records the changes.
type writer struct {
	root           *os.Root
	force, upgrade bool
	changes        []Change
	notes          []string
}

// read returns the content of a file; nil if it cannot be read.
func (w *writer) read(name string) []byte {
	text, err := w.root.ReadFile(filepath.FromSlash(name))
	if err != nil {
		return nil
	}
	return append([]byte{}, text...)
}

// checkPullRequestTarget returns an error for a workflow on pull_request_target, which would make the gate worthless.
func (w *writer) checkPullRequestTarget() error {
	for name, text := range workflow.Files(w.root.FS()) {
		for _, p := range workflow.Check(name, text) {
			if p.Rule == "pull-request-target" {
				return forge.Invalid("%s:%d: %s", p.Path, p.Line, p.Message)
			}
		}
	}
	return nil
}

// writeFile writes a file and creates its parent folders.
func (w *writer) writeFile(name string, text []byte) error {
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
func (w *writer) write(s workflow.Settings, now time.Time) (workflow.Settings, error) {
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
		return s, forge.Invalid("%w", err)
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
func (w *writer) apply(c workflow.Change) error {
	done := Change{Path: c.Path, Deed: c.Deed, Why: c.Why}
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
func (w *writer) extendSuite(name, branch string, now time.Time) (*suite.Suite, error) {
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
	w.changes = append(w.changes, Change{Path: name, Deed: "extended", Why: "with " + strings.Join(added, " and ")})
	return loaded, nil
}

// pullRequest adds a section to the template for pull requests.
func (w *writer) pullRequest() error {
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
