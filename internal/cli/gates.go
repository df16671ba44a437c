package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
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
		Long: `Shows the gates in order: assess, build, baseline, optimize. In a session each gate has an
answer, with the reason: passed, STOP, advice, open, overridden, or not asked now.

Exit code: 0; 1 if a gate of the open session stops.`,
		Example: `  pawl session gates
  pawl session gates --json`,
		RunE: func(cmd *cobra.Command, _ []string) error { return showGates(cmd.Context(), g, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func showGates(ctx context.Context, g *globals, asJSON bool) error {
	w, root, err := g.openJournal()
	var status []gates.Status
	switch {
	case err == nil:
		status = g.gateStatus(w, root, g.currentState(ctx, w, root))
	case errors.Is(err, journal.ErrNoSession):
		for _, gate := range gates.All() {
			status = append(status, gates.Status{Gate: gate})
		}
	default:
		return err
	}
	if asJSON {
		err = command.WriteJSON(g.Out, map[string]any{"gates": status})
	} else {
		err = writeGates(g.Out, g.Style(), status)
	}
	if step := gates.Next(status); err == nil && step.Stop {
		return command.Exit(command.ExitFailed, fmt.Errorf("%w: the gate %s stops", command.ErrReported, step.Gate))
	}
	return err
}

func writeGates(w io.Writer, style report.Style, status []gates.Status) error {
	var b strings.Builder
	phase := ""
	for _, s := range status {
		if s.Phase != phase {
			phase = s.Phase
			fmt.Fprintln(&b, style.Bold(phase))
		}
		word, text := fmt.Sprintf("%-6s", s.Answer), s.Sentence
		switch s.Answer {
		case gates.Stop:
			word = style.Bad("STOP  ")
		case gates.Advice:
			word = style.Warn(word)
		case gates.Passed:
			word = style.Good(word)
		case gates.Overridden:
			word = style.Warn("over  ")
			text += fmt.Sprintf(" Overridden by %s: %s", words.Sanitize(s.By), words.Sanitize(s.Reason))
		case gates.Open:
		default:
			word, text = "-     ", style.Faint(s.Title)
		}
		fmt.Fprintf(&b, "  %s %-14s %s\n", word, s.ID, text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
