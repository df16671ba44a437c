package cli

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/page"
	"github.com/goatnote-inc/pawl/internal/report"
)

// sessionFolder returns the folder of journals for commands that read all of them.
func (g *globals) sessionFolder() journal.Folder {
	root, ok := sessionRoot(".")
	if !ok {
		root = "."
	}
	return journal.Folder{Root: root, Now: g.now}
}

func newSessionList(g *globals) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List all sessions, the newest last",
		Long:  `Lists the sessions of this repository with their time, attempts and outcome.`,
		Example: `  pawl session list
  pawl session list --json | jq '.sessions[] | select(.ended.outcome == "lost")'`,
		RunE: func(*cobra.Command, []string) error {
			list, err := g.sessionFolder().Summaries()
			switch {
			case err != nil:
				return err
			case asJSON:
				return command.WriteJSON(g.Out, map[string]any{"sessions": append([]journal.Summary{}, list...)})
			case len(list) == 0:
				_, err := fmt.Fprintln(g.Out, "no session yet: run `pawl session start`")
				return err
			}
			return sessionTable(g, list)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func sessionTable(g *globals, list []journal.Summary) error {
	rows := [][]string{{"session", "by", "benchmark", "took", "attempts", "outcome"}}
	for _, s := range list {
		outcome := "open"
		switch {
		case s.Broken != "":
			outcome = "cannot be read: " + s.Broken
		case s.Ended != nil:
			outcome = page.Outcome(*s.Ended)
		}
		row := []string{s.ID, page.Actor(s.By), cmp.Or(s.Benchmark, "all"), page.Minutes(s.Minutes), fmt.Sprint(len(s.Attempts)), outcome}
		rows = append(rows, words.SanitizeAll(row, words.SentenceLength))
	}
	return report.Table(g.Out, g.Style(), []bool{false, false, false, true, true, false}, rows)
}

func newSessionShow(g *globals) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show [ID]",
		Short: "Show what happened in a session, entry by entry",
		Long: `Shows a session as a timeline: what was run, what had changed, the results, and where a gate
stopped it. Without an ID it shows the open session, or the last one. Part of the ID is
enough.

Exit code: 0; 1 if the journal was altered: every line has the digest of the line before.`,
		Example: `  pawl session show
  pawl session show 3f9a01
  pawl session show --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := g.sessionFolder().Find(append(args, "")[0])
			if err != nil {
				return command.Usage(err)
			}
			s, err := journal.ReadFile(path)
			if s == nil {
				return err
			}
			var shown error
			switch p := page.Session(s, err, g.now()); {
			case asJSON:
				shown = command.WriteJSON(g.Out, map[string]any{"summary": journal.Summarize(s, g.now()), "entries": s.Entries, "intact": err == nil})
			default:
				shown = p.Text(g.Out, g.Style())
			}
			return errors.Join(shown, brokenAnswer(err))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the entries as JSON")
	return cmd
}

func newSessionReport(g *globals) *cobra.Command {
	var asJSON bool
	var html string
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Report on all sessions, one after the other",
		Long: `Reports the five measures of every session: minutes to a working build, minutes to the
bottleneck, wrong optimizations, speedup at the end, and cost. A wrong optimization was made
without a profile, changed more than one thing, was slower, or gave wrong results. It also
compares the first sessions with the last, and every forecast with what happened.`,
		Example: `  pawl session report
  pawl session report --html sessions.html
  pawl session report --json`,
		RunE: func(*cobra.Command, []string) error {
			list, err := g.sessionFolder().Summaries()
			switch {
			case err != nil:
				return err
			case asJSON:
				return command.WriteJSON(g.Out, map[string]any{"sessions": append([]journal.Summary{}, list...), "next": journal.NewForecast(list)})
			}
			return g.showPage(page.Report(list), html)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&html, "html", "", "write a page to this `file`")
	return cmd
}
