// Package lab has the commands of pawl-lab, which measure pawl itself.
package lab

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/cli/command"
)

// Main runs one command of pawl-lab and returns the exit code.
func Main(ctx context.Context, args []string, io *command.IO) int {
	return command.Program{New: newRoot}.Run(ctx, args, io)
}

func newRoot(g *command.Globals) *cobra.Command {
	root := command.NewRoot(g, &cobra.Command{
		Use:   "pawl-lab",
		Short: "Measure pawl itself: its judge, its tuner, what it learns",
		Long: `Measures what pawl itself does: how often its verdicts are wrong, how close its searches
come to the best point, how good its recommendations are, and what each costs.`,
		Example: `  pawl-lab judge --quick                                   # the judge, in a few seconds
  pawl-lab tune --quick                                    # the tuner, in under a minute
  pawl-lab judge --data DATA --out docs/lab --seed 1       # all of it, takes minutes`,
	})
	return command.Group(root, newJudge(g), newTune(g))
}
