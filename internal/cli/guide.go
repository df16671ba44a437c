package cli

import (
	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/learn/page"
)

func newGuide(g *globals) *cobra.Command {
	return newPageCommand(g, &cobra.Command{
		Use:   "guide",
		Short: "Show rules, gates and commands on one page",
		Long: `Shows one page with what to do now, the gates, the rules and the commands. --html writes a
page that prints on one sheet.`,
		Example: `  pawl session guide
  pawl session guide --html guide.html   # print it`,
	}, page.Guide)
}
