package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/lesson"
	"github.com/goatnote-inc/pawl/internal/learn/page"
	"github.com/goatnote-inc/pawl/internal/report"
)

// lessonFlags are the flags that the commands of pawl lesson share.
type lessonFlags struct {
	*globals
	json    bool
	facts   lessonFacts
	confirm bool
	refute  bool
	because string
}

func newLesson(g *globals) *cobra.Command {
	f := &lessonFlags{globals: g}
	cmd := &cobra.Command{
		Use:   "lesson",
		Short: "Lessons about kernels: symptom, cause, fix, and outcomes",
		Long: `A lesson says what to do about a symptom: a condition on facts of a profile or
of the open session. It is a Markdown file in .pawl/lessons, written once. pawl comes with
a starting set. Record that you follow a lesson with pawl session note --lesson NAME: what
is measured afterwards is its outcome. See docs/how-to/lessons.md.`,
		Example: `  pawl lesson list
  pawl lesson list --for results/profiles/attention_S512.json
  pawl lesson show softmax-in-fp16
  pawl lesson add lesson.md`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.list(cmd.Context()) },
	}
	cmd.PersistentFlags().BoolVar(&f.json, "json", false, "print JSON on stdout")
	sub := func(use, short, long, example string, args cobra.PositionalArgs, run func(context.Context, []string) error) *cobra.Command {
		c := &cobra.Command{
			Use: use, Short: short, Long: long, Example: example, Args: command.Checked(args),
			RunE: func(cmd *cobra.Command, given []string) error { return run(cmd.Context(), given) },
		}
		cmd.AddCommand(c)
		return c
	}
	list := sub("list", "List all lessons, the matching ones first", `Lists the lessons of this repository and those that come with pawl. Lessons that match what
is known come first, with their fix: the open session, or the profile of --for. Within each
part, lessons with measured gains come before those that were never tried.`,
		"  pawl lesson list\n  pawl lesson list --for profile.json --json", cobra.NoArgs,
		func(ctx context.Context, _ []string) error { return f.list(ctx) })
	list.Flags().StringVar(&f.facts.profile, "for", "", "match this `profile`, in any format that pawl diagnose reads")
	sub("show NAME", "Show one lesson and its outcomes", "Shows a lesson. The start of its name is enough.",
		"  pawl lesson show softmax-in-fp16", cobra.ExactArgs(1), func(_ context.Context, args []string) error { return f.show(args[0]) })
	sub("add FILE", "Add a lesson to this repository", `Checks a lesson in the format of docs/reference/lessons.md, and writes it to .pawl/lessons with
its author, date and name, for git.`,
		"  pawl lesson add lesson.md", cobra.ExactArgs(1), func(ctx context.Context, args []string) error { return f.add(ctx, args[0]) })
	c := sub("review NAME", "Confirm or refute a lesson", `Writes a person's decision about a lesson next to it, for git. The last review decides the
state of the lesson. Agents, CI and scripts cannot review.

Exit code: 0; 1 if the review is refused.`,
		`  pawl lesson review softmax-in-fp16 --confirm --because 'three kernels of ours had it'
  pawl lesson review narrow-loads --refute --because 'the compiler does it since 13.1'`, cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error { return f.review(ctx, args[0]) })
	c.Flags().BoolVar(&f.confirm, "confirm", false, "the lesson is right")
	c.Flags().BoolVar(&f.refute, "refute", false, "the lesson is wrong")
	c.Flags().StringVar(&f.because, "because", "", "the reason, in one `sentence`; recorded with your name")
	return cmd
}

// loadLessons reads the lessons with their outcomes, and all sessions. What cannot be read is reported and left
// out.
func (g *globals) loadLessons(root string) (*lesson.Book, []journal.Summary) {
	b, err := lesson.Folder{Root: root}.Read()
	past, pastErr := journal.Folder{Root: root, Now: g.now}.Summaries()
	for _, s := range past {
		if s.Broken != "" {
			pastErr = errors.Join(pastErr, errors.New(s.Broken))
		}
		b.Learn(s.ID, s.Attempts)
	}
	if err = errors.Join(err, pastErr); err != nil {
		fmt.Fprintln(g.Err, g.ErrStyle().Warn("skipped: ")+env.LogText(err.Error()))
	}
	return b, past
}

// open returns the lessons, and the folder of the suite. It sets the open session.
func (f *lessonFlags) open() (*lesson.Book, string) {
	w, root, err := f.openJournal()
	if err == nil {
		f.facts.writer = w
	} else if !errors.Is(err, journal.ErrNoSession) {
		fmt.Fprintln(f.Err, "note: "+env.LogText(err.Error()))
	}
	b, _ := f.loadLessons(root)
	return b, root
}

func (f *lessonFlags) list(ctx context.Context) error {
	b, root := f.open()
	facts, from, err := f.facts.gather(ctx, f.globals, root)
	if err != nil {
		return err
	}
	all := b.All(facts)
	if !f.json {
		return f.writeList(all, from)
	}
	for i := range all {
		l := &all[i]
		if l.Body, l.Tests, l.Source = "", nil, nil; !l.Speaks { // pawl lesson show has the rest
			l.Symptom, l.Cause, l.Fix = "", "", ""
		}
	}
	return command.WriteJSON(f.Out, map[string]any{"lessons": append([]lesson.Standing{}, all...), "from": from})
}

// writeList prints the lessons that match with their fix, then a table of all.
func (f *lessonFlags) writeList(all []lesson.Standing, from string) error {
	style := f.Style()
	n := 0
	rows := [][]string{{"lesson", "state", "seen", "gain", "class", "title"}}
	for _, s := range all {
		if s.Speaks && s.State != lesson.Refuted {
			n++
			fmt.Fprintf(f.Out, "%s  %s\n", style.Bold(words.Sanitize(s.Title)), style.Faint(words.Sanitize(s.Name)+", "+stateWord(s)))
			fmt.Fprintf(f.Out, "  because %s\n  %s\n", words.Sanitize(s.Symptom), words.SanitizeTo(s.Fix, maxLessonText))
		}
		gain := "-"
		if s.Seen > 0 {
			gain = words.Change(math.Exp(-s.Gain))
		}
		rows = append(rows, []string{words.Sanitize(s.Name), stateWord(s), fmt.Sprint(s.Seen), gain, s.Class, words.Sanitize(s.Title)})
	}
	if from != "" {
		fmt.Fprintf(f.Out, "%d of %s match %s\n\n", n, words.Plural(len(all), "lesson"), env.LogText(from))
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(f.Out, "no lessons found")
		return err
	}
	if err := report.Table(f.Out, style, []bool{false, false, true, true, false, false}, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintln(f.Out, style.Faint("pawl lesson show NAME shows one; pawl session note --lesson NAME records that you follow it"))
	return err
}

// stateWord returns the state, marked if the text was edited.
func stateWord(s lesson.Standing) string {
	if s.Edited {
		return string(s.State) + ", edited"
	}
	return string(s.State)
}

// maxLessonText limits a text of a lesson on a terminal, in characters.
const maxLessonText = 2000

func (f *lessonFlags) show(name string) error {
	b, _ := f.open()
	s, err := b.Find(name)
	if err != nil {
		return command.Usage(err)
	}
	if f.json {
		return command.WriteJSON(f.Out, s)
	}
	fmt.Fprintf(f.Out, "%s\n%s\n", f.Style().Bold(words.Sanitize(s.Title)), f.Style().Faint(words.Sanitize(s.Name)))
	fields := [][2]string{
		{"state", stateWord(s) + ": " + s.Why},
		{"symptom", s.Symptom},
		{"class", s.Class},
		{"cause", s.Cause},
		{"fix", s.Fix},
		{"fix id", s.FixID},
		{"GPUs", strings.Join(s.GPUs, ", ")},
		{"kernels", strings.Join(s.Kernels, ", ")},
		{"source", strings.Join(s.Source, "; ")},
		{"author", s.Author},
	}
	if s.Claim > 0 {
		fields = append(fields, [2]string{"claims", fmt.Sprintf("to save %.0f %% of the time", 100*s.Claim)})
	}
	if s.Seen > 0 {
		fields = append(fields, [2]string{"measured", fmt.Sprintf("%s over %s", words.Change(math.Exp(-s.Gain)), words.Plural(s.Seen, "outcome"))})
	}
	for _, v := range fields {
		if v[1] != "" {
			fmt.Fprintf(f.Out, "%-9s  %s\n", v[0], words.SanitizeTo(v[1], maxLessonText))
		}
	}
	if s.Body != "" {
		fmt.Fprintln(f.Out)
	}
	for line := range strings.Lines(s.Body) { // plain text: nothing in it is interpreted
		fmt.Fprintln(f.Out, "  "+words.SanitizeTo(strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "    "), 400))
	}
	return nil
}

func (f *lessonFlags) add(ctx context.Context, path string) error {
	text, err := disk.ReadRegular(path, lesson.MaxFile)
	if err != nil {
		return command.Usage(fmt.Errorf("cannot read the lesson: %w", err))
	}
	l, err := lesson.Parse(path, text)
	if err != nil {
		return command.Usage(err)
	}
	_, root, err := f.openJournal()
	if err != nil && !errors.Is(err, journal.ErrNoSession) {
		return err
	}
	l.Author = cmp.Or(l.Author, words.Sanitize(page.Actor(f.actor(ctx, root))))
	if l.Written.IsZero() {
		l.Written = f.now().UTC().Truncate(time.Second)
	}
	if path, err = (lesson.Folder{Root: root}).Add(l); err != nil {
		return command.Usage(err)
	}
	if f.json {
		return command.WriteJSON(f.Out, map[string]string{"name": l.Name, "path": path})
	}
	_, err = fmt.Fprintf(f.Out, "%s\n  commit it, and run `pawl session note --lesson %s` when you follow it\n", path, l.Name)
	return err
}

func (f *lessonFlags) review(ctx context.Context, name string) error {
	reason := strings.Join(strings.Fields(f.because), " ")
	switch {
	case f.confirm == f.refute:
		return command.Usage(errors.New("use either --confirm or --refute"))
	case reason == "" || len(reason) > 1000:
		return command.Usage(errors.New("--because must be a reason of 1 to 1000 characters, for readers of the lesson"))
	}
	b, root := f.open()
	s, err := b.Find(name)
	if err != nil {
		return command.Usage(err)
	}
	who := f.actor(ctx, root)
	if err := f.requirePerson(who, "review a lesson"); err != nil {
		return err
	}
	r := lesson.Review{Lesson: s.Name, State: lesson.Confirmed, Reason: reason, By: words.Sanitize(who.Name), Time: f.now().UTC().Truncate(time.Second)}
	if r.By == "" {
		return command.Usage(errors.New("a review needs the name of its author: git config user.name is not set"))
	}
	if f.refute {
		r.State = lesson.Refuted
	}
	if s.Reviewed != nil && !r.Time.After(s.Reviewed.Time) {
		r.Time = s.Reviewed.Time.Add(time.Second) // another clock was ahead; the last review must win
	}
	path, err := lesson.Folder{Root: root}.Review(r)
	if err != nil {
		return err
	}
	if f.json {
		return command.WriteJSON(f.Out, r)
	}
	_, err = fmt.Fprintf(f.Out, "%s\n  %s is %s by %s; commit the file\n", path, s.Name, r.State, r.By)
	return err
}

// requirePerson refuses agents, CI and scripts.
func (g *globals) requirePerson(who journal.Actor, does string) error {
	if who.Kind != journal.Person {
		return command.Exit(command.ExitFailed, fmt.Errorf("only a person can %s, but this is %s: ask the person you work for", does, words.Sanitize(page.Actor(who))))
	}
	if in, ok := g.In.(*os.File); !ok || !term.IsTerminal(int(in.Fd())) {
		return command.Exit(command.ExitFailed, fmt.Errorf("only a person at a terminal can %s, but the input of this command is not a terminal", does))
	}
	return nil
}
