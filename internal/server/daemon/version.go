package daemon

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/version"
	"github.com/goatnote-inc/pawl/internal/server/store/migrations"
)

func newVersion(g *globals) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of pawld",
		Example: `  pawld version --json`,
		RunE: func(*cobra.Command, []string) error {
			database, err := migrations.Version()
			if err != nil {
				return err
			}
			d := struct {
				Schema   string `json:"schema"`
				Version  string `json:"version"`
				Commit   string `json:"commit,omitempty"`
				Database string `json:"database"` // version of the database schema
				Go       string `json:"go"`
				System   string `json:"system"`
			}{"pawl.version/v1", version.Version(), version.Commit(), database, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			if asJSON {
				return g.asJSON(d)
			}
			fmt.Fprintf(g.Out, "pawld %s, database schema %s, %s, %s\n", d.Version, d.Database, d.System, d.Go)
			if d.Commit != "" {
				fmt.Fprintf(g.Out, "built from commit %s\n", d.Commit)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return c
}
