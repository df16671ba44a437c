package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/learn/gates"
	"github.com/goatnote-inc/pawl/internal/learn/page"
)

func newGates(g *globals) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "gates",
		Short: "Show the phases and gates of kernel work, and the state of the session",
		Long: `Shows the gates in order: assess, build, baseline, optimize. In a session each gate has an
answer, with the reason: passed, stop, advice, open, overridden, or idle (not asked now).

Exit code: 0; 1 if a gate of the open session stops.`,
		Example: `  pawl session gates
  pawl session gates --json`,
		RunE: func(cmd *cobra.Command, _ []string) error { return showGates(cmd.Context(), g, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func showGates(ctx context.Context, g *globals, asJSON bool) error {
	state, err := g.pageState(ctx)
	switch {
	case err != nil:
	case asJSON && state.Session == nil:
		err = command.WriteJSON(g.Out, map[string]any{"gates": gates.All()})
	case asJSON:
		err = command.WriteJSON(g.Out, map[string]any{"gates": state.Status})
	default:
		err = page.Gates(state).Text(g.Out, g.Style())
	}
	if err == nil && state.Next.Stop {
		return command.Exit(command.ExitFailed, fmt.Errorf("%w: the gate %s stops", command.ErrReported, state.Next.Gate))
	}
	return err
}
