package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
)

func newReport(g *globals) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "report RUN",
		Short: "Show a run record",
		Long:  `Shows what a run record holds: as a table for a terminal, as Markdown, or its numbers as JSON.`,
		Example: `  pawl report results/current.json
  pawl report results/previous.json --format md`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			run, err := measure.Load(args[0])
			if err != nil {
				return usageError{err}
			}
			switch format {
			case "text":
				return report.Terminal(g.Out, run, g.style())
			case "md":
				return report.Markdown(g.Out, report.NewDocument(report.Input{Run: run}))
			case "json":
				return report.JSON(g.Out, run, args[0])
			default:
				return usageError{fmt.Errorf("there is no format %q: text, md or json", format)}
			}
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text, md or json")
	return cmd
}
