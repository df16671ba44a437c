package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/shell"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/lesson"
	"github.com/goatnote-inc/pawl/internal/learn/page"
)

func newSession(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session",
		Short: "Keep a journal of the work on a kernel",
		Long: `A session is a piece of work on a kernel, from start to end. While one is open, every pawl
command adds an entry to its journal: what ran, what had changed since the last
measurement, the result, who ran it, how long it took and what it cost. pawl session next
says what to do. Five gates stop commands: environment, builds, correct, definition and
budget. The others advise.

Journals are .pawl/sessions/ID.jsonl. Git does not see a journal until its session has
ended. Lines are only added, each names the one before, and what looks like a secret is
left out.`,
		Example: `  pawl session start --goal "softmax 1.2 times as fast as torch" --target 1.2 --plan 4h
  pawl session note "the tile may be too small" --fix low-occupancy/1
  pawl session end --outcome better "BLOCK_M 128 helps, 256 spills"
  pawl session show`,
	}
	return command.Group(cmd, newSessionStart(g), newSessionNote(g), newSessionEnd(g), newSessionList(g), newSessionShow(g),
		newNext(g), newGates(g), newChecklist(g), newGuide(g), newSessionReport(g))
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
		Short: "Write a note, or record what you try next",
		Long: `Adds what you think, saw or decided to the journal. --fix and --lesson record what you try
next: what is measured afterwards is its outcome, and later recommendations use it.`,
		Example: `  pawl session note "the compiler spills at 256 threads"
  pawl session note "pad the tile" --fix bank-conflicts/1
  pawl session note --lesson softmax-in-fp16-3f9a01`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, strings.Join(args, " ")) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.fix, "fix", "", "`id` of the fix that you try next: rule/number (pawl session next --fixes lists them)")
	fl.StringVar(&f.lesson, "lesson", "", "`name` of the lesson that you follow next (pawl lesson list)")
	fl.BoolVar(&f.json, "json", false, "print the entry as JSON")
	return cmd
}

func (f *sessionNote) run(cmd *cobra.Command, text string) error {
	n := journal.Noted{Text: strings.TrimSpace(text), Fix: f.fix, Lesson: f.lesson}
	switch rule, number, ok := strings.Cut(f.fix, "/"); {
	case n == journal.Noted{}:
		return command.Usage(errors.New("nothing to note: give a text, --fix ID or --lesson NAME"))
	case f.fix != "" && (!ok || rule == "" || number == "" || strings.ContainsAny(f.fix, " \t\n")):
		return command.Usage(fmt.Errorf("--fix %q: expected a form like bank-conflicts/1", f.fix))
	case strings.ContainsAny(f.lesson, " \t\n/\\"):
		return command.Usage(fmt.Errorf("--lesson %q is not the name of a lesson: see `pawl lesson list`", f.lesson))
	}
	w, root, err := f.sessionOf(cmd)
	if err != nil {
		return sessionError(err)
	}
	if err := w.Append(journal.Entry{Actor: f.actor(cmd.Context(), root), Kind: journal.KindNoted, Noted: &n}); err != nil {
		return err
	}
	if f.json {
		return command.WriteJSON(f.Out, lastEntry(w))
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
		return command.Usage(err)
	}
	return brokenAnswer(err)
}

// brokenAnswer gives the error of a changed journal the exit code of a failed check.
func brokenAnswer(err error) error {
	if _, ok := errors.AsType[*journal.BrokenError](err); ok {
		return command.Exit(command.ExitFailed, fmt.Errorf("the journal is altered or damaged: %w\n  git log shows who changed it; `pawl session list` still lists the others", err))
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
		Short: "End the session, and put its journal where git sees it",
		Long: `Ends the session with an outcome: reached (the target), better (faster, but not as wanted),
stopped (at a gate), lost (the host died, or the work was abandoned) or nothing (nothing is
faster). Without --outcome it is derived from the measurements.

The journal moves to .pawl/sessions, to be committed with the change. The best attempt is
drafted as a lesson in .pawl/lessons, with its diff, note and verdict.`,
		Example: `  pawl session end
  pawl session end --outcome better "BLOCK_M 128 helps, 256 spills"
  pawl session end --outcome lost "the spot host went away during the build"`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, strings.Join(args, " ")) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.outcome, "outcome", "", "`outcome` of the session: reached, better, stopped, lost or nothing (default: derived from the measurements)")
	fl.BoolVar(&f.noLesson, "no-lesson", false, "do not draft a lesson")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

func (f *sessionEnd) run(cmd *cobra.Command, text string) error {
	ctx := cmd.Context()
	outcome := journal.Result(f.outcome)
	switch outcome {
	case "", journal.Reached, journal.Better, journal.Stopped, journal.Lost, journal.Nothing:
	default:
		return command.Usage(fmt.Errorf("unknown --outcome %q (known: reached, better, stopped, lost, nothing)", f.outcome))
	}
	w, root, err := f.sessionOf(cmd)
	if err != nil {
		return sessionError(err)
	}
	s := w.Session()
	e := journal.Ended{Outcome: outcome, Text: strings.TrimSpace(text), Commit: headOf(ctx, root)}
	if all := s.Measurements(); len(all) > 0 {
		e.Speedup = s.Speedup(all[len(all)-1].Measured)
	}
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
	l, ok := lesson.Draft(s)
	if !ok {
		return "", nil
	}
	l.Written, l.Author = f.now().UTC().Truncate(time.Second), words.Sanitize(page.Actor(s.Entries[0].Actor))
	if _, err := (lesson.Folder{Root: root}).Add(l); err != nil {
		return "", err
	}
	return l.Name, nil
}

func (f *sessionEnd) show(ctx context.Context, s *journal.Session, note string) error {
	sum := journal.Summarize(s, f.now())
	if f.json {
		return command.WriteJSON(f.Out, struct {
			Session journal.Summary `json:"session"`
			Path    string          `json:"path"`
			Note    string          `json:"note,omitempty"`
		}{sum, filepath.ToSlash(s.Path), note})
	}
	style := f.Style()
	fmt.Fprintf(f.Out, "%s: %s, %s\n", style.Bold("session "+s.ID+" has ended"), page.Outcome(*s.Ended), page.Spent(sum))
	fmt.Fprintf(f.Out, "journal: %s\n", s.Path)
	if s.Ended.Lesson != "" {
		fmt.Fprintf(f.Out, "lesson:  .pawl/lessons/%s.md, drafted from its best attempt: read and correct it\n", words.Sanitize(s.Ended.Lesson))
	}
	if note != "" {
		fmt.Fprintln(f.Err, style.Warn("note: ")+words.Sanitize(note))
	}
	if _, err := shell.GitOutput(ctx, ".", "check-ignore", "-q", s.Path); err == nil {
		fmt.Fprintln(f.Err, style.Warn("note: ")+"git ignores the journal: add !/.pawl/sessions/ to .gitignore to keep it with the change")
	} else {
		folders := journal.Dir
		if s.Ended.Lesson != "" { // git refuses to add a folder that does not exist
			folders += " " + lesson.Dir
		}
		fmt.Fprintln(f.Out, style.Faint("git add "+folders+" keeps it with the change"))
	}
	return nil
}

// outcomeOf derives the outcome of a session from its measurements.
func outcomeOf(s *journal.Session, speedup float64) journal.Result {
	if speedup >= cmp.Or(s.Target, 1.2) {
		return journal.Reached
	}
	gain := 0.0
	for _, a := range journal.Attempts(s) {
		if a.Correct() {
			gain += a.Gain
		}
	}
	switch {
	case gain > math.Log(1.02):
		return journal.Better
	case s.Entries[len(s.Entries)-1].Kind == journal.KindRefused:
		return journal.Stopped
	}
	return journal.Nothing
}
