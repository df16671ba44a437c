package decide

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/shell"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/bench"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/cli/progress"
	"github.com/goatnote-inc/pawl/internal/judge/commits"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
)

// bisectFlags are the flags of pawl bisect.
type bisectFlags struct{ bench.Flags }

// NewBisect returns the command pawl bisect.
func NewBisect(g *env.Env) *cobra.Command {
	f := bisectFlags{bench.Flags{Env: g}}
	cmd := &cobra.Command{
		Use:   "bisect GOOD [BAD]",
		Short: "Find the commit that made a kernel slower",
		Long: `Measures commits between GOOD and BAD (default: HEAD) side by side with GOOD until one commit is
left, then confirms that commit beside its parent in fresh rounds. The case that got slower
most is followed.

A commit that does not build, or has no answer, is skipped. If that leaves several commits,
all of them are named. The working tree is not touched. An interrupted bisect goes on when
the same command is started again.

Exit code: 0 if one commit was found and confirmed, 2 otherwise.`,
		Example: `  pawl bisect v1.4 main
  pawl bisect HEAD~64 --case 'matmul/*'`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), append(args, "HEAD")) },
	}
	fl := cmd.Flags()
	f.FlagSet = fl
	fl.StringVarP(&f.Suite, "suite", "f", "", "suite `file` (default pawl.yaml)")
	fl.StringVar(&f.Cases, "case", "", "follow only cases whose name or benchmark matches this `glob`")
	fl.DurationVar(&f.Wait, "wait", 30*time.Minute, "how long to wait while another pawl process uses the device")
	fl.StringVar(&f.Trust, "trust", "", "how far to trust the commits' own timings, a `level`: trusted, checked or self-timed (default: the suite's)")
	fl.BoolVar(&f.JSON, "json", false, "print the result as JSON on stdout, events as JSON lines on stderr")
	return cmd
}

func (f *bisectFlags) run(ctx context.Context, args []string) (err error) {
	if err := f.CheckNumbers(); err != nil {
		return command.Usage(err)
	}
	s, path, err := env.LoadSuite(f.Suite)
	if err != nil {
		return err
	}
	o := f.Options(s, path)
	gate, list, err := f.commits(ctx, o.Dir, args)
	if err != nil {
		return err
	}
	folder := filepath.Join(o.Dir, "results", "bisect")
	o.Out, o.Owner = filepath.Join(folder, "current.json"), "pawl bisect"
	shown := progress.New(f.Env, f.JSON)
	o.Emit = shown.EventOfMany
	gate.Options = o
	question := commits.Question{Good: list[0], Bad: list[len(list)-1], Suite: filepath.Join(gate.Inside, o.Path), Cases: f.Cases, Trust: f.Trust}
	journal, known, err := commits.OpenJournal(filepath.Join(folder, "steps.jsonl"), question)
	if err != nil {
		return err
	}
	f.say("%s between %.12s and %.12s: about %s", words.Plural(len(list)-1, "commit"), question.Good, question.Bad, words.Plural(commits.Gates(len(list)-1), "gate"))
	if len(known) > 0 {
		f.say("%s kept from an interrupted bisect", words.Plural(len(known), "answer"))
	}
	search := commits.Search{
		Commits: list, Known: known, Judge: gate.Judge,
		Began: func(s commits.Step, position string) { f.say("%s: %.12s", position, s.Commit) },
		Ended: func(s commits.Step) error {
			f.say("  %s", stepLine(s))
			return journal.Add(s)
		},
	}
	result, err := search.Run(ctx)
	shown.Close()
	if err = errors.Join(err, journal.Close(err == nil)); err != nil {
		if errors.Is(context.Cause(ctx), command.ErrInterrupted) {
			return fmt.Errorf("%w after %s: start the same command again to go on", command.ErrInterrupted, words.Plural(len(result.Steps), "answer"))
		}
		return err
	}
	return f.show(ctx, gate.Repo, result)
}

// commits resolves the commits and lists those between them.
func (f *bisectFlags) commits(ctx context.Context, dir string, args []string) (commits.Gate, []string, error) {
	gate, ends, err := commits.Open(ctx, dir, args[0], args[1])
	if err != nil {
		return gate, nil, err
	}
	after, err := gate.Repo.Commits(ctx, ends[0], ends[1])
	switch {
	case err != nil:
		return gate, nil, command.Usage(err)
	case len(after) == 0:
		return gate, nil, command.Usage(fmt.Errorf("%s and %s are the same commit", args[0], args[1]))
	}
	return gate, append(ends[:1], after...), nil
}

func (f *bisectFlags) say(format string, args ...any) {
	if !f.JSON {
		f.Say(fmt.Sprintf(format, args...))
	}
}

func stepLine(s commits.Step) string {
	switch {
	case s.Answer == commits.Slower:
		c := s.Slower[0]
		return fmt.Sprintf("%s: %s, %s", c.Name, words.ChangeWithin(1+c.Change, 1+c.Low, 1+c.High), words.Plural(s.Rounds, "round"))
	case s.Answer == commits.Fine && s.Rounds == 0:
		return "identical to the good commit"
	case s.Answer == commits.Fine:
		return "not slower, " + words.Plural(s.Rounds, "round")
	default:
		return "skipped: " + s.Why
	}
}

// show prints the result and returns an error unless one commit was found and confirmed.
func (f *bisectFlags) show(ctx context.Context, repo *build.Repository, r commits.Result) error {
	var noAnswer error
	if !r.Certain {
		noAnswer = command.Exit(command.ExitNoAnswer, fmt.Errorf("no commit was found for certain: %w", command.ErrReported))
	}
	if f.JSON {
		return errors.Join(command.WriteJSON(f.Out, r), noAnswer)
	}
	style := f.Style()
	switch {
	case r.Case == "":
		fmt.Fprintln(f.Out, style.Bold("No culprit: "+r.Why))
	case r.Certain:
		fmt.Fprintln(f.Out, style.Bold(fmt.Sprintf("%.12s made %s %s", r.Culprit, r.Case, words.ChangeWithin(1+r.Slower.Change, 1+r.Slower.Low, 1+r.Slower.High))))
	case r.Culprit != "":
		fmt.Fprintln(f.Out, style.Bold(fmt.Sprintf("Not certain: %.12s may have made %s slower", r.Culprit, r.Case)))
		fmt.Fprintln(f.Out, r.Why)
	default:
		fmt.Fprintln(f.Out, style.Bold(fmt.Sprintf("One of %s made %s slower", words.Plural(len(r.Suspect), "commit"), r.Case)))
		fmt.Fprintln(f.Out, r.Why)
	}
	for _, c := range r.Suspect {
		fmt.Fprintln(f.Out, "  "+f.describe(ctx, repo, c))
	}
	if len(r.Also) > 0 {
		fmt.Fprintln(f.Out, "The same commit made these slower: "+strings.Join(r.Also, ", "))
	}
	if len(r.Other) > 0 {
		fmt.Fprintln(f.Out, "Slower by another commit: "+strings.Join(r.Other, ", "))
	}
	if r.Case != "" {
		fmt.Fprintln(f.Out, style.Faint(words.Plural(len(r.Steps), "gate")+", "+words.Plural(r.Rounds, "round")))
	}
	return noAnswer
}

// describe returns a commit with its subject, author and date.
func (f *bisectFlags) describe(ctx context.Context, repo *build.Repository, commit string) string {
	text, err := shell.GitOutput(ctx, repo.Root, "show", "--no-patch", "--format=%s (%an, %as)", commit)
	if err != nil {
		text = ""
	}
	return strings.TrimSpace(fmt.Sprintf("%.12s %s", commit, words.Sanitize(text)))
}
