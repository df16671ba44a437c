package daemon

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/server/store"
)

// changeResult is the result of a change: the message to print, and the detail for the audit log.
type changeResult struct {
	message string
	log     map[string]string
}

// changeAudited changes a project and adds the audit line, then prints the message once both are committed.
func (g *globals) changeAudited(ctx context.Context, s *store.Store, slug, action string, do func(in *store.Store, p store.Project) (changeResult, error)) error {
	p, err := project(ctx, s, slug)
	if err != nil {
		return err
	}
	var d changeResult
	err = s.ChangeAudited(ctx, p.ID, operator(), action, func(in *store.Store) (_ map[string]string, err error) {
		d, err = do(in, p)
		return d.log, err
	})
	if err == nil {
		fmt.Fprintln(g.Out, d.message)
	}
	return err
}

// removes makes c a command that removes a key, a rule or a hook by its number.
func (g *globals) removes(c *cobra.Command, what, verb, after string, do func(in *store.Store, ctx context.Context, project, id int64) error) *cobra.Command {
	c.Args = cobra.ExactArgs(2)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		id, err := strconv.ParseInt(args[1], 10, 64)
		if err != nil {
			return usageError{fmt.Errorf("%q is not the number of a %s: run `pawld %[2]s list %s`", args[1], what, args[0])}
		}
		return g.withStore(cmd.Context(), func(_ *config, s *store.Store) error {
			err := g.changeAudited(cmd.Context(), s, args[0], what+"."+verb, func(in *store.Store, p store.Project) (changeResult, error) {
				return changeResult{fmt.Sprintf("%s %d of %s %s", what, id, p.Slug, after), map[string]string{what: args[1]}}, do(in, cmd.Context(), p.ID, id)
			})
			if errors.Is(err, store.ErrNotFound) {
				return usageError{fmt.Errorf("%s has no %s %d: run `pawld %[2]s list %[1]s`", args[0], what, id)}
			}
			return err
		})
	}
	return c
}
