package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/explain"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/learn"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/lesson"
)

// learnNextFlags are the flags of pawl session next --fixes.
type learnNextFlags struct {
	*globals
	profile string
	json    bool
}

func (f *learnNextFlags) run(ctx context.Context) error {
	subject, err := f.subject(ctx)
	if err != nil {
		return err
	}
	tales, problems, err := f.sessionSummaries()
	if err != nil {
		return err
	}
	book, err := readLessons(".")
	if err != nil {
		problems = append(problems, err.Error())
	}
	for _, p := range problems {
		f.Say("skipped: " + words.Sanitize(p))
	}
	for i := range tales {
		book.Learn(lesson.Outcomes(tales[i].ID, tales[i].Attempts()))
	}
	advice := learn.Advise(subject, book, tales)
	if f.json {
		if err := command.WriteJSON(f.Out, advice); err != nil {
			return err
		}
	} else if err := writeAdvice(f.globals, advice); err != nil {
		return err
	}
	if len(advice.Fixes) == 0 {
		return command.Exit(command.ExitNoAnswer, errors.New("no finding and no lesson names a fix: run `pawl diagnose FILE --all` to see what the profile has"))
	}
	return nil
}

// subject returns the kernel of the profile, with the facts that lessons need.
func (f *learnNextFlags) subject(ctx context.Context) (learn.Subject, error) {
	facts := lessonFacts{profile: f.profile}
	w, root, err := f.openJournal()
	if err != nil && !errors.Is(err, journal.ErrNoSession) {
		return learn.Subject{}, err
	}
	s := learn.Subject{}
	if err == nil {
		facts.writer = w
		s.Kernel, s.GPU = w.Session().Benchmark, w.Session().GPU
	}
	switch {
	case f.profile != "":
		err = f.ofFile(ctx, &s)
	case facts.writer != nil:
		err = ofSession(facts.writer.Session(), &s)
	default:
		err = command.Usage(fmt.Errorf("%w, or name a profile with --profile", journal.ErrNoSession))
	}
	if err != nil {
		return s, err
	}
	known, _, err := facts.gather(ctx, f.globals, root)
	if err != nil {
		return s, err
	}
	s.Facts, s.GPU, s.Kernel = known.Numbers, cmp.Or(s.GPU, known.GPU), cmp.Or(s.Kernel, known.Kernel)
	return s, nil
}

func (f *learnNextFlags) ofFile(ctx context.Context, s *learn.Subject) error {
	p, err := explain.ReadAnyProfile(ctx, f.profile)
	if err != nil {
		return err
	}
	seen, err := diagnose.NewSubject(p, nil)
	if err != nil {
		return command.Usage(fmt.Errorf("--profile %s: %w", f.profile, err))
	}
	d := diagnose.Rules().Diagnose(seen)
	s.Class, s.Fixes = string(d.Bottleneck), learn.Diagnosed(d)
	s.GPU = cmp.Or(archOf(seen), s.GPU)
	if benchmark, _, _ := strings.Cut(p.Subject.Case, "/"); benchmark != "" {
		s.Kernel = benchmark
	}
	return nil
}

func ofSession(session *journal.Session, s *learn.Subject) error {
	for _, v := range slices.Backward(session.Entries) {
		if did := v.Did; did != nil && did.Profiled != nil {
			s.Class, s.Fixes = did.Profiled.Bottleneck, learn.Journaled(did.Profiled)
			return nil
		}
	}
	return command.Exit(command.ExitNoAnswer, errors.New("nothing was profiled in this session, and without a profile every fix is a guess: run `pawl profile`, or use --profile FILE"))
}

// maxShownFixes is how many fixes a terminal shows.
const maxShownFixes = 8

func writeAdvice(g *globals, a learn.Advice) error {
	style := g.Style()
	head := "limited by " + a.Class
	if a.Kernel != "" {
		head = words.Sanitize(a.Kernel) + ", " + head
	}
	if a.GPU != "" {
		head += " on " + words.Sanitize(a.GPU)
	}
	if _, err := fmt.Fprintln(g.Out, style.Bold(head)); err != nil {
		return err
	}
	basis := fmt.Sprintf("learned from %s in earlier sessions", words.Plural(a.Outcomes, "attempt"))
	if a.Outcomes == 0 {
		basis = "no attempt is recorded yet: this is based on rules and lessons only"
	}
	fmt.Fprintln(g.Out, style.Faint(basis))
	for i, fix := range a.Fixes[:min(len(a.Fixes), maxShownFixes)] {
		fmt.Fprintf(g.Out, "\n%d. %s  %s\n", i+1, style.Bold(words.Sanitize(fix.Fix)), words.Sanitize(fix.Do))
		fmt.Fprintf(g.Out, "   %s, %.0f %% likely to be the best of these; %s\n", expectedText(fix), 100*fix.Best, seenText(fix))
		if fix.Watch != "" {
			fmt.Fprintln(g.Out, style.Faint("   watch: "+words.Sanitize(fix.Watch)))
		}
	}
	if len(a.Fixes) > 0 {
		fmt.Fprintf(g.Out, "\nRecord what you try, so that pawl learns from its outcome: pawl session note --fix %s\n", words.Sanitize(a.Fixes[0].Fix))
	}
	return nil
}

// expectedText returns the gain to expect from a fix. There is none for a fix that was never tried and
// for which no rule or lesson claims a gain.
func expectedText(fix learn.Advised) string {
	if fix.Seen == 0 && fix.Prior == 0 && len(fix.Claims) == 0 {
		return "no known gain yet"
	}
	return fmt.Sprintf("expected: %s (%s to %s)", speedText(fix.Gain), gainText(fix.Low), gainText(fix.High))
}

// speedText formats the logarithm of a gain as a percentage.
func speedText(gain float64) string {
	switch percent := math.Round(100 * math.Expm1(gain)); {
	case percent > 0:
		return fmt.Sprintf("%.0f %% faster", percent)
	case percent < 0:
		return fmt.Sprintf("%.0f %% slower", -percent)
	default:
		return "as fast as now"
	}
}

// gainText formats a gain in short form. Adding 0 removes the sign of a rounded -0.
func gainText(gain float64) string {
	return fmt.Sprintf("%+.0f %%", math.Round(100*math.Expm1(gain))+0)
}

func seenText(fix learn.Advised) string {
	text := "never tried"
	if fix.Seen > 0 {
		text = fmt.Sprintf("tried %s", words.Plural(fix.Seen, "time"))
	}
	if n := len(fix.Lessons); n > 0 {
		text += "; " + words.Plural(n, "lesson") + ": " + words.Sanitize(strings.Join(fix.Lessons, ", "))
	}
	return text
}
