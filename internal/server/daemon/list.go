package daemon

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/server/store"
)

// lists makes c a command that lists objects, as lines or as JSON.
func lists[T any](g *globals, c *cobra.Command, all func(context.Context, *store.Store, []string) ([]T, error), line func(T) string) *cobra.Command {
	var asJSON bool
	c.RunE = func(cmd *cobra.Command, args []string) error {
		return g.withStore(cmd.Context(), func(_ *config, s *store.Store) error {
			list, err := all(cmd.Context(), s, args)
			if err != nil {
				return err
			}
			if asJSON {
				return g.asJSON(append([]T{}, list...))
			}
			for _, x := range list {
				fmt.Fprintln(g.Out, line(x))
			}
			return nil
		})
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return c
}

// ofProject lists objects of the project that the command's first argument names.
func ofProject[T any](all func(*store.Store, context.Context, int64) ([]T, error)) func(context.Context, *store.Store, []string) ([]T, error) {
	return func(ctx context.Context, s *store.Store, args []string) ([]T, error) {
		p, err := project(ctx, s, args[0])
		if err != nil {
			return nil, err
		}
		return all(s, ctx, p.ID)
	}
}
