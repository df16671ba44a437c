package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/spell"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/correctness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// fuzzFlags are the flags of pawl fuzz.
type fuzzFlags struct {
	benchFlags
	replay  bool
	points  int
	time    time.Duration
	against string
	params  string
	inputs  string
	all     bool
}

func newFuzz(g *globals) *cobra.Command {
	f := fuzzFlags{benchFlags: benchFlags{globals: g}}
	cmd := &cobra.Command{
		Use:   "fuzz",
		Short: "Look for wrong results",
		Long: `Runs the candidate on shapes and contents that bring mistakes to light and compares
what it gives with an oracle in another process: what the suite says under check.

A failure is made as small as can be, printed as one command that repeats it, and kept
in ` + runner.CorpusDir + `, which is tried first the next time. Seeds are drawn anew each
time and told afterwards.

Exit code: 0 all passed, 1 one failed, 2 nothing to test.`,
		Example: `  pawl fuzz                            # every benchmark that says what is right
  pawl fuzz --case attention --time 2m # one of them, no new point after two minutes
  pawl fuzz --replay                   # only what failed before
  pawl fuzz --case attention --params B=1,H=1,S=17,D=64 --inputs normal --seed 123
  pawl fuzz --trust checked            # without the harness: in pawl's own launcher`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	f.flags = fl
	fl.StringVarP(&f.suite, "suite", "f", "", "suite `file` (default pawl.yaml)")
	fl.StringVar(&f.cases, "case", "", "only benchmarks, or configs, that match this `glob`")
	fl.BoolVar(&f.replay, "replay", false, "try only what failed before")
	fl.Uint64Var(&f.seed, "seed", 0, "`seed` of points and contents (default: a new one, told afterwards)")
	fl.IntVar(&f.points, "points", 0, "at most so many `points` of a benchmark (default: all)")
	fl.DurationVar(&f.time, "time", 0, "begin no point after this `time`")
	fl.StringVar(&f.against, "against", "", "compare with this oracle `command` and not with the suite's")
	fl.StringVar(&f.params, "params", "", "one `config` only: B=1,S=17; with --seed the seed of its contents")
	fl.StringVar(&f.inputs, "inputs", correctness.Normal, "`kind` of contents of that config")
	fl.StringVar(&f.trust, "trust", "", "`level` to which the change is believed: trusted, checked or self-timed (default: the suite's)")
	fl.DurationVar(&f.wait, "wait", 30*time.Minute, "how long to wait while another pawl has the device")
	fl.BoolVar(&f.dryRun, "dry-run", false, "show what would be tried and how long it may take, and try nothing")
	fl.BoolVar(&f.all, "all", false, "show every point, not only every config")
	fl.BoolVar(&f.json, "json", false, "the answer as JSON on stdout, events as JSON lines on stderr")
	return cmd
}

func (f *fuzzFlags) run(ctx context.Context) error {
	if err := f.checkFuzz(); err != nil {
		return usageError{err}
	}
	s, file, err := loadSuite(f.suite)
	if err != nil {
		return err
	}
	o := f.options(s, file)
	o.Owner, o.Out = "pawl fuzz", filepath.Join(o.Dir, "results", "fuzz.json")
	what := runner.FuzzOptions{Replay: f.replay, Points: f.points, Time: f.time, Against: f.against, DryRun: f.dryRun}
	if f.params != "" {
		p, err := parseParams(f.params)
		if err != nil {
			return usageError{fmt.Errorf("--params %q: %w", f.params, err)}
		}
		what.Point = &correctness.Point{Params: p, Inputs: f.inputs, Seed: o.Seed}
	}
	progress := newFuzzProgress(f.globals, f.json, time.Now)
	progress.dry = f.dryRun
	o.Emit = progress.event
	reports, err := runner.Fuzz(ctx, o, what)
	progress.close()
	if f.dryRun && err == nil {
		return f.printFuzzPlan(progress.planned)
	}
	answer := f.answer(reports, o.Seed, progress)
	f.journalFacts.recordFuzz(answer, s.Benchmarks)
	tested := answer.Passed+answer.Failed > 0
	if err = f.fuzzEnded(ctx, answer, err); err != nil && !tested {
		return err
	}
	if showErr := f.showFuzz(answer); showErr != nil {
		return errors.Join(err, showErr)
	}
	return err
}

func (f *fuzzFlags) checkFuzz() error {
	for flag, value := range map[string]int64{"points": int64(f.points), "time": int64(f.time)} {
		if f.isSet(flag) && value <= 0 {
			return fmt.Errorf("--%s %s: take more than 0", flag, f.flags.Lookup(flag).Value)
		}
	}
	if f.replay && (f.params != "" || f.points > 0) {
		return errors.New("--replay tries what failed before: it goes with neither --params nor --points")
	}
	if f.isSet("inputs") && f.params == "" {
		return errors.New("--inputs is for the config that --params names; the suite says which kinds are tried otherwise")
	}
	if kinds := correctness.Distributions(); !slices.Contains(kinds, f.inputs) {
		hint := "there are " + strings.Join(kinds, ", ")
		if near := spell.Nearest(f.inputs, kinds); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return fmt.Errorf("--inputs %q: %s", f.inputs, hint)
	}
	return f.checkNumbers()
}

// fuzzEnded returns the outcome of a search as an error. An interrupt comes first, then failed points,
// then the error that ended the search.
func (f *fuzzFlags) fuzzEnded(ctx context.Context, a fuzzAnswer, err error) error {
	switch {
	case errors.Is(context.Cause(ctx), errInterrupted):
		return exitError{exitInterrupted, fmt.Errorf("%w after %d points; failures are kept", errInterrupted, a.Passed+a.Failed)}
	case a.Failed > 0:
		return exitError{exitFailed, errors.Join(err, fmt.Errorf("%w: %d points failed", errReported, a.Failed))}
	case errors.Is(err, runner.ErrNothingToTest):
		return exitError{exitNoAnswer, err}
	default:
		return err
	}
}

// parseParams parses parameters such as B=1,dtype=f16,causal=true.
func parseParams(text string) (suite.Params, error) {
	var params suite.Params
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(part, "=")
		if !ok || name == "" || value == "" {
			return nil, errors.New("write it like B=1,S=17")
		}
		if _, twice := params.Get(name); twice {
			return nil, fmt.Errorf("%q appears twice", name)
		}
		var v any = value
		if x, err := strconv.ParseFloat(value, 64); err == nil && !math.IsNaN(x) && !math.IsInf(x, 0) {
			v = x
		} else if value == "true" || value == "false" {
			v = value == "true"
		}
		params = append(params, suite.Param{Name: name, Value: v})
	}
	return params, nil
}

// formatParams formats parameters so that parseParams can read them.
func formatParams(p suite.Params) string {
	parts := make([]string, len(p))
	for i, param := range p {
		v := fmt.Sprint(param.Value)
		if x, ok := param.Value.(float64); ok {
			v = strconv.FormatFloat(x, 'f', -1, 64)
		}
		parts[i] = param.Name + "=" + v
	}
	return strings.Join(parts, ",")
}

// literal escapes a name so that it is a glob that matches only that name.
var literal = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// command returns the arguments of a command that repeats a point.
func (f *fuzzFlags) command(benchmark string, p correctness.Point) []string {
	words := []string{"pawl", "fuzz", "--case", literal.Replace(benchmark), "--params", formatParams(p.Params), "--inputs", p.Inputs, "--seed", strconv.FormatUint(p.Seed, 10)}
	for _, flag := range []struct{ name, value string }{{"--suite", f.suite}, {"--trust", f.trust}, {"--against", f.against}} {
		if flag.value != "" {
			words = append(words, flag.name, flag.value)
		}
	}
	return words
}
