package decide

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/judge/submit"
)

func newSubmitExplain(g *env.Env) *cobra.Command {
	f := submitFlags{Env: g}
	cmd := &cobra.Command{
		Use:   "explain ID [OTHER]",
		Short: "Say why an attempt is as fast as it is, compared with another",
		Long: `Builds an attempt and another one (default: the best so far; base is the grant's base),
compares their machine code, and profiles the slowest case of both where a profiler works.`,
		Example: `  pawl submit explain 7
  pawl submit explain 7 base --json`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return f.explain(cmd.Context(), args) },
	}
	cmd.Flags().DurationVar(&f.wait, "wait", 30*time.Minute, "how long to wait while another pawl process uses the device")
	f.commonFlags(cmd)
	return cmd
}

func (f *submitFlags) explain(ctx context.Context, args []string) error {
	grant, err := f.grant(ctx, submit.Terms{})
	if err != nil {
		return err
	}
	other := ""
	if len(args) > 1 {
		other = args[1]
	}
	e, err := grant.Explain(ctx, args[0], other)
	if err != nil {
		return err
	}
	if f.json {
		return f.print(e)
	}
	lines := []string{fmt.Sprintf("attempt %s compared with %s", e.ID, e.Other)}
	add := func(head string, list ...string) {
		for _, text := range list {
			if text != "" {
				lines = append(lines, "  "+head+words.Sanitize(text))
			}
		}
	}
	add("why: ", e.Reason)
	add("code: ", e.Code)
	add("", e.Changes...)
	for _, h := range e.Hot {
		add("hot: ", fmt.Sprintf("%s:%d %.0f %%", h.File, h.Line, 100*float64(h.Share)))
	}
	for _, t := range e.Try {
		add("try: ", t.Do)
	}
	add("note: ", e.Notes...)
	for _, line := range lines {
		if _, err := fmt.Fprintln(f.Out, line); err != nil {
			return err
		}
	}
	return nil
}

// submitHistoryFlags are the flags of pawl submit history.
type submitHistoryFlags struct {
	submitFlags
	count int
}

func newSubmitHistory(g *env.Env) *cobra.Command {
	f := submitHistoryFlags{submitFlags: submitFlags{Env: g}}
	cmd := &cobra.Command{
		Use:   "history",
		Short: "List the attempts, best first",
		Long: `Lists the attempts with their diff, note and verdict, best first. Attempts are ranked by the
low end of their speed-up's interval, so that a lucky short race does not lead.`,
		Example: `  pawl submit history --count 5
  pawl submit history --json`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	cmd.Flags().IntVar(&f.count, "count", 10, fmt.Sprintf("`number` of attempts, up to %d", submit.MaxHistory))
	f.commonFlags(cmd)
	return cmd
}

func (f *submitHistoryFlags) run(ctx context.Context) error {
	if f.count < 1 || f.count > submit.MaxHistory {
		return command.Usage(fmt.Errorf("--count %d: must be from 1 to %d", f.count, submit.MaxHistory))
	}
	grant, err := f.grant(ctx, submit.Terms{})
	if err != nil {
		return err
	}
	h, err := grant.History(0, f.count)
	if err != nil {
		return err
	}
	if f.json {
		return f.print(h)
	}
	if _, err := fmt.Fprintf(f.Out, "%s relative to %.12s, best: %s\n", words.Plural(h.Total, "attempt"), h.Base, h.Best); err != nil {
		return err
	}
	for _, a := range h.Attempts {
		text := fmt.Sprintf("%4s  %-13s", a.ID, a.Status)
		if a.Speedup > 0 {
			text += fmt.Sprintf("  %6.3fx", float64(a.Speedup))
		}
		if _, err := fmt.Fprintln(f.Out, text+"  "+words.Sanitize(a.Note)); err != nil {
			return err
		}
	}
	return nil
}
