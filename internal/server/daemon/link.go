package daemon

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/server/store"
)

func newLink(g *globals) *cobra.Command {
	return group(&cobra.Command{
		Use:   "link",
		Short: "Create, list and revoke public links",
		Long: `A public link shows the history of one series to its holders, without a login and read-only,
until it expires or is revoked. It shows nothing else of the project.`,
		Example: `  pawld link create kernels 12 --name "conference talk" --for 720h`,
	}, linkCreate(g), linkList(g), linkRevoke(g))
}

func linkCreate(g *globals) *cobra.Command {
	var name string
	var lasts time.Duration
	c := &cobra.Command{
		Use:   "create PROJECT SERIES",
		Short: "Create a public link to the history of a series and print it once",
		Long: `Creates a public link and prints it. Only its hash is stored, so it cannot be shown again.

SERIES is the number in the address of the series' page.`,
		Example: `  pawld link create kernels 12 --name "conference talk" --for 720h`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			series, err := strconv.ParseInt(args[1], 10, 64)
			if err != nil {
				return usageError{fmt.Errorf("%q is not the number of a series: it is the last part of the address of its page", args[1])}
			}
			if lasts <= 0 || lasts > store.MaxLinkLife {
				return usageError{fmt.Errorf("--for %v must be more than 0 and at most %v", lasts, store.MaxLinkLife)}
			}
			return g.withProject(cmd.Context(), args[0], func(conf *config, s *store.Store, p store.Project) error {
				var text string
				err := s.ChangeAudited(cmd.Context(), p.ID, operator(), "link.create", func(in *store.Store) (_ map[string]string, err error) {
					var kept store.Link
					text, kept, err = in.NewLink(cmd.Context(), p.ID, store.Link{Series: series, Name: name, CreatedBy: operator(), Expires: g.now().Add(lasts)})
					return map[string]string{"link": strconv.FormatInt(kept.ID, 10), "series": args[1], "name": name}, err
				})
				if err != nil {
					return err
				}
				fmt.Fprintln(g.Err, "this link is shown only once:")
				fmt.Fprintln(g.Out, strings.TrimSuffix(conf.URL, "/")+"/s/"+text)
				return nil
			})
		},
	}
	c.Flags().StringVar(&name, "name", "made by an operator", "for whom the link is")
	c.Flags().DurationVar(&lasts, "for", 30*24*time.Hour, "how long the link works, at most 8784h")
	return c
}

func linkList(g *globals) *cobra.Command {
	c := &cobra.Command{Use: "list PROJECT", Short: "List the public links of a project", Example: `  pawld link list kernels`, Args: cobra.ExactArgs(1)}
	return lists(g, c, ofProject((*store.Store).Links), func(k store.Link) string {
		state := "until " + formatDay(k.Expires)
		switch {
		case k.Revoked != nil:
			state = "revoked " + formatDay(*k.Revoked)
		case !g.now().Before(k.Expires):
			state = "expired " + formatDay(k.Expires)
		}
		return fmt.Sprintf("%-6d %s...  series %-8d %-24s %s", k.ID, k.Prefix, k.Series, k.Name, state)
	})
}

func linkRevoke(g *globals) *cobra.Command {
	return g.removes(&cobra.Command{
		Use:     "revoke PROJECT NUMBER",
		Short:   "Revoke a public link immediately",
		Example: `  pawld link revoke kernels 3`,
	}, "link", "revoke", "is revoked", (*store.Store).RevokeLink)
}
