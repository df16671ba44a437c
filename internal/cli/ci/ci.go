package ci

import (
	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
)

// NewCI returns the command pawl ci.
func NewCI(g *env.Env) *cobra.Command {
	return command.Group(&cobra.Command{
		Use:   "ci",
		Short: "Steps of the CI workflows: comment, affected, cost",
		Example: `  pawl ci affected                # must this change be measured?
  pawl ci comment --results results
  pawl ci cost --github --repo OWNER/NAME`,
	}, newComment(g), newAffected(g), newCost(g))
}
