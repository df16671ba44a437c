package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/learn"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// adviseFixes ranks the fixes to try.
func (f *nextFlags) adviseFixes(ctx context.Context) error {
	w, root, err := f.openJournal()
	if err != nil && !errors.Is(err, journal.ErrNoSession) {
		return err
	}
	if err != nil {
		w = nil
	}
	subject, err := f.subject(ctx, w, root)
	if err != nil {
		return err
	}
	book, past := f.loadLessons(root)
	var current *journal.Session
	if w != nil {
		current = w.Session()
	}
	advice := learn.Advise(subject, book, past, current)
	if f.json {
		err = command.WriteJSON(f.Out, advice)
	} else {
		writeAdvice(f.globals, advice)
	}
	if err == nil && len(advice.Fixes) == 0 {
		return command.Exit(command.ExitNoAnswer, errors.New("no finding and no lesson names a fix that is left: run `pawl diagnose FILE --all` to see what the profile has"))
	}
	return err
}

// subject returns the kernel of the profile, with the facts that lessons need and what its build does.
func (f *nextFlags) subject(ctx context.Context, w *journal.Writer, root string) (learn.Subject, error) {
	s := learn.Subject{Build: buildOf(root)}
	facts := lessonFacts{profile: f.profile, writer: w}
	switch {
	case f.profile != "":
		seen, err := profileSubject(ctx, f.profile)
		if err != nil {
			return s, err
		}
		d := diagnose.Rules().Diagnose(seen)
		s.Class, s.Fixes = string(d.Bottleneck), learn.Diagnosed(d)
		s.Kernel, _, _ = strings.Cut(seen.Profile.Subject.Case, "/")
	case w != nil:
		i := slices.IndexFunc(w.Session().Entries, func(e journal.Entry) bool { return e.Did != nil && e.Did.Profiled != nil })
		if i < 0 {
			return s, command.Exit(command.ExitNoAnswer, errors.New("nothing was profiled in this session, and without a profile every fix is a guess: run `pawl profile`, or use --profile FILE"))
		}
		for _, e := range w.Session().Entries[i:] {
			if e.Did != nil && e.Did.Profiled != nil {
				s.Class, s.Fixes = e.Did.Profiled.Bottleneck, learn.Journaled(e.Did.Profiled)
			}
		}
		s.Kernel = w.Session().Benchmark
	default:
		return s, command.Usage(fmt.Errorf("%w, or name a profile with --profile", journal.ErrNoSession))
	}
	known, _, err := facts.gather(ctx, f.globals, root)
	s.Facts, s.GPU, s.Kernel = known.Numbers, known.GPU, cmp.Or(s.Kernel, known.Kernel)
	return s, err
}

// buildOf returns what the build of the candidate already does: flags and parameters of the suite, and the
// words of its build files.
func buildOf(root string) learn.Build {
	b := learn.Build{Parameters: map[string]string{}}
	s, err := suite.Load(filepath.Join(root, "pawl.yaml"))
	if err != nil {
		return b
	}
	for name, value := range parametersOf(s) {
		b.Parameters[path.Base(name)] = value
	}
	for _, value := range flagsOf(s) {
		b.Words = append(b.Words, strings.Fields(value)...)
	}
	list, _ := os.ReadDir(root)
	for _, e := range list {
		if name := strings.ToLower(e.Name()); strings.HasPrefix(name, "makefile") || slices.Contains([]string{".mk", ".cmake", ".ninja"}, path.Ext(name)) || slices.Contains([]string{"cmakelists.txt", "setup.py", "meson.build"}, name) {
			text, _ := disk.ReadRegular(filepath.Join(root, e.Name()), 1<<20)
			b.Words = append(b.Words, strings.FieldsFunc(string(text), func(r rune) bool { return strings.ContainsRune(" \t\n\"'(),;[]", r) })...)
		}
	}
	return b
}

// maxShownFixes is how many fixes a terminal shows.
const maxShownFixes = 8

func writeAdvice(g *globals, a learn.Advice) {
	style := g.Style()
	head := "limited by " + a.Class
	if a.Kernel != "" {
		head = a.Kernel + ", " + head
	}
	if a.GPU != "" {
		head += " on " + a.GPU
	}
	basis := fmt.Sprintf("based on %s with this bottleneck", words.Plural(a.Outcomes, "measured attempt"))
	if a.Outcomes == 0 {
		basis = "no attempt with this bottleneck is recorded yet: this is based on rules and lessons only"
	}
	fmt.Fprintf(g.Out, "%s\n%s\n", style.Bold(words.Sanitize(head)), style.Faint(basis))
	for i, fix := range a.Fixes[:min(len(a.Fixes), maxShownFixes)] {
		fmt.Fprintf(g.Out, "\n%d. %s  %s\n   %s\n", i+1, style.Bold(words.Sanitize(fix.ID)), words.Sanitize(fix.Do), words.Sanitize(expectedText(fix)))
		if fix.Watch != "" {
			fmt.Fprintln(g.Out, style.Faint("   watch: "+words.Sanitize(fix.Watch)))
		}
	}
	if len(a.Skipped) > 0 {
		fmt.Fprintln(g.Out, "\nnot recommended:")
	}
	for _, s := range a.Skipped {
		fmt.Fprintf(g.Out, "  %s: %s\n", words.Sanitize(s.ID), words.Sanitize(s.Why))
	}
	if len(a.Fixes) > 0 {
		fmt.Fprintf(g.Out, "\nRecord what you try, so that pawl learns from its outcome: pawl session note --fix %s\n", words.Sanitize(a.Fixes[0].ID))
	}
}

// expectedText says what to expect of a fix, and on which basis.
func expectedText(fix learn.Fix) string {
	text := ""
	switch fix.Basis {
	case learn.Measured:
		text = fmt.Sprintf("expected: %s; measured %s, from %s to %s", faster(fix.Expected), words.Plural(fix.Tried, "time"), faster(fix.Low), faster(fix.High))
	case learn.FromRule:
		text = fmt.Sprintf("a rule expects: %s; never tried", faster(fix.Prior))
	case learn.Unproven:
		text = "an unproven lesson; never tried"
		if fix.Prior > 0 {
			text = fmt.Sprintf("an unproven lesson claims: %s; never tried", faster(fix.Prior))
		}
	}
	if len(fix.Lessons) > 0 {
		text += "; lessons: " + strings.Join(fix.Lessons, ", ")
	}
	return text
}

// faster formats the logarithm of a gain.
func faster(gain float64) string { return words.Change(math.Exp(-gain)) }
