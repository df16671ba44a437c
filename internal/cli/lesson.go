package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

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
		Short: "What was learned about kernels: symptom, cause, fix, and how it fared",
		Long: `A lesson says what to do about a symptom: a condition over facts of a profile, of a
record or of the open session. It is a Markdown file in .pawl/lessons, written once; pawl
comes with a set to start from, which is no more than proposed. Following one is noted with
pawl session note --lesson NAME, and what is measured afterwards is its outcome: a lesson
whose prediction fails loses weight by itself. docs/how-to/lessons.md`,
		Example: `  pawl lesson list
  pawl lesson match --for results/nsight/attention_S512.json
  pawl lesson show softmax-in-fp16
  pawl lesson add --edit`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.list(cmd.Context()) },
	}
	cmd.PersistentFlags().BoolVar(&f.json, "json", false, "the answer as JSON on stdout")
	sub := func(use, short, long, example string, args cobra.PositionalArgs, run func(context.Context, []string) error) *cobra.Command {
		c := &cobra.Command{
			Use: use, Short: short, Long: long, Example: example, Args: checked(args),
			RunE: func(cmd *cobra.Command, given []string) error { return run(cmd.Context(), given) },
		}
		cmd.AddCommand(c)
		return c
	}
	list := sub("list", "All lessons, what speaks now first", `Lists the lessons of this repository and those that pawl comes with. Those that speak of
what is known stand first: of the open session, or of what --for, --run and --fact give.`,
		"  pawl lesson list --state confirmed\n  pawl lesson list --for profile.json --json", cobra.NoArgs,
		func(ctx context.Context, _ []string) error { return f.list(ctx) })
	match := sub("match", "The lessons that speak of a profile, a record or the session", `Shows the lessons whose symptom is true of what is known, the most believed first, with
the numbers that make them speak. A lesson is silent where a fact that it asks for is not
known. Exit code: 0 where one speaks, 2 where none does.`,
		"  pawl lesson match --for results/nsight/attention_S512.json\n  pawl lesson match --session\n  pawl lesson match --fact bank_conflict_pct=40", cobra.NoArgs,
		func(ctx context.Context, _ []string) error { return f.match(ctx) })
	for _, c := range []*cobra.Command{list, match} {
		f.facts.register(c.Flags())
	}
	list.Flags().StringVar(&f.state, "state", "", "only lessons in this `state`: proposed, confirmed or refuted")
	list.Flags().StringVar(&f.class, "class", "", "only lessons about this `class`: memory, build, method, ...")
	sub("show NAME", "One lesson, and what came of it", "Shows a lesson. The beginning of its name is enough.",
		"  pawl lesson show softmax-in-fp16", cobra.ExactArgs(1), func(_ context.Context, args []string) error { return f.show(args[0]) })
	sub("facts", "The facts that a symptom may ask for", "Lists the facts that the symptom of a lesson may ask for, and where each is from.",
		"  pawl lesson facts", cobra.NoArgs, func(context.Context, []string) error { return f.listFacts() })
	newLessonAdd(f, sub)
	newLessonReview(f, sub)
	return cmd
}

// loadLessons reads the lessons and their outcomes. What cannot be read is reported and left out.
func (f *lessonFlags) loadLessons() (*lesson.Book, string) {
	w, root, err := f.openJournal()
	if err != nil && !errors.Is(err, journal.ErrNoSession) {
		fmt.Fprintln(f.Err, "note: "+logText(err.Error()))
	}
	b, err := readLessons(root)
	if err != nil {
		fmt.Fprintln(f.Err, f.errStyle().Warn("left out: ")+logText(err.Error()))
	}
	past, err := journal.Folder{Root: root, Now: f.now}.Summaries()
	if err != nil {
		fmt.Fprintln(f.Err, f.errStyle().Warn("left out: ")+logText(err.Error()))
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
		return usageError{fmt.Errorf("--state %q: there are proposed, confirmed and refuted", f.state)}
	}
	if f.class != "" && !slices.Contains(lesson.Classes(), f.class) {
		return usageError{fmt.Errorf("--class %q: there are %s", f.class, strings.Join(lesson.Classes(), ", "))}
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
		return writeJSON(f.Out, lessonList[listedLesson]{listedLessons(all), facts, from})
	}
	return f.writeList(all, from)
}

// writeList prints the lessons that match, then the others.
func (f *lessonFlags) writeList(all []lesson.Standing, from []string) error {
	style := f.style()
	speaks := func(s lesson.Standing) bool { return s.Speaks && s.State != lesson.Refuted }
	n := 0
	for n < len(all) && speaks(all[n]) {
		n++
	}
	if len(from) > 0 {
		speak := "speak"
		if n == 1 {
			speak = "speaks"
		}
		fmt.Fprintf(f.Out, "%s of %d %s of %s\n", report.Plural(n, "lesson"), len(all), speak, logText(strings.Join(from, ", ")))
	}
	for _, part := range [][]lesson.Standing{all[:n], all[n:]} {
		if len(part) == 0 {
			continue
		}
		rows := [][]string{{"lesson", "state", "weight", "seen", "class", "what it says"}}
		for _, s := range part {
			rows = append(rows, []string{report.Sanitize(s.Name), stateWord(s), fmt.Sprintf("%.2f", s.Weight), fmt.Sprint(s.Seen), s.Class, report.Sanitize(s.Title)})
		}
		if err := report.Table(f.Out, style, []bool{false, false, true, true, false, false}, rows); err != nil {
			return err
		}
		if len(part) == n && n < len(all) {
			fmt.Fprintln(f.Out)
		}
	}
	if len(all) == 0 {
		fmt.Fprintln(f.Out, "there is no such lesson")
	}
	_, err := fmt.Fprintln(f.Out, style.Faint("pawl lesson show NAME shows one; pawl session note --lesson NAME says that it is tried"))
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
		return usageError{errors.New("there is nothing to match: no session is open here\n  --for PROFILE, --run RECORD or --fact NAME=NUMBER say what is known")}
	}
	speaking := b.Speaking(facts)
	none := error(nil)
	if len(speaking) == 0 {
		none = exitError{exitNoAnswer, fmt.Errorf("no lesson speaks of %s: %w", logText(strings.Join(from, ", ")), errReported)}
	}
	if f.json {
		return errors.Join(writeJSON(f.Out, lessonList[lesson.Standing]{append([]lesson.Standing{}, speaking...), facts, from}), none)
	}
	if none != nil {
		fmt.Fprintf(f.Out, "no lesson speaks of %s\n", logText(strings.Join(from, ", ")))
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
	style := f.style()
	fmt.Fprintf(f.Out, "%s  %s\n", style.Bold(report.Sanitize(s.Title)), style.Faint(fmt.Sprintf("%s, %s, weight %.2f", report.Sanitize(s.Name), stateWord(s), s.Weight)))
	var because []string
	for _, name := range s.Asks() {
		because = append(because, fmt.Sprintf("%s is %.4g", name, facts.Numbers[name]))
	}
	fmt.Fprintf(f.Out, "  because %s\n", strings.Join(because, ", "))
	for _, line := range []string{s.Cause, s.Fix} {
		f.paragraph("  ", line)
	}
}
