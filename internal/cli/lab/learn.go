package lab

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/learn"
)

// learnFlags are the flags of pawl-lab learn.
type learnFlags struct {
	*command.Globals
	learn.LabOptions
	quick    bool
	json     bool
	markdown bool
}

func newLearn(g *command.Globals) *cobra.Command {
	f := learnFlags{Globals: g, LabOptions: learn.DefaultLab()}
	cmd := &cobra.Command{
		Use:   "learn",
		Short: "Test recommendations and forecasts on simulated sessions with known truth",
		Long: `Runs simulated sessions: kernels, bottlenecks and true gains come from a generator that was
fixed before the model was written (docs/lab/learning.md). Reports how often the first
recommendation is the truly best fix, for the rules alone, a running mean, the model, and
perfect knowledge; how accurate intervals are; and what happens to a poisoned lesson.

Exit code: 0 if every required figure holds, 1 if one does not.`,
		Example: `  pawl-lab learn --quick
  pawl-lab learn --worlds 200 --seed 1 --md   # docs/lab/learning.md, takes minutes
  pawl-lab learn --sessions 0,10,50,200 --worlds 20 --json`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.quick, "quick", false, "run 4 worlds instead of 200")
	fl.IntVar(&f.Worlds, "worlds", f.Worlds, "number of `worlds`, each with its own effects")
	fl.Uint64Var(&f.Seed, "seed", f.Seed, "seed of the first world")
	fl.IntSliceVar(&f.Sessions, "sessions", f.Sessions, "evaluate after this many `sessions`")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	fl.BoolVar(&f.markdown, "md", false, "print Markdown")
	return cmd
}

// Limits of the flags. Larger values would take too long.
const (
	maxWorlds   = 10_000
	maxSessions = 1_000
)

func (f *learnFlags) run(ctx context.Context) error {
	if f.quick {
		f.Worlds, f.Teams = 4, 20
	}
	if err := f.check(); err != nil {
		return command.Usage(err)
	}
	f.Say = progress(f.Globals)
	figures, err := learn.RunLab(ctx, f.LabOptions)
	if err != nil {
		return err
	}
	switch {
	case f.json:
		err = command.WriteJSON(f.Out, figures)
	case f.markdown:
		err = figures.Markdown(f.Out)
	default:
		err = figures.Terminal(f.Out, f.Style())
	}
	if err != nil {
		return err
	}
	return promises(figures.Broken(), len(figures.Promises), "required figures")
}

func (f *learnFlags) check() error {
	if f.Worlds < 1 || f.Worlds > maxWorlds {
		return fmt.Errorf("--worlds %d: must be 1 to %d", f.Worlds, maxWorlds)
	}
	last := -1
	for _, n := range f.Sessions {
		if n <= last || n > maxSessions {
			return fmt.Errorf("--sessions: numbers must increase and be at most %d", maxSessions)
		}
		last = n
	}
	if last < 0 {
		return errors.New("--sessions: must not be empty, for example 0,10,50")
	}
	return nil
}
