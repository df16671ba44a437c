package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// compareFlags are the flags of pawl compare.
type compareFlags struct {
	*globals
	a, b    []string
	suite   string
	policy  string
	format  string
	paired  bool
	explain bool
	json    bool
}

func newCompare(g *globals) *cobra.Command {
	f := compareFlags{globals: g}
	cmd := &cobra.Command{
		Use:   "compare RECORD | compare A B | compare --a FILE... --b FILE...",
		Short: "Judge two sides: records, or files of other tools",
		Long: `Judges the second side against the first, case by case, and all cases together.

One record that holds a base and a candidate is judged round by round: both saw the
same machine. Two records, or files of two kinds, were measured apart: then only a
difference larger than what sessions of the same code differ by is a claim. With --a
and --b each file is one round; files that were taken in turn are paired by their order.

Exit code: 0 maintained, improved, new or identical; 1 a regression, a broken or a
missing case; 2 no answer.`,
		Example: `  pawl compare results/current.json              # base and candidate of one record
  pawl compare old.json new.json --explain
  pawl compare --a before/*.json --b after/*.json  # each file a round
  pawl compare --policy classic old.json new.json  # the older rules, with their errors`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), args) },
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.a, "a", nil, "`files` of the base, one a round")
	fl.StringArrayVar(&f.b, "b", nil, "`files` of the candidate, one a round")
	fl.StringVarP(&f.suite, "suite", "f", "", "take limits from this suite `file`")
	fl.StringVar(&f.policy, "policy", "", "paired (default) or classic")
	fl.StringVar(&f.format, "format", "", "`format` of the files, when it is not recognised")
	fl.BoolVar(&f.paired, "paired", false, "the files of --a and --b were taken in turn, in the order given")
	fl.BoolVar(&f.explain, "explain", false, "show the evidence behind every verdict")
	fl.BoolVar(&f.json, "json", false, "the verdicts as JSON on stdout")
	return cmd
}

func (f *compareFlags) run(ctx context.Context, args []string) error {
	base, candidate, err := f.load(ctx, args)
	if err != nil {
		return usageError{err}
	}
	if differs := ratchet.Mismatch(slices.Concat(base, candidate)); len(differs) > 0 {
		return usageError{fmt.Errorf("these were not measured on the same testbed, and are not compared\n  %s", strings.Join(differs, "\n  "))}
	}
	policy, err := f.chosenPolicy()
	if err != nil {
		return usageError{err}
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
	f.journalFacts.recordComparison(candidate, result)
	return f.show(report.NewDocument(in), result)
}

// load reads both sides. A single record may contain both.
func (f *compareFlags) load(ctx context.Context, args []string) (base, candidate []*measure.Run, err error) {
	files := len(f.a) > 0 || len(f.b) > 0
	switch {
	case files && (len(args) > 0 || len(f.a) == 0 || len(f.b) == 0):
		return nil, nil, errors.New("give --a and --b with their files, and nothing else")
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
		return nil, nil, errors.New("name a record with two sides, two records, or files with --a and --b")
	}
	one, err := f.loadAll(ctx, args)
	if err == nil && !measured(one[0], measure.Base) {
		err = fmt.Errorf("%s holds no base to compare with: measure with pawl bench --base REF, or name two records", args[0])
	}
	return one, one, err
}

func (f *compareFlags) loadAll(ctx context.Context, paths []string) ([]*measure.Run, error) {
	var runs []*measure.Run
	for _, path := range paths {
		run, err := importFile(ctx, path, f.format)
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
		s, _, err := loadSuite(f.suite)
		if err != nil {
			return p, err
		}
		p = runner.Policy(s)
	}
	if f.policy != "" {
		p.Rule = ratchet.Rule(f.policy)
	}
	return p, p.Check()
}

func (f *compareFlags) show(doc *report.Document, result ratchet.Result) error {
	for _, w := range result.Warnings {
		fmt.Fprintln(f.Err, f.errStyle().Warn("warning: ")+w)
	}
	if f.json {
		if err := writeJSON(f.Out, result); err != nil {
			return err
		}
	} else if err := report.Verdicts(f.Out, doc, f.style(), f.explain); err != nil {
		return err
	}
	return verdictError(result.Verdict)
}

// writeJSON prints v as one indented JSON document.
func writeJSON(w interface{ Write([]byte) (int, error) }, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// verdictError returns an error with the exit code of a verdict that was already shown.
func verdictError(v ratchet.Verdict) error {
	code := map[ratchet.Severity]int{ratchet.Yes: exitOK, ratchet.NoAnswer: exitNoAnswer, ratchet.No: exitFailed}[v.Severity()]
	if code == exitOK {
		return nil
	}
	return exitError{code, fmt.Errorf("%s: %w", v, errReported)}
}

// spreadFiles lets --a and --b take all files up to the next flag, as after shell expansion of a
// pattern: --a 1 2 --b 3 becomes --a 1 --a 2 --b 3.
func spreadFiles(args []string) []string {
	if !slices.Contains(args, "compare") {
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
