package decide

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/cli/bench"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/cli/share"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// compareFlags are the flags of pawl compare.
type compareFlags struct {
	*env.Env
	a, b    []string
	suite   string
	policy  string
	format  string
	paired  bool
	explain bool
	json    bool
}

// NewCompare returns the command pawl compare.
func NewCompare(g *env.Env) *cobra.Command {
	f := compareFlags{Env: g}
	cmd := &cobra.Command{
		Use:   "compare RECORD | compare A B | compare --a FILE... --b FILE...",
		Short: "Compare two records, or files of other tools",
		Long: `Judges the second side relative to the first, case by case and over all cases.

A record that has a base and a candidate is judged round by round, because both were
measured on the same machine in the same rounds. Two records, or files of other tools,
were measured separately: a difference counts only if it is larger than the differences
between sessions of the same code. With --a and --b each file is one round; with --paired
the files were measured alternately and are paired in order.

Exit code: 0 maintained, improved, new or identical; 1 a regression, a broken or a
missing case; 2 no answer.`,
		Example: `  pawl compare results/current.json              # base and candidate of one record
  pawl compare old.json new.json --explain
  pawl compare --a before/*.json --b after/*.json  # each file is a round
  pawl compare --policy classic old.json new.json  # the older rules, with their error rates`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), args) },
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.a, "a", nil, "`files` of the base, one per round")
	fl.StringArrayVar(&f.b, "b", nil, "`files` of the candidate, one per round")
	fl.StringVarP(&f.suite, "suite", "f", "", "take limits from this suite `file`")
	fl.StringVar(&f.policy, "policy", "", "paired (default) or classic")
	fl.StringVar(&f.format, "format", "", "`format` of the files, if it is not recognized")
	fl.BoolVar(&f.paired, "paired", false, "the files of --a and --b were measured alternately, in the given order")
	fl.BoolVar(&f.explain, "explain", false, "show the evidence behind every verdict")
	fl.BoolVar(&f.json, "json", false, "the verdicts as JSON on stdout")
	return cmd
}

func (f *compareFlags) run(ctx context.Context, args []string) error {
	base, candidate, err := f.load(ctx, args)
	if err == nil && f.paired && len(base) < 2 {
		err = errors.New("--paired needs several files on each side: use --a and --b")
	}
	if err != nil {
		return command.Usage(err)
	}
	if differs := ratchet.Mismatch(slices.Concat(base, candidate)); len(differs) > 0 {
		return command.Usage(fmt.Errorf("cannot compare: the results are from different testbeds\n  %s", strings.Join(differs, "\n  ")))
	}
	policy, err := f.chosenPolicy()
	if err != nil {
		return command.Usage(err)
	}
	in := report.Input{Sides: report.Sides{Base: base, Candidate: candidate, BaseName: measure.Candidate}}
	side := measure.Candidate
	if len(base) == 1 && len(candidate) == 1 && base[0] == candidate[0] {
		side, in = measure.Base, report.Input{Run: base[0]}
		policy = policy.ForPlan(base[0].Plan)
	}
	evidence := ratchet.Gather(base, candidate, side, measure.Candidate)
	for i := range evidence {
		evidence[i].Paired = evidence[i].Paired || f.paired && len(base) > 1
		if side != measure.Base && evidence[i].Paired { // the number of rounds was fixed in advance
			policy = policy.WithLooks([]int{evidence[i].Rounds()})
		}
	}
	result := ratchet.Judge(policy, evidence)
	in.Result = &result
	return f.show(report.NewDocument(in), result)
}

// load reads both sides. A single record may contain both.
func (f *compareFlags) load(ctx context.Context, args []string) (base, candidate []*measure.Run, err error) {
	files := len(f.a) > 0 || len(f.b) > 0
	switch {
	case files && (len(args) > 0 || len(f.a) == 0 || len(f.b) == 0):
		return nil, nil, errors.New("--a and --b must be used together, without other arguments")
	case files:
		if base, err = f.loadAll(ctx, f.a); err == nil {
			candidate, err = f.loadAll(ctx, f.b)
		}
		return base, candidate, err
	case len(args) == 2:
		if base, err = f.loadAll(ctx, args[:1]); err == nil {
			candidate, err = f.loadAll(ctx, args[1:])
		}
		return base, candidate, err
	case len(args) == 0:
		return nil, nil, errors.New("expected a record with two sides, two records, or files with --a and --b")
	}
	one, err := f.loadAll(ctx, args)
	if err == nil && !share.Measured(one[0], measure.Base) {
		err = fmt.Errorf("%s has no base to compare with: measure with pawl bench --base REF, or name two records", args[0])
	}
	return one, one, err
}

func (f *compareFlags) loadAll(ctx context.Context, paths []string) ([]*measure.Run, error) {
	var runs []*measure.Run
	for _, path := range paths {
		run, err := bench.ImportFile(ctx, path, f.format)
		if err != nil {
			return nil, err
		}
		if run.ID == "" { // each file of another tool is its own session
			run.ID = path
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// chosenPolicy returns the policy: the suite's if one is named, or else the default, with the rule of --policy.
func (f *compareFlags) chosenPolicy() (ratchet.Policy, error) {
	p := ratchet.Default()
	if f.suite != "" {
		s, _, err := env.LoadSuite(f.suite)
		if err != nil {
			return p, err
		}
		p = s.JudgePolicy()
	}
	if f.policy != "" {
		p.Rule = ratchet.Rule(f.policy)
	}
	return p, p.Check()
}

func (f *compareFlags) show(doc *report.Document, result ratchet.Result) error {
	if f.json {
		for _, w := range result.Warnings {
			fmt.Fprintln(f.Err, f.ErrStyle().Warn("warning: ")+w)
		}
		if err := command.WriteJSON(f.Out, result); err != nil {
			return err
		}
	} else if err := report.Verdicts(f.Out, doc, f.Style(), f.explain); err != nil {
		return err
	}
	return verdictError(result.Verdict)
}

// verdictError returns an error with the exit code of a verdict that was already shown.
func verdictError(v ratchet.Verdict) error {
	code := v.Severity().ExitCode()
	if code == command.ExitOK {
		return nil
	}
	return command.Exit(code, fmt.Errorf("%s: %w", v, command.ErrReported))
}

// SpreadFiles lets --a and --b take all files up to the next flag, as after shell expansion of a
// pattern: --a 1 2 --b 3 becomes --a 1 --a 2 --b 3.
func SpreadFiles(args []string) []string {
	own := args
	if i := slices.Index(args, "--"); i >= 0 {
		own = args[:i] // the rest is a command of the user
	}
	if !slices.Contains(own, "compare") {
		return args
	}
	var out []string
	flag := ""
	for i, a := range args {
		switch {
		case a == "--a" || a == "--b":
			flag = a
			if i+1 == len(args) || strings.HasPrefix(args[i+1], "-") { // keep it, so that parsing reports the missing value
				out = append(out, a)
			}
			continue
		case strings.HasPrefix(a, "-"):
			flag = ""
		case flag != "":
			out = append(out, flag)
		}
		out = append(out, a)
	}
	return out
}
