package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/learn/gates"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/report"
)

func newGates(g *globals) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "gates",
		Short: "Show the phases and gates of kernel work, and the state of the session",
		Long: `Shows the gates in order: assess, build, baseline, optimise. In a session each gate has
an answer, with the numbers: passed, stop, open, overridden, or not asked now.

A repository can set other thresholds, in ` + gates.ThresholdFile + `; differences from
pawl's defaults are shown. A threshold can be changed within limits. A gate cannot be
removed.

Exit code: 0; 1 if a gate of the open session stops.`,
		Example: `  pawl session gates
  pawl session gates --json`,
		RunE: func(cmd *cobra.Command, _ []string) error { return showGates(cmd.Context(), g, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "the answer as JSON")
	return cmd
}

func showGates(ctx context.Context, g *globals, asJSON bool) error {
	w, root, err := g.openJournal()
	var st gateState
	switch {
	case errors.Is(err, journal.ErrNoSession):
		if st.set, err = repositoryGates(root); err != nil {
			return command.Usage(err)
		}
	case err != nil:
		return err
	default:
		st = g.gateStateOf(ctx, w, root, g.currentState(ctx, w, root))
	}
	if st.note != "" {
		fmt.Fprintln(g.Err, "note: "+st.note)
	}
	if asJSON {
		err = command.WriteJSON(g.Out, struct {
			*gates.Set
			Status []gates.Status `json:"status,omitempty"`
		}{st.set, st.status})
	} else {
		err = writeGates(g.Out, g.Style(), st)
	}
	if err != nil {
		return err
	}
	for _, s := range st.status {
		if s.Answer == gates.Failed {
			return command.Exit(command.ExitFailed, fmt.Errorf("%w: a gate stops", command.ErrReported))
		}
	}
	return nil
}

// repositoryGates returns the gates that a new session would start with.
func repositoryGates(root string) (*gates.Set, error) {
	set := gates.All()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(gates.ThresholdFile)))
	if errors.Is(err, os.ErrNotExist) {
		return set, nil
	}
	if err != nil {
		return nil, err
	}
	return set, set.With(text, gates.ThresholdFile)
}

// answerWords are the answers as printed; none is wider than six letters.
var answerWords = map[gates.Answer]string{
	gates.Passed: "passed", gates.Failed: "STOP", gates.Open: "open", gates.Overridden: "over", gates.Idle: "-",
}

func writeGates(w io.Writer, style report.Style, st gateState) error {
	answers := map[string]gates.Status{}
	for _, s := range st.status {
		answers[s.Gate.ID] = s
	}
	var b strings.Builder
	for _, p := range st.set.Phases {
		fmt.Fprintln(&b, style.Bold(p.Title))
		for i, gate := range p.Gates {
			branch := "├─"
			if i == len(p.Gates)-1 {
				branch = "└─"
			}
			s, asked := answers[gate.ID]
			if !asked {
				fmt.Fprintf(&b, "%s %-21s %s\n", branch, gate.ID, gate.Title)
				continue
			}
			writeGate(&b, style, branch, s)
		}
	}
	for _, t := range st.set.Moved() {
		fmt.Fprintf(&b, "threshold of this repository: %s is %v, pawl's default is %v (%s)\n", t.Name, t.Value, t.Default, t.Title)
	}
	if len(st.status) > 0 {
		next := gates.Next(st.status)
		fmt.Fprintf(&b, "next: %s\n", style.Bold(next.Command))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeGate(b *strings.Builder, style report.Style, branch string, s gates.Status) {
	word := fmt.Sprintf("%-6s", answerWords[s.Answer])
	text := s.Sentence
	switch s.Answer {
	case gates.Failed:
		word = style.Bad(word)
	case gates.Passed:
		word = style.Good(word)
	case gates.Overridden:
		word = style.Warn(word)
		text += fmt.Sprintf(" Overridden by %s: %s", words.Sanitize(s.By), words.Sanitize(s.Reason))
	case gates.Open:
	case gates.Idle:
		text = style.Faint(s.Gate.Title)
	}
	fmt.Fprintf(b, "%s %s %-21s %s\n", branch, word, s.Gate.ID, text)
}
