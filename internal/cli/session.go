package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/lesson"
	"github.com/goatnote-inc/pawl/internal/report"
)

func newSession(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session",
		Short: "Keep a journal of the work on a kernel",
		Long: `A session is a piece of work on a kernel, from its start to its end. While one is open,
every command of pawl leaves an entry in its journal by itself: what ran, what had changed
since the last measurement, what came of it, who did it, how long it took and what it
cost. pawl next says what to do, and stops at the gates.

Journals are .pawl/sessions/ID.jsonl. Git does not see one before its session has ended.
Lines are only ever added, each names the one before, and what looks like a secret is left
out.`,
		Example: `  pawl session start --goal "softmax 1.2 times as fast as torch" --target 1.2 --plan 4h
  pawl session note "the tile may be too small" --fix low-occupancy/1
  pawl session status
  pawl session end --outcome better "BLOCK_M 128 helps, 256 spills"
  pawl session show`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return usageError{fmt.Errorf("there is no command %q\n  %s --help shows what there is", "session "+args[0], c.CommandPath())}
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, sub := range []*cobra.Command{
		newSessionStart(g), newSessionStatus(g), newSessionNote(g), newSessionEnd(g), newSessionList(g), newSessionShow(g), newSessionVerify(g),
	} {
		sub.Args = checked(sub.Args)
		cmd.AddCommand(sub)
	}
	return cmd
}

type sessionNote struct {
	*globals
	fix, lesson string
	json        bool
}

func newSessionNote(g *globals) *cobra.Command {
	f := sessionNote{globals: g}
	cmd := &cobra.Command{
		Use:   "note TEXT",
		Short: "Write something down, or say what is tried next",
		Long: `Adds what you think, saw or decided to the journal. --fix and --lesson say what you try
next: what is measured afterwards is its outcome, and the model learns from it.`,
		Example: `  pawl session note "the compiler spills at 256 threads"
  pawl session note "pad the tile" --fix bank-conflicts/1
  pawl session note --lesson softmax-in-fp16-3f9a01`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, strings.Join(args, " ")) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.fix, "fix", "", "the fix that is tried next, by its `id`: rule/number (pawl learn next lists them)")
	fl.StringVar(&f.lesson, "lesson", "", "the lesson that is followed next, by its `name` (pawl lesson list)")
	fl.BoolVar(&f.json, "json", false, "the entry as JSON")
	return cmd
}

func (f *sessionNote) run(cmd *cobra.Command, text string) error {
	n := journal.Noted{Text: strings.TrimSpace(text), Fix: f.fix, Lesson: f.lesson}
	switch rule, number, ok := strings.Cut(f.fix, "/"); {
	case n == journal.Noted{}:
		return usageError{errors.New("nothing to note: write a text, --fix ID or --lesson NAME")}
	case f.fix != "" && (!ok || rule == "" || number == "" || strings.ContainsAny(f.fix, " \t\n")):
		return usageError{fmt.Errorf("--fix %q: write it like bank-conflicts/1", f.fix)}
	case strings.ContainsAny(f.lesson, " \t\n/\\"):
		return usageError{fmt.Errorf("--lesson %q is no name of a lesson: pawl lesson list has them", f.lesson)}
	}
	w, root, err := f.sessionOf(cmd)
	if err != nil {
		return sessionError(err)
	}
	if err := w.Append(journal.Entry{Actor: f.actor(cmd.Context(), root), Kind: journal.KindNoted, Noted: &n}); err != nil {
		return err
	}
	if f.json {
		return writeJSON(f.Out, lastEntry(w))
	}
	_, err = fmt.Fprintln(f.Out, "noted")
	return err
}

func lastEntry(w *journal.Writer) journal.Entry {
	s := w.Session()
	return s.Entries[len(s.Entries)-1]
}

// sessionError returns a usage error if no session is open, and a failed check if the journal was changed.
func sessionError(err error) error {
	if errors.Is(err, journal.ErrNoSession) {
		return usageError{err}
	}
	return brokenAnswer(err)
}

// brokenAnswer gives the error of a changed journal the exit code of a failed check.
func brokenAnswer(err error) error {
	if _, ok := errors.AsType[*journal.BrokenError](err); ok {
		return exitError{exitFailed, fmt.Errorf("the journal is not as it was written: %w\n  git log shows who changed it; pawl session list still names the others", err)}
	}
	return err
}

type sessionEnd struct {
	*globals
	outcome  string
	noLesson bool
	json     bool
}

func newSessionEnd(g *globals) *cobra.Command {
	f := sessionEnd{globals: g}
	cmd := &cobra.Command{
		Use:   "end [TEXT]",
		Short: "Close the session, and keep its journal where git sees it",
		Long: `Ends the session with what came of it: reached (the target), better (faster, not as
wanted), stopped (at a gate), lost (the host died, or nobody came back) or nothing (nothing
is faster). Without --outcome it is found out from what was measured.

The journal moves to .pawl/sessions, to be committed with the change. What the best
confirmed attempt taught is drafted as a lesson in .pawl/lessons.`,
		Example: `  pawl session end
  pawl session end --outcome better "BLOCK_M 128 helps, 256 spills"
  pawl session end --outcome lost "the spot host went away during the build"`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, strings.Join(args, " ")) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.outcome, "outcome", "", "`what` came of it: reached, better, stopped, lost or nothing (default: found out)")
	fl.BoolVar(&f.noLesson, "no-lesson", false, "draft no lesson")
	fl.BoolVar(&f.json, "json", false, "the answer as JSON")
	return cmd
}

func (f *sessionEnd) run(cmd *cobra.Command, text string) error {
	ctx := cmd.Context()
	outcome := journal.Result(f.outcome)
	switch outcome {
	case "", journal.Reached, journal.Better, journal.Stopped, journal.Lost, journal.Nothing:
	default:
		return usageError{fmt.Errorf("--outcome %q: take reached, better, stopped, lost or nothing", f.outcome)}
	}
	w, root, err := f.sessionOf(cmd)
	if err != nil {
		return sessionError(err)
	}
	what := f.currentState(ctx, w, root)
	what.Command, what.Args = "session end", argsOf(cmd, f.args)
	if outcome == "" || outcome == journal.Reached || outcome == journal.Better { // giving up is always allowed
		if err := f.checkGates(ctx, w, root, what); err != nil {
			return err
		}
	}
	s := w.Session()
	e := journal.Ended{Outcome: outcome, Text: strings.TrimSpace(text), Speedup: speedupOf(s), Commit: headOf(ctx, root)}
	if outcome == "" {
		e.Outcome = outcomeOf(s, e.Speedup)
	}
	var note string
	if !f.noLesson {
		if e.Lesson, err = f.draft(root, s); err != nil {
			note = "no lesson was drafted: " + err.Error()
		}
	}
	if err := w.End(e, f.actor(ctx, root)); err != nil {
		return err
	}
	return f.show(ctx, w.Session(), note)
}

// draft writes a lesson from the session. It returns its name; empty if there is nothing to learn.
func (f *sessionEnd) draft(root string, s *journal.Session) (string, error) {
	l, ok := lesson.Draft(s, journal.Attempts(s))
	if !ok {
		return "", nil
	}
	l.Written = f.now().UTC().Truncate(time.Second)
	if _, err := (lesson.Folder{Root: root}).Add(l); err != nil {
		return "", err
	}
	return l.Name, nil
}

func (f *sessionEnd) show(ctx context.Context, s *journal.Session, note string) error {
	sum := journal.Sum(s, f.now())
	if f.json {
		return writeJSON(f.Out, struct {
			Session journal.Summary `json:"session"`
			Path    string          `json:"path"`
			Note    string          `json:"note,omitempty"`
		}{sum, filepath.ToSlash(s.Path), note})
	}
	style := f.style()
	fmt.Fprintf(f.Out, "%s: %s, %s\n", style.Bold("session "+s.ID+" has ended"), outcomeText(*s.Ended), spentText(sum))
	fmt.Fprintf(f.Out, "journal: %s\n", s.Path)
	if s.Ended.Lesson != "" {
		fmt.Fprintf(f.Out, "lesson:  .pawl/lessons/%s.md, drafted from its best attempt: read it and put it right\n", report.Sanitize(s.Ended.Lesson))
	}
	if note != "" {
		fmt.Fprintln(f.Err, style.Warn("note: ")+report.Sanitize(note))
	}
	if _, err := gitOutput(ctx, ".", "check-ignore", "-q", s.Path); err == nil {
		fmt.Fprintln(f.Err, style.Warn("note: ")+"git ignores the journal: write !/.pawl/sessions/ into .gitignore to keep it with the change")
	} else {
		folders := journal.Dir
		if s.Ended.Lesson != "" { // git refuses to add a folder that does not exist
			folders += " " + lesson.Dir
		}
		fmt.Fprintln(f.Out, style.Faint("git add "+folders+" keeps it with the change"))
	}
	return nil
}
