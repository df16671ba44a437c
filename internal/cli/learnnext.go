package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/learn"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/lesson"
	"github.com/goatnote-inc/pawl/internal/report"
)

// learnNextFlags are the flags of pawl learn next.
type learnNextFlags struct {
	*globals
	profile string
	json    bool
}

func newLearnNext(g *globals) *cobra.Command {
	f := learnNextFlags{globals: g}
	cmd := &cobra.Command{
		Use:   "next",
		Short: "The fixes to try, the most promising first",
		Long: `Ranks the fixes that a profile's findings and the lessons name by what to expect of
them: what rules say, corrected by every attempt of earlier sessions. Each has the gain
that is expected, the interval that holds it in four of five cases, and how likely it is
the best of them. Where nothing was tried yet it says so: it is the rules' word then.

The profile is the last one of the open session, or --profile FILE. What is tried next is
noted with pawl session note --fix ID, so that its outcome is learned from.

Exit code: 0; 2 where nothing is known to fix.`,
		Example: `  pawl learn next
  pawl learn next --profile results/nsight/attention_S512.json
  pawl learn next --json`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	cmd.Flags().StringVar(&f.profile, "profile", "", "this `file`, in any form that pawl diagnose reads (default: the last of the open session)")
	cmd.Flags().BoolVar(&f.json, "json", false, "the answer as JSON")
	return cmd
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
		f.say("not read: " + report.Sanitize(p))
	}
	for i := range tales {
		book.Learn(lesson.Outcomes(tales[i].ID, tales[i].Attempts()))
	}
	advice := learn.Advise(subject, book, tales)
	if f.json {
		if err := writeJSON(f.Out, advice); err != nil {
			return err
		}
	} else if err := writeAdvice(f.globals, advice); err != nil {
		return err
	}
	if len(advice.Fixes) == 0 {
		return exitError{exitNoAnswer, errors.New("neither a finding nor a lesson names a fix: pawl diagnose FILE --all shows what the profile has")}
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
		err = usageError{fmt.Errorf("%w; or --profile names a profile", journal.ErrNoSession)}
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
	p, err := readAnyProfile(ctx, f.profile)
	if err != nil {
		return err
	}
	seen, err := diagnose.NewSubject(p, nil)
	if err != nil {
		return usageError{fmt.Errorf("--profile %s: %w", f.profile, err)}
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
	return exitError{exitNoAnswer, errors.New("nothing was profiled in this session, and without a profile every fix is a guess: pawl profile, or --profile FILE")}
}

// maxShownFixes is how many fixes a terminal shows.
const maxShownFixes = 8

func writeAdvice(g *globals, a learn.Advice) error {
	style := g.style()
	head := "limited by " + a.Class
	if a.Kernel != "" {
		head = report.Sanitize(a.Kernel) + ", " + head
	}
	if a.GPU != "" {
		head += " on " + report.Sanitize(a.GPU)
	}
	if _, err := fmt.Fprintln(g.Out, style.Bold(head)); err != nil {
		return err
	}
	basis := fmt.Sprintf("learned from %s of earlier sessions", report.Plural(a.Outcomes, "attempt"))
	if a.Outcomes == 0 {
		basis = "nothing was tried and noted yet: this is only what rules and lessons say"
	}
	fmt.Fprintln(g.Out, style.Faint(basis))
	for i, fix := range a.Fixes[:min(len(a.Fixes), maxShownFixes)] {
		fmt.Fprintf(g.Out, "\n%d. %s  %s\n", i+1, style.Bold(report.Sanitize(fix.Fix)), report.Sanitize(fix.Do))
		fmt.Fprintf(g.Out, "   %s, the best of these with %.0f %%; %s\n", expectedText(fix), 100*fix.Best, seenText(fix))
		if fix.Watch != "" {
			fmt.Fprintln(g.Out, style.Faint("   watch: "+report.Sanitize(fix.Watch)))
		}
	}
	if len(a.Fixes) > 0 {
		fmt.Fprintf(g.Out, "\nNote what you try, so that its outcome is learned from: pawl session note --fix %s\n", report.Sanitize(a.Fixes[0].Fix))
	}
	return nil
}

// expectedText returns the gain to expect from a fix. There is none for a fix that was never tried and
// for which no rule or lesson claims a gain.
func expectedText(fix learn.Advised) string {
	if fix.Seen == 0 && fix.Prior == 0 && len(fix.Claims) == 0 {
		return "no gain is known yet"
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
		text = fmt.Sprintf("tried %s", report.Plural(fix.Seen, "time"))
	}
	if n := len(fix.Lessons); n > 0 {
		text += "; " + report.Plural(n, "lesson") + ": " + report.Sanitize(strings.Join(fix.Lessons, ", "))
	}
	return text
}
