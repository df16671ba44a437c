package daemon

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/server/store"
)

func newKey(g *globals) *cobra.Command {
	return group(&cobra.Command{
		Use:     "key",
		Short:   "Create, list and revoke API keys",
		Example: `  pawld key create kernels --name laptop --scope report --for 720h`,
	}, keyCreate(g), keyList(g), keyRevoke(g))
}

func keyCreate(g *globals) *cobra.Command {
	var name string
	var scopes []string
	var lasts time.Duration
	var asJSON bool
	c := &cobra.Command{
		Use:   "create PROJECT",
		Short: "Create a key and print it once",
		Long: `Creates a key of a project and prints it. Only its hash is stored, so it cannot be shown again.

Scopes: read; report (results of branches); report:main (also of the default branch);
admin (everything that an admin of the project may do). CI on GitHub needs no key: see pawld rule.`,
		Example: `  pawld key create kernels --name nightly --scope report:main --for 8760h`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if lasts < 0 {
				return usageError{fmt.Errorf("--for %v must not be negative", lasts)}
			}
			return g.withProject(cmd.Context(), args[0], func(_ *config, s *store.Store, p store.Project) error {
				k := store.Key{Name: name, CreatedBy: operator()}
				for _, sc := range scopes {
					k.Scopes = append(k.Scopes, store.Scope(sc))
				}
				if lasts > 0 {
					end := g.now().Add(lasts)
					k.Expires = &end
				}
				var text string
				var kept store.Key
				err := s.ChangeAudited(cmd.Context(), p.ID, operator(), "key.create", func(in *store.Store) (_ map[string]string, err error) {
					text, kept, err = in.NewKey(cmd.Context(), p.ID, k)
					return map[string]string{"key": strconv.FormatInt(kept.ID, 10), "name": name, "scopes": strings.Join(scopes, " ")}, err
				})
				if err != nil {
					return err
				}
				if asJSON {
					return g.asJSON(struct {
						store.Key
						Text string `json:"text"`
					}{kept, text})
				}
				fmt.Fprintln(g.Err, "this key is shown only once; for pawl push, set PAWL_TOKEN to it:")
				fmt.Fprintln(g.Out, text)
				return nil
			})
		},
	}
	f := c.Flags()
	f.StringVar(&name, "name", "made by an operator", "what the key is for")
	f.StringSliceVar(&scopes, "scope", []string{"report"}, "what the key may do")
	f.DurationVar(&lasts, "for", 0, "how long the key is valid; 0 for no limit")
	f.BoolVar(&asJSON, "json", false, "print the result as JSON")
	return c
}

func keyList(g *globals) *cobra.Command {
	c := &cobra.Command{Use: "list PROJECT", Short: "List the keys of a project", Example: `  pawld key list kernels`, Args: cobra.ExactArgs(1)}
	return lists(g, c, ofProject((*store.Store).Keys), func(k store.Key) string {
		return fmt.Sprintf("%-6d %s...  %-20s %-24s %s", k.ID, k.Prefix, k.Name, joinScopes(k.Scopes), keyState(k, g.now()))
	})
}

func joinScopes(scopes []store.Scope) string {
	list := make([]string, len(scopes))
	for i, s := range scopes {
		list[i] = string(s)
	}
	return strings.Join(list, ",")
}

func keyState(k store.Key, now time.Time) string {
	used := "never used"
	if k.LastUsed != nil {
		used = "used " + formatDay(*k.LastUsed)
	}
	switch {
	case k.Revoked != nil:
		return "revoked " + formatDay(*k.Revoked)
	case k.Expires != nil && !now.Before(*k.Expires):
		return "expired " + formatDay(*k.Expires)
	case k.Expires != nil:
		return used + ", until " + formatDay(*k.Expires)
	}
	return used
}

func keyRevoke(g *globals) *cobra.Command {
	return g.removes(&cobra.Command{
		Use:     "revoke PROJECT NUMBER",
		Short:   "Revoke a key immediately",
		Example: `  pawld key revoke kernels 3`,
	}, "key", "revoke", "is revoked", (*store.Store).RevokeKey)
}
