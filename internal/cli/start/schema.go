package start

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

func newSchema(g *env.Env) *cobra.Command {
	schemas := map[string]func() []byte{"suite": suite.Schema, "run": measure.Schema, "profile": profile.Schema}
	return &cobra.Command{
		Use:   "schema suite|run|profile",
		Short: "Print the JSON Schema of a format",
		Long: `Prints the JSON Schema (2020-12) of the suite file, of the run record or of the profile
record. Editors use it to complete and check pawl.yaml: save it, and name it in the first
line of the file.`,
		Example: `  pawl suite schema suite > .pawl/suite.schema.json
  # then, in the first line of pawl.yaml:
  # yaml-language-server: $schema=.pawl/suite.schema.json`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: []string{"suite", "run", "profile"},
		RunE: func(_ *cobra.Command, args []string) error {
			schema, ok := schemas[args[0]]
			if !ok {
				return command.Usage(fmt.Errorf("unknown schema %q (known: suite, run, profile)", args[0]))
			}
			_, err := g.Out.Write(schema())
			return err
		},
	}
}
