package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/learn/gates"
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

func newSessionStatus(g *globals) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the state of the open session",
		Long: `Shows how long the session has been open, what it has spent, what changed since the last
measurement, and the one thing to do now.`,
		Example: `  pawl session status
  pawl session status --json`,
		RunE: func(cmd *cobra.Command, _ []string) error { return sessionStatus(cmd, g, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// statusDocument is the JSON output of pawl session status.
type statusDocument struct {
	Session journal.Started  `json:"session"`
	Entries int              `json:"entries"`
	Minutes float64          `json:"minutes"`
	Dollars float64          `json:"dollars"`
	Device  float64          `json:"device_seconds"`
	Last    string           `json:"last"` // time of the last entry
	Hosts   []string         `json:"hosts,omitempty"`
	Changes []journal.Change `json:"changes,omitempty"` // since the last measurement
	Step    gates.Step       `json:"step"`
	Gates   []gates.Status   `json:"gates"`
}

func sessionStatus(cmd *cobra.Command, g *globals, asJSON bool) error {
	w, root, err := g.sessionOf(cmd)
	if err != nil {
		return sessionError(err)
	}
	s, now := w.Session(), g.now()
	what := g.currentState(cmd.Context(), w, root)
	st := g.gateStateOf(cmd.Context(), w, root, what)
	sum := journal.Sum(s, now)
	doc := statusDocument{
		Session: s.Started, Entries: sum.Entries, Minutes: sum.Minutes, Dollars: sum.Dollars, Device: sum.Device,
		Last: s.Last().Format("2006-01-02T15:04:05Z"), Hosts: hostsOf(s), Changes: what.Changes, Step: gates.Next(st.status), Gates: st.status,
	}
	if asJSON {
		return command.WriteJSON(g.Out, doc)
	}
	style := g.Style()
	fmt.Fprintf(g.Out, "%s: %s\n", style.Bold("session "+s.ID), spentText(sum))
	for _, line := range startedLines(s.Started) {
		if line != "" {
			fmt.Fprintln(g.Out, "  "+words.Sanitize(line))
		}
	}
	fmt.Fprintf(g.Out, "  %s, %s; last entry %s ago\n", words.Plural(sum.Entries, "entry"), words.Plural(sum.Attempts, "attempt"), minutesText(now.Sub(s.Last()).Minutes()))
	if b := s.Budget; b != nil {
		fmt.Fprintln(g.Out, "  "+budgetText(*b, sum))
	}
	if len(what.Changes) > 0 {
		fmt.Fprintln(g.Out, "  changed since the last measurement: "+changesText(what.Changes))
	}
	if hosts := doc.Hosts; len(hosts) > 0 && hosts[len(hosts)-1] != what.Host {
		fmt.Fprintln(g.Out, "  "+style.Warn("this session was last on another host, "+words.Sanitize(hosts[len(hosts)-1]))+": check this host before long work")
	}
	return (&nextFlags{globals: g}).show(doc.Step)
}

// hostsOf returns the machines that a session ran on, the most recently used last.
func hostsOf(s *journal.Session) []string {
	var list []string
	for _, e := range s.Entries {
		if e.Did != nil && e.Did.Host != "" {
			list = append(slices.DeleteFunc(list, func(h string) bool { return h == e.Did.Host }), e.Did.Host)
		}
	}
	return list
}

func budgetText(b journal.Budget, s journal.Summary) string {
	var parts []string
	if b.Seconds > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s on the device", secondsText(s.Device), secondsText(b.Seconds)))
	}
	if b.Dollars > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s", words.Dollars(s.Dollars), words.Dollars(b.Dollars)))
	}
	return "spent: " + strings.Join(parts, ", ")
}

func newSessionList(g *globals) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List all sessions, the newest last",
		Long:  `Lists the sessions of this repository with their time, attempts and outcome.`,
		Example: `  pawl session list
  pawl session list --json | jq '.sessions[] | select(.ended.outcome == "lost")'`,
		RunE: func(*cobra.Command, []string) error { return sessionList(g, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func sessionList(g *globals, asJSON bool) error {
	list, err := g.sessionFolder().Summaries()
	if err != nil {
		return err
	}
	if asJSON {
		return command.WriteJSON(g.Out, map[string]any{"sessions": append([]journal.Summary{}, list...)})
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(g.Out, "no session yet: run `pawl session start`")
		return err
	}
	rows := [][]string{{"session", "by", "benchmark", "took", "device", "attempts", "outcome"}}
	for _, s := range list {
		outcome := "open"
		switch {
		case s.Broken != "":
			outcome = "altered or damaged"
		case s.Ended != nil:
			outcome = outcomeText(*s.Ended)
		}
		device := ""
		if s.Device > 0 {
			device = secondsText(s.Device)
		}
		rows = append(rows, []string{s.ID, actorText(s.By), cmp.Or(words.Sanitize(s.Benchmark), "all"), minutesText(s.Minutes), device, fmt.Sprint(s.Attempts), outcome})
	}
	return report.Table(g.Out, g.Style(), []bool{false, false, false, true, true, true, false}, rows)
}

func newSessionShow(g *globals) *cobra.Command {
	var asJSON, markdown bool
	var html string
	cmd := &cobra.Command{
		Use:   "show [ID]",
		Short: "Show what happened in a session, entry by entry",
		Long: `Shows a session as a timeline: what was run, what had changed, the results, and where a gate
stopped it. Without an ID it shows the open session, or the last one. Part of the ID is
enough.

--html writes a page for reviewing what an agent did: what it spent and claimed, and next to
each claim what the records say.`,
		Example: `  pawl session show
  pawl session show 3f9a01
  pawl session show --md > session.md
  pawl session show --html session.html`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := findSession(g, append(args, "")[0])
			if s == nil {
				return err
			}
			var shown error
			switch {
			case html != "":
				shown = env.WriteFile(html, func(w io.Writer) error { return page.Session(w, s, err, g.now()) })
			case asJSON:
				shown = command.WriteJSON(g.Out, map[string]any{"summary": journal.Sum(s, g.now()), "entries": s.Entries, "intact": err == nil})
			case markdown:
				shown = sessionMarkdown(g.Out, s, g)
			default:
				shown = sessionTimeline(g.Out, s, g)
			}
			return errors.Join(shown, err)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the entries as JSON")
	cmd.Flags().BoolVar(&markdown, "md", false, "print Markdown, for a pull request")
	cmd.Flags().StringVar(&html, "html", "", "write a page to this `file`: claims next to evidence")
	return cmd
}

// findSession reads a journal. With an error it may still return the readable part.
func findSession(g *globals, id string) (*journal.Session, error) {
	path, err := g.sessionFolder().Find(id)
	if err != nil {
		return nil, command.Usage(err)
	}
	s, err := journal.ReadFile(path)
	return s, brokenAnswer(err)
}

// sessionTimeline prints a session for a terminal.
func sessionTimeline(w io.Writer, s *journal.Session, g *globals) error {
	style := g.Style()
	sum := journal.Sum(s, g.now())
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s, %s\n", style.Bold("session "+s.ID), s.Began.Format("2006-01-02 15:04 MST"), spentText(sum))
	var by journal.Actor
	for _, e := range s.Entries {
		what, lines := describeEntry(e)
		what = words.Sanitize(what)
		took := ""
		switch {
		case e.Refused != nil:
			what = style.Bad(what)
		case e.Overrode != nil:
			what = style.Warn(what)
		case e.Did != nil:
			took = style.Faint("  " + secondsText(e.Did.Seconds))
			what = style.Bold(what)
		default:
			what = style.Bold(what)
		}
		who := ""
		if e.Actor != by {
			who, by = "  "+style.Faint("by "+actorText(e.Actor)), e.Actor
		}
		fmt.Fprintf(&b, "%8s  %s%s%s\n", sinceText(s, e), what, took, who)
		for _, line := range lines {
			if line = words.Sanitize(line); line != "" {
				fmt.Fprintf(&b, "%8s    %s\n", "", line)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sinceText formats the time of an entry since the start of the session.
func sinceText(s *journal.Session, e journal.Entry) string {
	m := int(max(0, e.Time.Sub(s.Began).Minutes()))
	return fmt.Sprintf("%d:%02d", m/60, m%60)
}

// sessionMarkdown prints a session for a pull request.
func sessionMarkdown(w io.Writer, s *journal.Session, g *globals) error {
	sum := journal.Sum(s, g.now())
	var b strings.Builder
	fmt.Fprintf(&b, "## Session %s\n\n%s, %s", s.ID, s.Began.Format("2006-01-02 15:04 MST"), spentText(sum))
	if s.Ended != nil {
		b.WriteString(": " + outcomeText(*s.Ended))
	}
	b.WriteString("\n\n| time | by | what | result |\n| --- | --- | --- | --- |\n")
	for _, e := range s.Entries {
		what, lines := describeEntry(e)
		var told []string
		for _, line := range lines {
			if line = words.Sanitize(line); line != "" {
				told = append(told, words.MarkdownText(line))
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", sinceText(s, e), words.MarkdownText(actorText(e.Actor)), words.MarkdownCode(what), strings.Join(told, "<br>"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func newSessionVerify(g *globals) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify [ID]",
		Short: "Check that journals are unaltered",
		Long: `Checks the chain of a journal, or of all journals: every line has the digest of the line
before. For a journal that was changed, extended in the middle or cut, it shows the line. A
journal that was rewritten as a whole can have a valid chain: git shows who committed it.

Exit code: 0 if all are unaltered, 1 if one is not.`,
		Example: `  pawl session verify
  pawl session verify 3f9a01 --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return sessionVerify(g, append(args, "")[0], asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// verified is the result of checking one journal.
type verified struct {
	Path    string `json:"path"`
	Entries int    `json:"entries"`
	Intact  bool   `json:"intact"`
	Line    int    `json:"line,omitempty"`
	Why     string `json:"why,omitempty"`
}

func sessionVerify(g *globals, id string, asJSON bool) error {
	paths, err := g.sessionFolder().Paths()
	if err != nil {
		return err
	}
	if id != "" {
		path, err := g.sessionFolder().Find(id)
		if err != nil {
			return command.Usage(err)
		}
		paths = []string{path}
	}
	list, bad := []verified{}, 0
	for _, path := range paths {
		s, err := journal.ReadFile(path)
		v := verified{Path: filepath.ToSlash(path), Intact: err == nil}
		if s != nil {
			v.Entries = len(s.Entries)
		}
		if err != nil {
			bad++
			v.Why = err.Error()
			if broken, ok := errors.AsType[*journal.BrokenError](err); ok {
				v.Line, v.Why = broken.Line, broken.Why
			}
		}
		list = append(list, v)
	}
	if asJSON {
		err = command.WriteJSON(g.Out, map[string]any{"intact": bad == 0, "journals": list})
	} else {
		err = writeVerified(g, list, bad)
	}
	if err == nil && bad > 0 {
		return command.Exit(command.ExitFailed, fmt.Errorf("%w: %d of %d journals are altered or damaged", command.ErrReported, bad, len(list)))
	}
	return err
}

func writeVerified(g *globals, list []verified, bad int) error {
	for _, v := range list {
		if !v.Intact {
			fmt.Fprintf(g.Out, "%s %s:%d: %s\n", g.Style().Bad("broken"), v.Path, v.Line, words.Sanitize(v.Why))
		}
	}
	_, err := fmt.Fprintf(g.Out, "%s, %d intact\n", words.Plural(len(list), "journal"), len(list)-bad)
	return err
}
