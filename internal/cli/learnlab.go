package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/learn"
)

// learnLabFlags are the flags of pawl learn lab.
type learnLabFlags struct {
	*globals
	learn.LabOptions
	quick    bool
	json     bool
	markdown bool
}

func newLearnLab(g *globals) *cobra.Command {
	f := learnLabFlags{globals: g, LabOptions: learn.DefaultLab()}
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Judge recommendations and forecasts on sessions of which the truth is known",
		Long: `Plays simulated sessions: kernels, bottlenecks and true gains from a generator that was
fixed before the model was written (docs/lab/learning.md). Says how often the first
recommendation is the truly best fix, for the rules alone, a running mean, the model and
who knows everything; how honest intervals are; and how a poisoned lesson fares.

Exit code: 0 if every figure that is asked for holds, 1 if one does not.`,
		Example: `  pawl learn lab --quick
  pawl learn lab --worlds 200 --seed 1 --md   # docs/lab/learning.md, minutes
  pawl learn lab --sessions 0,10,50,200 --worlds 20 --json`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.quick, "quick", false, "4 worlds instead of 200")
	fl.IntVar(&f.Worlds, "worlds", f.Worlds, "how many `worlds`, each with effects of its own")
	fl.Uint64Var(&f.Seed, "seed", f.Seed, "seed of the first world")
	fl.IntSliceVar(&f.Sessions, "sessions", f.Sessions, "ask after so many `sessions`")
	fl.BoolVar(&f.json, "json", false, "the figures as JSON")
	fl.BoolVar(&f.markdown, "md", false, "the figures as Markdown")
	return cmd
}

// Limits of the flags. Larger values would take too long.
const (
	maxLabWorlds   = 10_000
	maxLabSessions = 1_000
)

func (f *learnLabFlags) run(ctx context.Context) error {
	if f.quick {
		f.Worlds, f.Teams = 4, 20
	}
	if err := f.check(); err != nil {
		return usageError{err}
	}
	began := time.Now()
	f.Say = func(text string) { f.say(fmt.Sprintf("%5.0f s  %s", time.Since(began).Seconds(), text)) }
	lab, err := learn.RunLab(ctx, f.LabOptions)
	if err != nil {
		return err
	}
	switch {
	case f.json:
		err = writeJSON(f.Out, lab)
	case f.markdown:
		err = lab.Markdown(f.Out)
	default:
		err = lab.Terminal(f.Out, f.style())
	}
	if err != nil {
		return err
	}
	if n := lab.Broken(); n > 0 {
		return exitError{exitFailed, fmt.Errorf("%d of %d figures that are asked for do not hold", n, len(lab.Promises))}
	}
	return nil
}

func (f *learnLabFlags) check() error {
	if f.Worlds < 1 || f.Worlds > maxLabWorlds {
		return fmt.Errorf("--worlds %d: 1 to %d", f.Worlds, maxLabWorlds)
	}
	last := -1
	for _, n := range f.Sessions {
		if n <= last || n > maxLabSessions {
			return fmt.Errorf("--sessions: numbers that rise, up to %d", maxLabSessions)
		}
		last = n
	}
	if last < 0 {
		return errors.New("--sessions: after how many sessions is asked, 0,10,50")
	}
	return nil
}
