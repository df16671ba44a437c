package decide

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/version"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/judge/submit"
	"github.com/goatnote-inc/pawl/internal/kernel/discover"
	"github.com/goatnote-inc/pawl/ratchet"
)

// submitFlags are the flags of pawl submit.
type submitFlags struct {
	*env.Env
	suite  string
	diff   string
	commit string
	stage  string
	note   string
	budget time.Duration
	wait   time.Duration
	json   bool
}

// NewSubmit returns the command pawl submit.
func NewSubmit(g *env.Env) *cobra.Command {
	f := submitFlags{Env: g}
	cmd := &cobra.Command{
		Use:   "submit [FILE... | FOLDER...]",
		Short: "Judge candidates: kernel in, facts out",
		Long: `Judges a candidate against a fixed base commit, for agents and search loops. The
candidate is the base with other files: those named, those of a folder laid over the
suite's folder, a diff, a commit, or whatever differs in the working tree. The working
tree itself is not touched.

It goes as far as --stage and ends at the first failure:
  compile  build it
  smoke    and look for wrong results, smallest inputs first
  quick    and race it for a few short rounds, also against the best so far
  full     and judge it as pawl run does

Several folders are a batch: they are built in parallel, race against each other, and the
best are judged in fresh rounds. There is one answer a line, in the order of the folders.

The base and the trust are fixed by the first submission (pawl submit grant): the current
commit, and candidates that are not trusted. Files that define the measurement cannot be
changed. Attempts are kept in .pawl/attempts.

Exit code: 0 not slower, or all that the stage asks for; 1 slower, or it does not build,
run or compute the right result; 2 no answer; 4 refused. A race (quick) that is ahead or
behind exits with 0 or 1, and confirms nothing: submit what is ahead with stage full.`,
		Example: `  pawl submit matmul.c --note 'unroll by 4'
  pawl submit --diff change.diff --stage smoke --json
  pawl submit --commit HEAD~2 --budget 30s
  pawl submit /tmp/candidate      # its files replace those in the suite's folder
  pawl submit /tmp/candidates/*   # a batch`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.diff, "diff", "", "unified diff `file` on top of the base; - for standard input")
	fl.StringVar(&f.commit, "commit", "", "`commit` whose files are the candidate")
	fl.StringVar(&f.stage, "stage", string(submit.Full), "how far to go, a `stage`: compile, smoke, quick or full")
	fl.DurationVar(&f.budget, "budget", submit.DefaultBudget*time.Second, "max `time` to spend, without waiting")
	fl.StringVar(&f.note, "note", "", "`text` to keep with the attempt")
	fl.DurationVar(&f.wait, "wait", 30*time.Minute, "how long to wait while another pawl process uses the device")
	f.commonFlags(cmd)
	for _, sub := range []*cobra.Command{newSubmitExplain(g), newSubmitHistory(g), newSubmitGrant(g)} {
		sub.Args = command.Checked(sub.Args)
		cmd.AddCommand(sub)
	}
	return cmd
}

// commonFlags adds the flags of submit and of its subcommands.
func (f *submitFlags) commonFlags(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVarP(&f.suite, "suite", "f", "", "suite `file` (default pawl.yaml)")
	fl.BoolVar(&f.json, "json", false, "the answer as one JSON document on stdout")
}

func (f *submitFlags) run(ctx context.Context, args []string) error {
	grant, err := f.grant(ctx, submit.Terms{})
	if err != nil {
		return err
	}
	list, err := f.submissions(args)
	if err != nil {
		return command.Usage(err)
	}
	var answers []submit.Answer
	if len(list) == 1 {
		answers = make([]submit.Answer, 1)
		answers[0], err = grant.Submit(ctx, list[0])
	} else {
		answers, err = grant.SubmitBatch(ctx, list)
	}
	if errors.Is(err, submit.ErrUsage) {
		return command.Usage(err)
	}
	var worst error
	for _, a := range answers {
		if a.ID == "" {
			return err
		}
		if showErr := f.show(a); showErr != nil {
			return errors.Join(err, showErr)
		}
		worst = cmp.Or(worst, submitError(a))
	}
	if err == nil && len(answers) > 1 && slices.ContainsFunc(answers, func(a submit.Answer) bool { return submitError(a) == nil }) {
		worst = nil // a batch is for finding one that is good
	}
	return errors.Join(err, worst)
}

// grant opens the grant of the suite. first is for a grant that does not exist yet.
func (f *submitFlags) grant(ctx context.Context, first submit.Terms) (*submit.Grant, error) {
	path := cmp.Or(f.suite, discover.SuiteFile)
	if _, err := os.Stat(path); err != nil {
		return nil, command.Usage(fmt.Errorf("%w\n  run `pawl init` to write a suite, or use -C FOLDER or --suite FILE", err))
	}
	g, err := submit.Open(ctx, submit.Grant{
		Dir: filepath.Dir(path), Suite: filepath.Base(path), Wait: f.wait, Version: version.Version(), Now: f.Now,
	}, first)
	if errors.Is(err, submit.ErrNoLaunch) {
		return nil, command.Usage(err)
	}
	return g, err
}

// submissions turns the command line into submissions: one, or a batch of folders.
func (f *submitFlags) submissions(args []string) ([]submit.Submission, error) {
	s := submit.Submission{Commit: f.commit, Stage: submit.Stage(f.stage), Budget: f.budget.Seconds(), Note: f.note}
	folders := 0
	for _, a := range args {
		if info, err := os.Lstat(a); err == nil && info.IsDir() {
			folders++
		}
	}
	switch {
	case len(args) > 0 && (f.diff != "" || f.commit != "") || f.diff != "" && f.commit != "":
		return nil, errors.New("files, --diff and --commit exclude each other: submit one candidate")
	case folders > 0 && folders < len(args):
		return nil, errors.New("files and folders exclude each other: a folder is a candidate of its own")
	case f.diff != "":
		s, err := f.readDiff(s)
		return []submit.Submission{s}, err
	case folders == 0:
		s.Files = args
		return []submit.Submission{s}, nil
	}
	var list []submit.Submission
	for _, a := range args {
		s.Over = a
		list = append(list, s)
	}
	return list, nil
}

// maxDiff is how much of a diff is read: more than submit accepts.
const maxDiff = 16 << 20

func (f *submitFlags) readDiff(s submit.Submission) (submit.Submission, error) {
	in := f.In
	if f.diff != "-" {
		info, err := os.Stat(f.diff)
		if err != nil {
			return s, err
		}
		if !info.Mode().IsRegular() {
			return s, fmt.Errorf("--diff %s: not a regular file", f.diff)
		}
		file, err := os.Open(f.diff)
		if err != nil {
			return s, err
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, maxDiff))
	s.Diff = append([]byte{}, text...)
	return s, err
}

// show prints an answer: one line of JSON, or a few lines for people.
func (f *submitFlags) show(a submit.Answer) error {
	if f.json {
		return f.print(a)
	}
	text := fmt.Sprintf("attempt %s: %s", a.ID, a.Status)
	if a.Verdict != "" && a.Status == submit.Measured {
		text += ", " + a.Verdict
	}
	if a.Speedup > 0 {
		text += fmt.Sprintf(": %s than the base", words.Change(1/float64(a.Speedup)))
		if low, high, ok := a.Interval(); ok {
			text += fmt.Sprintf(" (speed-up %.3f to %.3f)", low, high)
		}
	}
	lines := []string{text}
	if a.Reason != "" {
		lines = append(lines, "  "+words.Sanitize(strings.TrimSuffix(a.Reason+": "+a.Detail, ": ")))
	}
	for _, e := range a.Errors {
		lines = append(lines, "  "+words.Sanitize(fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)))
	}
	if a.Input != "" {
		lines = append(lines, "  input: "+words.Sanitize(a.Input))
	}
	for _, c := range a.Worst {
		lines = append(lines, fmt.Sprintf("  %s: %s, speed-up %.3f", words.Sanitize(c.Case), c.Verdict, float64(c.Speedup)))
	}
	lines = append(lines, fmt.Sprintf("  best so far: %s, speed-up %.3f; took %.1f s, waited %.1f s", a.Best, float64(a.BestSpeedup), float64(a.Cost), float64(a.Waited)))
	for _, line := range lines {
		if _, err := fmt.Fprintln(f.Out, line); err != nil {
			return err
		}
	}
	return nil
}

// print writes one bounded line of JSON.
func (f *submitFlags) print(v interface{ Encode() ([]byte, error) }) error {
	text, err := v.Encode()
	if err == nil {
		_, err = f.Out.Write(text)
	}
	return err
}

// submitError returns the error with the exit code of an answer that was already shown.
func submitError(a submit.Answer) error {
	code := command.ExitFailed
	switch a.Status {
	case submit.Compiled, submit.Passed, submit.Identical:
		return nil
	case submit.Measured:
		switch v := ratchet.Verdict(a.Verdict); v {
		case submit.Ahead:
			return nil
		case submit.Behind:
		default:
			return verdictError(v)
		}
	case submit.Refused:
		code = command.ExitUsage
	case submit.Failed:
		code = command.ExitCannot
	case submit.CompileError, submit.Wrong, submit.Crashed, submit.Timeout, submit.Rejected, submit.Running:
	}
	return command.Exit(code, fmt.Errorf("%s: %w", a.Status, command.ErrReported))
}
