package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

func newApply(g *globals) *cobra.Command {
	var dryRun, prune bool
	c := &cobra.Command{
		Use:   "apply FILE",
		Short: "Apply projects, members, rules and hooks from a file",
		Long: `Reads a file that lists projects, who may see them, which CI jobs may send to them and
where notifications go, and changes the server to match. It prints each change; a second
run changes nothing. What the file does not mention stays as it is. Members, rules and
hooks that the file does not list are only reported; --prune removes them. A project is
never deleted.

Each project is changed completely or not at all. FILE may be - for standard input.`,
		Example: `  pawld apply projects.yaml --dry-run
  pawld apply projects.yaml --prune`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := readBounded(args[0], maxApply)
			if args[0] == "-" {
				text, err = io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxApply))
			}
			if err != nil {
				return usageError{fmt.Errorf("cannot read the file to apply: %w", err)}
			}
			want, err := readApply(args[0], text)
			if err != nil {
				return usageError{err}
			}
			return g.withStore(cmd.Context(), func(c *config, s *store.Store) error {
				return g.apply(cmd.Context(), c, s, want, dryRun, prune)
			})
		},
	}
	c.Flags().BoolVar(&dryRun, "dry-run", false, "print what would change, and change nothing")
	c.Flags().BoolVar(&prune, "prune", false, "remove members, rules and hooks that the file does not list")
	return c
}

const maxApply = 8 << 20

// applyFile is the file that pawld apply reads.
type applyFile struct {
	Projects map[string]wantedProject `yaml:"projects"`
}

// readApply parses the file strictly: a misspelled key must not pass for an omitted one.
func readApply(path string, text []byte) (*applyFile, error) {
	var w applyFile
	if err := strictyaml.Decode(path, text, strictyaml.Format{Name: "a file to apply", MaxBytes: maxApply}, &w); err != nil {
		return nil, err
	}
	if len(w.Projects) == 0 {
		return nil, fmt.Errorf("%s: lists no projects", path)
	}
	return &w, nil
}

// apply processes the projects by name. If one fails, it reports the error and continues with the others.
func (g *globals) apply(ctx context.Context, c *config, s *store.Store, want *applyFile, dryRun, prune bool) error {
	changes, left := 0, 0
	var wrong []error
	for _, slug := range slices.Sorted(maps.Keys(want.Projects)) {
		p := plan{config: c, slug: slug, want: want.Projects[slug], prune: prune}
		err := p.diff(ctx, s)
		if err == nil && !dryRun {
			err = p.execute(ctx, s)
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", slug, err))
			continue
		}
		for _, step := range p.steps {
			fmt.Fprintf(g.Out, "%s: %s\n", slug, step.text)
		}
		for _, other := range p.unlisted {
			fmt.Fprintf(g.Out, "%s: not in the file, kept without --prune: %s\n", slug, other)
		}
		changes, left = changes+len(p.steps), left+len(p.unlisted)
	}
	verb := "changed"
	if dryRun {
		verb = "would change"
	}
	fmt.Fprintf(g.Out, "%s: %s %s, left %s\n", words.Plural(len(want.Projects), "project"), verb, words.Plural(changes, "thing"), words.Plural(left, "thing"))
	if err := errors.Join(wrong...); err != nil {
		return usageError{err}
	}
	return nil
}
