package cli

import (
	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/cli/command"
)

func newCI(g *globals) *cobra.Command {
	return command.Group(&cobra.Command{
		Use:   "ci",
		Short: "Steps of the CI workflows: comment, affected, cost",
		Example: `  pawl ci affected                # must this change be measured?
  pawl ci comment --results results
  pawl ci cost --github --repo OWNER/NAME`,
	}, newComment(g), newAffected(g), newCost(g))
}
