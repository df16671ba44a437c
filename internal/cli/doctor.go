package cli

import (
	"github.com/spf13/cobra"
)

func newDoctor(g *globals) *cobra.Command {
	return &cobra.Command{Use: "doctor", Short: "What is here, what is missing, how to fix it"}
}
