package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/learn/gates"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/page"
)

func newChecklist(g *globals) *cobra.Command {
	return newPageCommand(g, &cobra.Command{
		Use:   "checklist",
		Short: "Show the gates of the session as a checklist",
		Long: `Shows every gate with its answer and the reason, the next step, and the last entries of the
open session. --html writes it as a page for a browser; write it again to update it.`,
		Example: `  pawl session checklist
  pawl session checklist --html checklist.html`,
	}, page.Checklist)
}

// newPageCommand returns a command that shows a page of the state of the work.
func newPageCommand(g *globals, cmd *cobra.Command, of func(page.State) page.Page) *cobra.Command {
	var html string
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		state, err := g.pageState(cmd.Context())
		if err != nil {
			return err
		}
		return g.showPage(of(state), html)
	}
	cmd.Flags().StringVar(&html, "html", "", "write a page to this `file`")
	return cmd
}

// showPage prints a page, or writes it to a file.
func (g *globals) showPage(p page.Page, html string) error {
	if html == "" {
		return p.Text(g.Out, g.Style())
	}
	g.Say("written: " + html)
	return env.WriteFile(html, p.HTML)
}

// pageState returns the state of the work in this folder, as pages show it. A journal that was altered
// is shown as far as it can be read, and marked.
func (g *globals) pageState(ctx context.Context) (page.State, error) {
	state := page.State{Now: g.now()}
	w, root, err := g.openJournal()
	broken, isBroken := errors.AsType[*journal.BrokenError](err)
	switch {
	case err == nil:
		state.Session, state.Status = w.Session(), g.gateStatus(w, root, g.currentState(ctx, w, root))
	case errors.Is(err, journal.ErrNoSession):
		state.Next = firstStep(root)
		return state, nil
	case isBroken:
		state.Session, _ = journal.ReadFile(broken.Path) // the readable part of it
		if state.Session == nil || len(state.Session.Entries) == 0 {
			return state, err
		}
		state.Chain = err
		state.Status = gates.Look(gates.Learn(state.Session, gates.Now{Time: state.Now}), state.Session.Entries)
	default:
		return state, err
	}
	state.Next = gates.Next(state.Status)
	return state, nil
}
