package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/blob"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

func newProject(g *globals) *cobra.Command {
	return group(&cobra.Command{
		Use:     "project",
		Short:   "Create, list and delete projects",
		Example: `  pawld project create kernels --repository https://github.com/example/kernels`,
	}, projectCreate(g), projectList(g), projectDelete(g))
}

func projectCreate(g *globals) *cobra.Command {
	var p client.Project
	var asJSON bool
	c := &cobra.Command{
		Use:     "create NAME",
		Short:   "Create a project",
		Example: `  pawld project create kernels --repository https://github.com/example/kernels --public`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p.Slug = args[0]
			if p.Name == "" {
				p.Name = p.Slug
			}
			return g.withStore(cmd.Context(), func(_ *config, s *store.Store) error {
				made, err := s.NewProject(cmd.Context(), store.Project{Project: p}, operator())
				if err != nil {
					return err
				}
				if asJSON {
					return g.asJSON(made.Project)
				}
				fmt.Fprintf(g.Out, "created %s\n  let CI send to it:   pawld rule add %[1]s --repository-id N --owner-id N --workflow .github/workflows/pawl.yml\n  or create a key:     pawld key create %[1]s --scope report:main\n", made.Slug)
				return nil
			})
		},
	}
	f := c.Flags()
	f.StringVar(&p.Name, "name", "", "display name; NAME if empty")
	f.StringVar(&p.Repository, "repository", "", "`URL` of the repository, for links")
	f.StringVar(&p.Branch, "branch", "main", "the default branch")
	f.BoolVar(&p.Public, "public", false, "let everyone read it")
	f.BoolVar(&asJSON, "json", false, "print the result as JSON")
	return c
}

func projectList(g *globals) *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List the projects", Example: `  pawld project list --json`}
	every := func(ctx context.Context, s *store.Store, _ []string) (all []client.Project, err error) {
		list, err := s.Projects(ctx, 0, true)
		for _, p := range list {
			all = append(all, p.Project)
		}
		return all, err
	}
	return lists(g, c, every, func(p client.Project) string {
		seen := "private"
		if p.Public {
			seen = "public"
		}
		return fmt.Sprintf("%-24s %-8s since %s  %s", p.Slug, seen, formatDay(p.Created), p.Repository)
	})
}

func projectDelete(g *globals) *cobra.Command {
	var yes string
	var asJSON bool
	c := &cobra.Command{
		Use:   "delete NAME --yes NAME",
		Short: "Delete a project and all its data, and print what was deleted",
		Long: `Deletes the points, runs, events, keys and files of a project, and the project itself, in
steps: if it is interrupted, run it again to continue. The audit log stays. A deletion can
only be undone by restoring a backup.`,
		Example: `  pawld export kernels > kernels.jsonl && pawld project delete kernels --yes kernels`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if yes != args[0] {
				return usageError{fmt.Errorf("all data of %s would be deleted permanently: confirm with --yes %[1]s", args[0])}
			}
			return g.withBlobs(cmd.Context(), func(s *store.Store, b *blob.Bucket) error {
				return g.deleteProject(cmd.Context(), s, b, args[0], asJSON)
			})
		},
	}
	c.Flags().StringVar(&yes, "yes", "", "the `name` again, because a deletion cannot be undone")
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return c
}

func (g *globals) deleteProject(ctx context.Context, s *store.Store, b *blob.Bucket, slug string, asJSON bool) error {
	p, err := project(ctx, s, slug)
	if err != nil {
		return err
	}
	if err := s.Audit(ctx, p.ID, operator(), "project.delete", map[string]string{"slug": p.Slug}); err != nil {
		return err
	}
	gone, err := s.DeleteProject(ctx, p.ID, b.Delete)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if asJSON {
		return g.asJSON(gone)
	}
	fmt.Fprintf(g.Out, "deleted %s:\n", slug)
	for _, table := range slices.Sorted(maps.Keys(gone.Rows)) {
		fmt.Fprintf(g.Out, "  %10d  %s\n", gone.Rows[table], table)
	}
	return nil
}
