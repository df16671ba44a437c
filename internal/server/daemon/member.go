package daemon

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

func newMember(g *globals) *cobra.Command {
	return group(&cobra.Command{
		Use:   "member",
		Short: "Manage who may see or change a project",
		Long: `The server knows people once they have logged in. A viewer sees a project that is not
public, a writer also sets the state of events, an admin also creates keys and changes
settings.`,
		Example: `  pawld member people                      # who has logged in
  pawld member add kernels ada@example.com --role writer
  pawld member list kernels`,
	}, memberAdd(g), memberList(g), memberRemove(g), memberPeople(g), memberLogout(g))
}

func memberAdd(g *globals) *cobra.Command {
	role := string(store.Viewer)
	c := &cobra.Command{
		Use:     "add PROJECT PERSON",
		Short:   "Give a person a role in a project",
		Long:    "PERSON is a number, subject or name as printed by pawld member people. Adding a person again changes the role.",
		Example: `  pawld member add kernels ada@example.com --role writer`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.withMember(cmd.Context(), args, func(ctx context.Context, s *store.Store, p store.Project, a store.Account) error {
				return g.changeAudited(ctx, s, p.Slug, "member.set", func(in *store.Store, p store.Project) (changeResult, error) {
					done := changeResult{fmt.Sprintf("%s is %s of %s", a.Name, role, p.Slug), map[string]string{"account": fmt.Sprint(a.ID), "role": role}}
					return done, in.SetMember(ctx, p.ID, a.ID, store.Role(role))
				})
			})
		},
	}
	c.Flags().StringVar(&role, "role", role, "viewer, writer or admin")
	return c
}

func memberRemove(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:     "remove PROJECT PERSON",
		Short:   "Remove a person's role in a project",
		Example: `  pawld member remove kernels ada@example.com`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.withMember(cmd.Context(), args, func(ctx context.Context, s *store.Store, p store.Project, a store.Account) error {
				role, err := s.RoleOf(ctx, p.ID, a.ID)
				if err != nil {
					return err
				}
				if role == "" {
					return usageError{fmt.Errorf("%s has no role in %s: run `pawld member list %s`", a.Name, p.Slug, p.Slug)}
				}
				return g.changeAudited(ctx, s, p.Slug, "member.remove", func(in *store.Store, p store.Project) (changeResult, error) {
					done := changeResult{fmt.Sprintf("%s is no longer %s of %s", a.Name, role, p.Slug), map[string]string{"account": fmt.Sprint(a.ID)}}
					return done, in.RemoveMember(ctx, p.ID, a.ID)
				})
			})
		},
	}
}

func memberList(g *globals) *cobra.Command {
	c := &cobra.Command{Use: "list PROJECT", Short: "List the people of a project", Example: `  pawld member list kernels --json`, Args: cobra.ExactArgs(1)}
	return lists(g, c, ofProject((*store.Store).Members), func(m store.Member) string {
		return fmt.Sprintf("%-6d %-7s %s (%s at %s)", m.ID, m.Role, m.Name, m.Subject, m.Issuer)
	})
}

func memberPeople(g *globals) *cobra.Command {
	c := &cobra.Command{Use: "people", Short: "List the people who have logged in", Example: `  pawld member people --json`, Args: cobra.NoArgs}
	everybody := func(ctx context.Context, s *store.Store, _ []string) ([]store.Account, error) {
		return s.Accounts(ctx, "")
	}
	return lists(g, c, everybody, func(a store.Account) string {
		return fmt.Sprintf("%-6d %s (%s at %s)", a.ID, a.Name, a.Subject, a.Issuer)
	})
}

func memberLogout(g *globals) *cobra.Command {
	var everyone bool
	c := &cobra.Command{
		Use:     "logout [PERSON]",
		Short:   "End the logins of a person, in all browsers",
		Example: `  pawld member logout ada@example.com`,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if everyone == (len(args) == 1) {
				return usageError{errors.New("name a person as `pawld member people` prints them, or use --everyone")}
			}
			return g.withStore(cmd.Context(), func(_ *config, s *store.Store) error {
				id := int64(0)
				if !everyone {
					a, err := person(cmd.Context(), s, args[0])
					if err != nil {
						return err
					}
					id = a.ID
				}
				n, err := s.EndLogins(cmd.Context(), id)
				if err == nil {
					fmt.Fprintf(g.Out, "ended %s\n", words.Plural(int(n), "login"))
				}
				return err
			})
		},
	}
	c.Flags().BoolVar(&everyone, "everyone", false, "end the logins of all people")
	return c
}

// withMember finds a project and the person that the arguments name.
func (g *globals) withMember(ctx context.Context, args []string, do func(context.Context, *store.Store, store.Project, store.Account) error) error {
	return g.withProject(ctx, args[0], func(_ *config, s *store.Store, p store.Project) error {
		a, err := person(ctx, s, args[1])
		if err != nil {
			return err
		}
		return do(ctx, s, p, a)
	})
}

// person returns the one account that a number, subject or name identifies.
func person(ctx context.Context, s *store.Store, name string) (store.Account, error) {
	list, err := s.Accounts(ctx, name)
	switch {
	case err != nil:
		return store.Account{}, err
	case len(list) == 1:
		return list[0], nil
	case len(list) == 0:
		return store.Account{}, usageError{fmt.Errorf("no person known as %q has logged in: run `pawld member people`", name)}
	}
	return store.Account{}, usageError{fmt.Errorf("%d people are called %q: use the number that `pawld member people` prints", len(list), name)}
}
