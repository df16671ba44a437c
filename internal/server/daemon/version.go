package daemon

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/version"
)

func newVersion(g *globals) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of pawld",
		Example: `  pawld version --json`,
		RunE: func(*cobra.Command, []string) error {
			d := struct {
				Schema  string `json:"schema"`
				Version string `json:"version"`
				Commit  string `json:"commit,omitempty"`
				Go      string `json:"go"`
				System  string `json:"system"`
			}{"pawl.version/v1", version.Version(), version.Commit(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			if asJSON {
				return g.asJSON(d)
			}
			fmt.Fprintf(g.Out, "pawld %s, %s, %s\n", d.Version, d.System, d.Go)
			if d.Commit != "" {
				fmt.Fprintf(g.Out, "built from commit %s\n", d.Commit)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return c
}
