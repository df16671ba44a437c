package daemon

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/server/store"
)

func newRun(g *globals) *cobra.Command {
	return group(&cobra.Command{
		Use:   "run",
		Short: "Take runs out of a history, and put them back",
		Long: `A run that must not count (sent with a leaked key, measured on the wrong machine) is excluded:
trends, events, pages and exports are then as if it had never been sent. It can be restored
until it is deleted. The ledger in the repository is not changed.

RUN is the number in the address of the run's page.`,
		Example: `  pawld run exclude kernels 4711 --reason "measured on the wrong machine"
  pawld run excluded kernels
  pawld run restore kernels 4711`,
	}, runExclude(g), runRestore(g), runDelete(g), runExcluded(g))
}

func runExclude(g *globals) *cobra.Command {
	var reason string
	c := &cobra.Command{Use: "exclude PROJECT RUN", Short: "Take a run out of the history", Example: `  pawld run exclude kernels 4711 --reason "measured on the wrong machine"`}
	c.Flags().StringVar(&reason, "reason", "", "why it does not count, for the audit log")
	return g.changesHistory(c, "run", "excluded; the ledger in the repository is not changed", func(ctx context.Context, s *store.Store, project, id int64) error {
		return s.ExcludeRun(ctx, project, id, operator(), reason)
	})
}

func runRestore(g *globals) *cobra.Command {
	c := &cobra.Command{Use: "restore PROJECT RUN", Short: "Put an excluded run back", Example: `  pawld run restore kernels 4711`}
	return g.changesHistory(c, "run", "part of the history again", func(ctx context.Context, s *store.Store, project, id int64) error {
		return s.RestoreRun(ctx, project, id, operator())
	})
}

func runDelete(g *globals) *cobra.Command {
	c := &cobra.Command{Use: "delete PROJECT RUN", Short: "Delete the data of an excluded run for good", Example: `  pawld run delete kernels 4711`}
	return g.changesHistory(c, "run", "deleted", func(ctx context.Context, s *store.Store, project, id int64) error {
		return s.DeleteRun(ctx, project, id, operator())
	})
}

func runExcluded(g *globals) *cobra.Command {
	c := &cobra.Command{Use: "excluded PROJECT", Short: "List the excluded runs of a project", Example: `  pawld run excluded kernels --json`, Args: cobra.ExactArgs(1)}
	return lists(g, c, ofProject((*store.Store).ExcludedRuns), func(x store.Excluded) string {
		return fmt.Sprintf("%-8d %s %s %.12s: %s (%s, %s%s)", x.ID, x.Run, x.Suite, x.Commit, x.Reason, x.Actor, formatDay(x.Excluded), deletedMark(x.Deleted))
	})
}

func deletedMark(at *time.Time) string {
	if at == nil {
		return ""
	}
	return ", deleted"
}

func newSeries(g *globals) *cobra.Command {
	var reason string
	out := &cobra.Command{Use: "exclude PROJECT SERIES", Short: "Take a series out of the history", Example: `  pawld series exclude kernels 12 --reason "measures the wrong kernel"`}
	out.Flags().StringVar(&reason, "reason", "", "why it does not count, for the audit log")
	g.changesHistory(out, "series", "excluded; the ledger in the repository is not changed", func(ctx context.Context, s *store.Store, project, id int64) error {
		return s.ExcludeSeries(ctx, project, id, operator(), reason)
	})
	back := &cobra.Command{Use: "restore PROJECT SERIES", Short: "Put an excluded series back", Example: `  pawld series restore kernels 12`}
	g.changesHistory(back, "series", "part of the history again", func(ctx context.Context, s *store.Store, project, id int64) error {
		return s.RestoreSeries(ctx, project, id, operator())
	})
	gone := &cobra.Command{Use: "delete PROJECT SERIES", Short: "Delete the points and events of an excluded series for good", Example: `  pawld series delete kernels 12`}
	g.changesHistory(gone, "series", "deleted", func(ctx context.Context, s *store.Store, project, id int64) error {
		return s.DeleteSeries(ctx, project, id, operator())
	})
	list := &cobra.Command{Use: "excluded PROJECT", Short: "List the excluded series of a project", Example: `  pawld series excluded kernels --json`, Args: cobra.ExactArgs(1)}
	lists(g, list, ofProject((*store.Store).ExcludedSeries), func(x store.ExcludedSeries) string {
		return fmt.Sprintf("%-8d %s %s %s: %s (%s, %s%s)", x.ID, x.Suite, x.Name, x.Implementation, x.Reason, x.Actor, formatDay(x.Excluded), deletedMark(x.Deleted))
	})
	return group(&cobra.Command{
		Use:   "series",
		Short: "Take series out of a history, and put them back",
		Long: `An excluded series is in no list and no export, and has no events. Its points are kept, and
reports keep adding to them, so it can be restored until it is deleted. A deleted series does not
come back: what reports still send for it is deleted, too.

SERIES is the number in the address of the series' page.`,
		Example: `  pawld series exclude kernels 12 --reason "measures the wrong kernel"
  pawld series restore kernels 12`,
	}, out, back, gone, list)
}

// changesHistory makes c a command that changes the run or series that its arguments name.
func (g *globals) changesHistory(c *cobra.Command, what, after string, do func(ctx context.Context, s *store.Store, project, id int64) error) *cobra.Command {
	c.Args = cobra.ExactArgs(2)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		id, err := strconv.ParseInt(args[1], 10, 64)
		if err != nil {
			return usageError{fmt.Errorf("%q is not the number of a %s: it is the last part of the address of its page", args[1], what)}
		}
		return g.withProject(cmd.Context(), args[0], func(_ *config, s *store.Store, p store.Project) error {
			err := do(cmd.Context(), s, p.ID, id)
			switch {
			case errors.Is(err, store.ErrNotFound):
				return usageError{fmt.Errorf("%s has no such %s: %w", p.Slug, what, err)}
			case errors.Is(err, store.ErrDeleted):
				return usageError{err}
			case err != nil:
				return err
			}
			fmt.Fprintf(g.Out, "%s %d of %s is %s\n", what, id, p.Slug, after)
			return nil
		})
	}
	return c
}
