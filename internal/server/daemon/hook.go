package daemon

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/server/alert"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

func newHook(g *globals) *cobra.Command {
	return group(&cobra.Command{
		Use:   "hook",
		Short: "Manage and test where a project sends notifications",
		Example: `  pawld hook add kernels --kind slack --url-file /run/secrets/slack
  pawld hook test kernels 1`,
	}, hookAdd(g), hookList(g), hookRemove(g), hookTest(g))
}

func hookAdd(g *globals) *cobra.Command {
	var w wantedHook
	c := &cobra.Command{
		Use:   "add PROJECT",
		Short: "Add a hook",
		Long: `Kinds: slack (also for services that accept Slack's webhooks), json (signed with the secret,
see docs/how-to/notifications.md), mail (mailto:NAME@HOST, if the settings allow mail).
Prefer to read addresses and secrets from a file: other users can see a command line.`,
		Example: `  pawld hook add kernels --kind json --url https://hooks.example.com/pawl --secret-file secret`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := w.hook()
			if err != nil {
				return usageError{err}
			}
			return g.withStore(cmd.Context(), func(c *config, s *store.Store) error {
				if err := checkHook(c, h); err != nil {
					return usageError{err}
				}
				return g.changeAudited(cmd.Context(), s, args[0], "hook.add", func(in *store.Store, p store.Project) (changeResult, error) {
					made, err := in.AddHook(cmd.Context(), p.ID, h)
					return changeResult{
						fmt.Sprintf("hook %d of %s: %s", made.ID, p.Slug, hookLine(made)),
						map[string]string{"hook": strconv.FormatInt(made.ID, 10), "host": hookLine(made)},
					}, err
				})
			})
		},
	}
	f := c.Flags()
	f.StringVar(&w.Kind, "kind", "slack", "slack, json or mail")
	f.StringVar(&w.URL, "url", "", "`address` to notify")
	f.StringVar(&w.URLFile, "url-file", "", "`file` that contains the address")
	f.StringVar(&w.SecretFile, "secret-file", "", "`file` with the secret that signs the messages of a json hook")
	return c
}

func hookList(g *globals) *cobra.Command {
	c := &cobra.Command{Use: "list PROJECT", Short: "List the hooks of a project", Example: `  pawld hook list kernels`, Args: cobra.ExactArgs(1)}
	shown := func(s *store.Store, ctx context.Context, project int64) (list []shownHook, err error) {
		hooks, err := s.Hooks(ctx, project)
		for _, h := range hooks {
			list = append(list, shownHook{h.ID, hookLine(h), h.Created})
		}
		return list, err
	}
	return lists(g, c, ofProject(shown), func(h shownHook) string {
		return fmt.Sprintf("%-6d %s, since %s", h.ID, h.To, formatDay(h.Created))
	})
}

// shownHook omits the address: knowing that of a Slack hook is enough to post there.
type shownHook struct {
	ID      int64     `json:"id"`
	To      string    `json:"to"`
	Created time.Time `json:"created"`
}

func hookRemove(g *globals) *cobra.Command {
	return g.removes(&cobra.Command{
		Use:     "remove PROJECT NUMBER",
		Short:   "Remove a hook",
		Example: `  pawld hook remove kernels 1`,
	}, "hook", "remove", "was removed", (*store.Store).RemoveHook)
}

func hookTest(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "test PROJECT NUMBER",
		Short: "Send a test message to a hook",
		Long: `Sends a test message from this machine, in the same way as a digest.

Exit code: 0 when the hook accepts it, 1 when it does not.`,
		Example: `  pawld hook test kernels 1`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.withProject(cmd.Context(), args[0], func(c *config, s *store.Store, p store.Project) error {
				list, err := s.Hooks(cmd.Context(), p.ID)
				if err != nil {
					return err
				}
				at := slices.IndexFunc(list, func(h alert.Hook) bool { return strconv.FormatInt(h.ID, 10) == args[1] })
				if at < 0 {
					return usageError{fmt.Errorf("%s has no hook %s: run `pawld hook list %[1]s`", p.Slug, args[1])}
				}
				h := list[at]
				teller := alert.NewNotifier(alert.Options{URL: c.URL, Private: c.Hooks.AllowPrivate, Mail: c.mail(), Now: g.now})
				if err := teller.Try(cmd.Context(), h, p.Project); err != nil {
					return noError{fmt.Errorf("%s did not accept the test message: %w", hookLine(h), err)}
				}
				fmt.Fprintf(g.Out, "%s accepted the test message\n", hookLine(h))
				return nil
			})
		},
	}
}
