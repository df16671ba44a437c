package start

import (
	"fmt"
	"strings"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/forge/workflow"
)

// githubDoc is the JSON output of pawl init --github.
type githubDoc struct {
	Files    []githubChange    `json:"files"`
	ByHand   []string          `json:"by_hand,omitempty"` // steps that only a person can do, in the settings on GitHub
	Notes    []string          `json:"notes,omitempty"`
	Settings workflow.Settings `json:"settings"`
}

type githubChange struct {
	Path string          `json:"path"`
	Deed workflow.Action `json:"deed"`
	Why  string          `json:"why,omitempty"`
	New  string          `json:"new,omitempty"` // path of the new text, if the existing file was kept
}

func (w *githubWriter) document(s workflow.Settings) githubDoc {
	d := githubDoc{Files: w.changes, Notes: w.notes, Settings: s}
	if _, ref, _ := strings.Cut(s.Action, "@"); !fullCommit.MatchString(ref) {
		d.Notes = append(d.Notes, fmt.Sprintf("cannot find the commit of %s: pin it with pawl init --github --upgrade --action OWNER/REPO@COMMIT", s.Action))
	}
	if w.upgrade {
		return d
	}
	d.ByHand = []string{
		fmt.Sprintf("Settings > Actions > Runners: give the GPU runner the labels %s. For pull requests from forks, add an ephemeral runner with the labels %s.",
			strings.Join(s.Runner, ", "), strings.Join(s.ForkRunner, ", ")),
		"Settings > Environments: create pawl-fork, with required reviewers. Settings > Actions > General: require approval for all external contributors.",
		"Settings > Rules > Rulesets > Import a ruleset: " + strings.Join(w.rulesets(), ", then ") + ".",
	}
	return d
}

func (w *githubWriter) rulesets() []string {
	list := []string{".github/pawl-ruleset.json"}
	if w.read(".github/pawl-ruleset-baseline.json") != nil {
		list = append(list, ".github/pawl-ruleset-baseline.json")
	}
	return list
}

func (f *initFlags) printGitHub(d githubDoc) error {
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
