package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/version"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/harness/adapter"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
)

// NewImport returns the command pawl import.
func NewImport(g *env.Env) *cobra.Command {
	var format, out string
	var asJSON bool
	var names []string
	for _, f := range adapter.Formats() {
		names = append(names, fmt.Sprintf("  %-18s%s", f.Name, f.Doc))
	}
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "Convert results of other tools to a run record",
		Long: `Reads result files of other tools. Each file is one round. Several files become the
rounds of one record, in the given order. A file without raw samples is shown and
marked as unusable for a statistical gate.

Formats:
  pawl              a run record or journal of pawl itself
` + strings.Join(names, "\n"),
		Example: `  pawl import results/*.json --out results/nightly.json
  pawl import --format google-benchmark bench.out`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			run, err := importFiles(cmd.Context(), args, format)
			if err != nil {
				return err
			}
			if out == "" {
				out = filepath.Join("results", "imported.json")
			}
			if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
				return fmt.Errorf("cannot create the folder for the record: %w", err)
			}
			if err := measure.Save(out, run); err != nil {
				return err
			}
			if asJSON {
				return report.JSON(g.Out, run, out)
			}
			if err := report.Terminal(g.Out, run, g.Style()); err != nil {
				return err
			}
			_, err = fmt.Fprintln(g.Out, g.Style().Faint("record: "+out))
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", "", "`format` of the files, if it is not recognized")
	cmd.Flags().StringVarP(&out, "out", "o", "", "record `file` (default results/imported.json)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the numbers as JSON on stdout")
	return cmd
}

// importFiles reads files of any supported format into one run.
func importFiles(ctx context.Context, paths []string, format string) (*measure.Run, error) {
	var runs []*measure.Run
	for _, path := range paths {
		run, err := ImportFile(ctx, path, format)
		if err != nil {
			return nil, command.Usage(err)
		}
		runs = append(runs, run)
	}
	run := runs[0]
	if len(runs) > 1 {
		var err error
		if run, err = adapter.Merge(runs...); err != nil {
			return nil, command.Usage(err)
		}
	}
	run.Pawl = version.Version()
	if run.Created.IsZero() {
		run.Created = time.Now().UTC()
	}
	if run.ID == "" {
		run.ID = runner.NewID(run.Created)
	}
	return run, nil
}

// ImportFile reads a record, or a file of another tool.
func ImportFile(ctx context.Context, path, format string) (*measure.Run, error) {
	if format == "pawl" {
		return measure.Load(path)
	}
	run, err := adapter.ReadFile(ctx, path, "", adapter.Options{Format: format})
	if errors.Is(err, adapter.ErrPawlRecord) {
		return measure.Load(path)
	}
	return run, err
}
