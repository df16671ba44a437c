package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/lesson"
	"github.com/goatnote-inc/pawl/internal/report"
)

// lessonFlags are the flags that the commands of pawl lesson share.
type lessonFlags struct {
	*globals
	json         bool
	state, class string
	facts        lessonFacts
	add          lessonAdd
	confirm      bool
	refute       bool
	because      string
}

func newLesson(g *globals) *cobra.Command {
	f := &lessonFlags{globals: g}
	cmd := &cobra.Command{
		Use:   "lesson",
		Short: "Lessons about kernels: symptom, cause, fix, and outcomes",
		Long: `A lesson says what to do about a symptom: a condition on facts of a profile, of a record or
of the open session. It is a Markdown file in .pawl/lessons, written once. pawl comes with
a starting set, whose lessons are only proposed. Record that you follow a lesson with
pawl session note --lesson NAME: what is measured afterwards is its outcome. A lesson whose
prediction fails loses weight by itself. See docs/how-to/lessons.md.`,
		Example: `  pawl lesson list
  pawl lesson match --for results/nsight/attention_S512.json
  pawl lesson show softmax-in-fp16
  pawl lesson add --edit`,
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
is known come first: the open session, or what --for, --run and --fact give.`,
		"  pawl lesson list --state confirmed\n  pawl lesson list --for profile.json --json", cobra.NoArgs,
		func(ctx context.Context, _ []string) error { return f.list(ctx) })
	match := sub("match", "Show the lessons that match a profile, a record or the session", `Shows the lessons whose symptom is true of what is known, the highest weight first, with
the numbers that make them match. A lesson does not match if a fact that it needs is not
known. Exit code: 0 if a lesson matches, 2 if none does.`,
		"  pawl lesson match --for results/nsight/attention_S512.json\n  pawl lesson match --session\n  pawl lesson match --fact bank_conflict_pct=40", cobra.NoArgs,
		func(ctx context.Context, _ []string) error { return f.match(ctx) })
	for _, c := range []*cobra.Command{list, match} {
		f.facts.register(c.Flags())
	}
	list.Flags().StringVar(&f.state, "state", "", "only lessons in this `state`: proposed, confirmed or refuted")
	list.Flags().StringVar(&f.class, "class", "", "only lessons about this `class`: memory, build, method, ...")
	sub("show NAME", "Show one lesson and its outcomes", "Shows a lesson. The start of its name is enough.",
		"  pawl lesson show softmax-in-fp16", cobra.ExactArgs(1), func(_ context.Context, args []string) error { return f.show(args[0]) })
	sub("facts", "List the facts that a symptom can use", "Lists the facts that the symptom of a lesson can use, and the source of each.",
		"  pawl lesson facts", cobra.NoArgs, func(context.Context, []string) error { return f.listFacts() })
	newLessonAdd(f, sub)
	newLessonReview(f, sub)
	return command.Group(cmd)
}

// loadLessons reads the lessons and their outcomes. What cannot be read is reported and left out.
func (f *lessonFlags) loadLessons() (*lesson.Book, string) {
	w, root, err := f.openJournal()
	if err != nil && !errors.Is(err, journal.ErrNoSession) {
		fmt.Fprintln(f.Err, "note: "+env.LogText(err.Error()))
	}
	b, err := readLessons(root)
	if err != nil {
		fmt.Fprintln(f.Err, f.ErrStyle().Warn("skipped: ")+env.LogText(err.Error()))
	}
	past, err := journal.Folder{Root: root, Now: f.now}.Summaries()
	if err != nil {
		fmt.Fprintln(f.Err, f.ErrStyle().Warn("skipped: ")+env.LogText(err.Error()))
	}
	for _, s := range past {
		b.Learn(lesson.Outcomes(s.ID, s.Followed))
	}
	f.facts.writer = w
	return b, root
}

// readLessons reads the lessons of a folder. Parsed lessons are cached in pawl's cache folder.
func readLessons(root string) (*lesson.Book, error) {
	f := lesson.Folder{Root: root}
	if dir, err := build.CacheDir(); err == nil {
		f.Cache = filepath.Join(dir, "lessons")
	}
	return f.Read()
}

// lessonList is the JSON output of pawl lesson list and pawl lesson match.
type lessonList[T any] struct {
	Lessons []T          `json:"lessons"`
	Facts   lesson.Facts `json:"facts"`
	From    []string     `json:"from"` // sources of the facts
}

// listedLesson is a lesson in a list. Only a lesson that matches includes what to do. pawl lesson show
// has the rest: agents pay for every word.
type listedLesson struct {
	Name    string       `json:"name"`
	Title   string       `json:"title"`
	Class   string       `json:"class"`
	State   lesson.State `json:"state"`
	Weight  float64      `json:"weight"`
	Seen    int          `json:"seen"`
	Edited  bool         `json:"edited"`
	Speaks  bool         `json:"speaks"`
	Symptom string       `json:"symptom,omitempty"`
	Cause   string       `json:"cause,omitempty"`
	Fix     string       `json:"fix,omitempty"`
	FixID   string       `json:"fix_id,omitempty"`
}

func listedLessons(all []lesson.Standing) []listedLesson {
	list := []listedLesson{}
	for _, s := range all {
		l := listedLesson{Name: s.Name, Title: s.Title, Class: s.Class, State: s.State, Weight: s.Weight, Seen: s.Seen, Edited: s.Edited, Speaks: s.Speaks}
		if s.Speaks {
			l.Symptom, l.Cause, l.Fix, l.FixID = s.Symptom, s.Cause, s.Fix, s.FixID
		}
		list = append(list, l)
	}
	return list
}

func (f *lessonFlags) list(ctx context.Context) error {
	if f.state != "" && !slices.Contains([]string{"proposed", "confirmed", "refuted"}, f.state) {
		return command.Usage(fmt.Errorf("unknown --state %q (known: proposed, confirmed, refuted)", f.state))
	}
	if f.class != "" && !slices.Contains(lesson.Classes(), f.class) {
		return command.Usage(fmt.Errorf("unknown --class %q (known: %s)", f.class, strings.Join(lesson.Classes(), ", ")))
	}
	b, root := f.loadLessons()
	facts, from, err := f.facts.gather(ctx, f.globals, root)
	if err != nil {
		return err
	}
	all := slices.DeleteFunc(b.All(facts), func(s lesson.Standing) bool {
		return f.state != "" && string(s.State) != f.state || f.class != "" && s.Class != f.class
	})
	if f.json {
		return command.WriteJSON(f.Out, lessonList[listedLesson]{listedLessons(all), facts, from})
	}
	return f.writeList(all, from)
}

// writeList prints the lessons that match, then the others.
func (f *lessonFlags) writeList(all []lesson.Standing, from []string) error {
	style := f.Style()
	speaks := func(s lesson.Standing) bool { return s.Speaks && s.State != lesson.Refuted }
	n := 0
	for n < len(all) && speaks(all[n]) {
		n++
	}
	if len(from) > 0 {
		speak := "match"
		if n == 1 {
			speak = "matches"
		}
		fmt.Fprintf(f.Out, "%s of %d %s %s\n", words.Plural(n, "lesson"), len(all), speak, env.LogText(strings.Join(from, ", ")))
	}
	for _, part := range [][]lesson.Standing{all[:n], all[n:]} {
		if len(part) == 0 {
			continue
		}
		rows := [][]string{{"lesson", "state", "weight", "seen", "class", "title"}}
		for _, s := range part {
			rows = append(rows, []string{words.Sanitize(s.Name), stateWord(s), fmt.Sprintf("%.2f", s.Weight), fmt.Sprint(s.Seen), s.Class, words.Sanitize(s.Title)})
		}
		if err := report.Table(f.Out, style, []bool{false, false, true, true, false, false}, rows); err != nil {
			return err
		}
		if len(part) == n && n < len(all) {
			fmt.Fprintln(f.Out)
		}
	}
	if len(all) == 0 {
		fmt.Fprintln(f.Out, "no lessons found")
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

func (f *lessonFlags) match(ctx context.Context) error {
	b, root := f.loadLessons()
	facts, from, err := f.facts.gather(ctx, f.globals, root)
	if err != nil {
		return err
	}
	if len(from) == 0 {
		return command.Usage(errors.New("nothing to match: no session is open here\n  set what is known with --for PROFILE, --run RECORD or --fact NAME=NUMBER"))
	}
	speaking := b.Speaking(facts)
	none := error(nil)
	if len(speaking) == 0 {
		none = command.Exit(command.ExitNoAnswer, fmt.Errorf("no lesson matches %s: %w", env.LogText(strings.Join(from, ", ")), command.ErrReported))
	}
	if f.json {
		return errors.Join(command.WriteJSON(f.Out, lessonList[lesson.Standing]{append([]lesson.Standing{}, speaking...), facts, from}), none)
	}
	if none != nil {
		fmt.Fprintf(f.Out, "no lesson matches %s\n", env.LogText(strings.Join(from, ", ")))
		return none
	}
	for i, s := range speaking {
		if i > 0 {
			fmt.Fprintln(f.Out)
		}
		f.writeMatch(s, facts)
	}
	return nil
}

// writeMatch prints a lesson: its title, why it matches, the cause and the fix.
func (f *lessonFlags) writeMatch(s lesson.Standing, facts lesson.Facts) {
	style := f.Style()
	fmt.Fprintf(f.Out, "%s  %s\n", style.Bold(words.Sanitize(s.Title)), style.Faint(fmt.Sprintf("%s, %s, weight %.2f", words.Sanitize(s.Name), stateWord(s), s.Weight)))
	var because []string
	for _, name := range s.Asks() {
		because = append(because, fmt.Sprintf("%s is %.4g", name, facts.Numbers[name]))
	}
	fmt.Fprintf(f.Out, "  because %s\n", strings.Join(because, ", "))
	for _, line := range []string{s.Cause, s.Fix} {
		f.paragraph("  ", line)
	}
}
