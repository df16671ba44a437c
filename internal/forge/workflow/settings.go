package workflow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// Settings holds what differs between repositories. Every written file contains them, so
// that an upgrade keeps them.
type Settings struct {
	Runner     []string `json:"runner"`           // labels of the GPU runner
	ForkRunner []string `json:"fork_runner"`      // labels of the ephemeral GPU runner for forks
	Hosted     string   `json:"hosted"`           // label of a runner that runs no kernels and has no GPU
	Branch     string   `json:"branch"`           // the default branch
	Folders    []string `json:"folders"`          // of the suites; the first is the main one
	Names      []string `json:"names,omitempty"`  // of the suites, for the names of their checks; empty with one suite
	Install    string   `json:"install"`          // a release of pawl, "source" or "installed"
	Action     string   `json:"action"`           // OWNER/REPO@REF of the action that installs it
	ActionTag  string   `json:"action_tag"`       // readable name of REF
	Shared     string   `json:"shared,omitempty"` // OWNER/REPO@REF of the workflows to call; empty to write them here
	Cron       string   `json:"cron"`             // when the nightly run starts
}

// Default returns the default settings. The caller must set which pawl to install, and by
// which action.
func Default() Settings {
	return Settings{
		Runner: []string{"self-hosted", "gpu"}, ForkRunner: []string{"self-hosted", "gpu", "ephemeral"},
		Hosted: "ubuntu-latest", Branch: "main", Folders: []string{"."},
		Cron: "17 3 * * *",
	}
}

// WithDefaults returns s with unset fields taken from d.
func (s Settings) WithDefaults(d Settings) Settings {
	for _, p := range []struct{ to, from *[]string }{{&s.Runner, &d.Runner}, {&s.ForkRunner, &d.ForkRunner}, {&s.Folders, &d.Folders}, {&s.Names, &d.Names}} {
		if len(*p.to) == 0 {
			*p.to = slices.Clone(*p.from)
		}
	}
	if s.Action == "" {
		s.Action, s.ActionTag = d.Action, d.ActionTag
	}
	for _, p := range []struct{ to, from *string }{
		{&s.Hosted, &d.Hosted}, {&s.Branch, &d.Branch}, {&s.Install, &d.Install}, {&s.Shared, &d.Shared}, {&s.Cron, &d.Cron},
	} {
		if *p.to == "" {
			*p.to = *p.from
		}
	}
	return s
}

// Values that are safe without quotes in a workflow.
var (
	labelForm   = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)
	branchForm  = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$`)
	folderForm  = lazyregexp.New(`^(\.|[A-Za-z0-9_][A-Za-z0-9._/-]{0,199})$`)
	nameForm    = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._ /+-]{0,59}$`)
	versionForm = lazyregexp.New(`^(source|installed|[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.-]{0,60})$`)
	actionForm  = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}@[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$`)
	tagForm     = lazyregexp.New(`^[A-Za-z0-9._-]{0,100}$`)
	cronForm    = lazyregexp.New(`^[0-9*/, -]{9,60}$`)
)

// Check rejects settings that could produce a different workflow than intended.
func (s Settings) Check() error {
	if len(s.Runner) == 0 || len(s.ForkRunner) == 0 || len(s.Folders) == 0 {
		return fmt.Errorf("a workflow needs runner labels and a suite folder")
	}
	if len(s.Names) != 0 && len(s.Names) != len(s.Folders) || len(s.Folders) > 1 && len(s.Names) == 0 {
		return fmt.Errorf("%d suites, but %d check names", len(s.Folders), len(s.Names))
	}
	for _, c := range []struct {
		what  string
		form  *lazyregexp.Regexp
		texts []string
	}{
		{"runner label", labelForm, append(append([]string{s.Hosted}, s.Runner...), s.ForkRunner...)},
		{"branch", branchForm, []string{s.Branch}},
		{"suite folder", folderForm, s.Folders},
		{"suite name", nameForm, s.Names},
		{"pawl version", versionForm, []string{s.Install}},
		{"action (OWNER/REPO@COMMIT)", actionForm, []string{s.Action}},
		{"action version name", tagForm, []string{s.ActionTag}},
		{"schedule of the nightly run", cronForm, []string{s.Cron}},
	} {
		for _, text := range c.texts {
			if !c.form.MatchString(text) || strings.Contains(text, "..") {
				return fmt.Errorf("%q is not a valid %s in a workflow", text, c.what)
			}
		}
	}
	if s.Shared != "" && !actionForm.MatchString(s.Shared) {
		return fmt.Errorf("%q is not a valid location of shared workflows: expected OWNER/REPO@COMMIT", s.Shared)
	}
	return nil
}

// WithNames names the checks of several suites after them, or after their folders if a name
// is not allowed in a workflow. A single suite needs no name.
func (s Settings) WithNames(suites []string) Settings {
	s.Names = nil
	if len(s.Folders) == 1 {
		return s
	}
	for i, folder := range s.Folders {
		name := suites[i]
		if !nameForm.MatchString(name) || slices.Contains(s.Names, name) {
			name = strings.TrimLeft(folder, "._/-")
		}
		s.Names = append(s.Names, name)
	}
	return s
}

// Checks returns the names of the suites' checks.
func (s Settings) Checks() []string {
	if len(s.Names) == 0 {
		return []string{"pawl"}
	}
	var list []string
	for _, name := range s.Names {
		list = append(list, "pawl / "+name)
	}
	return list
}
