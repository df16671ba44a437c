// Package lab has the commands of pawl-lab, which measure pawl itself.
package lab

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/cli/command"
)

// Main runs one command of pawl-lab and returns the exit code.
func Main(ctx context.Context, args []string, io *command.IO) int {
	return command.Program{New: newRoot}.Run(ctx, args, io)
}

// progress returns a function that reports a step with the seconds since now.
func progress(g *command.Globals) func(string) {
	began := time.Now()
	return func(text string) { g.Say(fmt.Sprintf("%5.0f s  %s", time.Since(began).Seconds(), text)) }
}

// promises returns the error for promises that do not hold.
func promises(broken, all int, what string) error {
	if broken == 0 {
		return nil
	}
	return command.Exit(command.ExitFailed, fmt.Errorf("%d of %d %s do not hold", broken, all, what))
}

// checkData rejects a folder of recorded data that cannot be read. None is valid.
func checkData(folder string) error {
	if folder == "" {
		return nil
	}
	if _, err := os.Stat(folder); err != nil {
		return fmt.Errorf("cannot read recorded data: %w", err)
	}
	return nil
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
