package cli

import (
	"github.com/spf13/cobra"
)

func newInit(g *globals) *cobra.Command {
	return &cobra.Command{Use: "init", Short: "Look at this repository and write a suite that runs"}
}
