package daemon

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/server/parquet"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

func newCompact(g *globals) *cobra.Command {
	var slug string
	c := &cobra.Command{
		Use:   "compact",
		Short: "Pack older points now instead of waiting for the server",
		Long: `Moves points of past months into tiles of 256, which take a sixth of the space, and drops
empty partitions. The server does the same every hour by itself; reports may arrive
meanwhile.`,
		Example: `  pawld compact
  pawld compact --project kernels`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			return g.withStore(ctx, func(_ *config, s *store.Store) error {
				o := pointstore.CompactOptions{}
				if slug != "" {
					p, err := project(ctx, s, slug)
					if err != nil {
						return err
					}
					o.Project = p.ID
				}
				done, err := s.Compact(ctx, o)
				if err != nil {
					return err
				}
				if _, err := s.Partitions(ctx); err != nil {
					return err
				}
				fmt.Fprintf(g.Out, "packed %d points into %d tiles\n", done.Points, done.Tiles)
				return nil
			})
		},
	}
	c.Flags().StringVar(&slug, "project", "", "only this project")
	return c
}

func newExport(g *globals) *cobra.Command {
	format := "jsonl"
	c := &cobra.Command{
		Use:   "export PROJECT",
		Short: "Print all data of a project as JSON lines, or its points as Parquet",
		Long: `Prints the series, points, runs, events and audit log of a project, one JSON object per line
(docs/reference/api.md describes the same as an endpoint). Files are not included: a run
names its files by digest. The last line is {"kind":"end","data":{}}; without it, the
export is incomplete. With --format parquet it prints only the points, as one Parquet file.`,
		Example: `  pawld export kernels | zstd > kernels.jsonl.zst
  pawld export kernels --format parquet > kernels.parquet`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "jsonl" && format != "parquet" {
				return usage(fmt.Errorf("unknown export format %q (known: jsonl, parquet)", format))
			}
			return g.withProject(cmd.Context(), args[0], func(_ *config, s *store.Store, p store.Project) error {
				if format == "jsonl" {
					if err := s.Export(cmd.Context(), p.ID, g.Out); err != nil {
						return err
					}
					_, err := io.WriteString(g.Out, store.ExportEnd)
					return err
				}
				out := parquet.NewWriter(g.Out, p.Slug)
				if err := s.EachPoint(cmd.Context(), p.ID, out.Write); err != nil {
					return err
				}
				return out.Close()
			})
		},
	}
	c.Flags().StringVar(&format, "format", format, "jsonl, or parquet for only the points")
	return c
}
