package decide

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
	"github.com/goatnote-inc/pawl/internal/cli/bench"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/correctness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// fuzzFlags are the flags of pawl fuzz.
type fuzzFlags struct {
	bench.Flags
	replay  bool
	points  int
	time    time.Duration
	against string
	params  string
	inputs  string
	all     bool
}

// NewFuzz returns the command pawl fuzz.
func NewFuzz(g *env.Env) *cobra.Command {
	f := fuzzFlags{Flags: bench.Flags{Env: g}}
	cmd := &cobra.Command{
		Use:   "fuzz",
		Short: "Search for wrong results",
		Long: `Runs the candidate on shapes and inputs chosen to expose bugs, and compares its output
with an oracle in another process, as set under check in the suite.

A failure is reduced to the smallest point found, printed as a command that repeats it,
and saved in ` + runner.CorpusDir + `, which is tried first the next time. Without --seed the seed is
random; it is printed at the end.

Exit code: 0 all passed, 1 a point failed, 2 nothing to test.`,
		Example: `  pawl fuzz                            # every benchmark that has a check
  pawl fuzz --case attention --time 2m # one benchmark, no new point after two minutes
  pawl fuzz --replay                   # only points that failed before
  pawl fuzz --case attention --params B=1,H=1,S=17,D=64 --inputs normal --seed 123
  pawl fuzz --trust checked            # in pawl's own launcher, without the harness`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	f.FlagSet = fl
	fl.StringVarP(&f.Suite, "suite", "f", "", "suite `file` (default pawl.yaml)")
	fl.StringVar(&f.Cases, "case", "", "only benchmarks or configs that match this `glob`")
	fl.BoolVar(&f.replay, "replay", false, "try only points that failed before")
	fl.Uint64Var(&f.Seed, "seed", 0, "`seed` for points and inputs (default: random, printed at the end)")
	fl.IntVar(&f.points, "points", 0, "max `points` per benchmark (default: all)")
	fl.DurationVar(&f.time, "time", 0, "start no new point after this `time`")
	fl.StringVar(&f.against, "against", "", "compare with this oracle `command` instead of the suite's")
	fl.StringVar(&f.params, "params", "", "try only this `config`, such as B=1,S=17; --seed is then the seed of its inputs")
	fl.StringVar(&f.inputs, "inputs", correctness.Normal, "`kind` of inputs for that config")
	fl.StringVar(&f.Trust, "trust", "", "how far to trust the change's own timings, a `level`: trusted, checked or self-timed (default: the suite's)")
	fl.DurationVar(&f.Wait, "wait", 30*time.Minute, "how long to wait while another pawl process uses the device")
	fl.BoolVar(&f.DryRun, "dry-run", false, "show what would be tried and how long it may take, but try nothing")
	fl.BoolVar(&f.all, "all", false, "show every point, not only every config")
	fl.BoolVar(&f.JSON, "json", false, "the answer as JSON on stdout, events as JSON lines on stderr")
	return cmd
}

func (f *fuzzFlags) run(ctx context.Context) error {
	if err := f.checkFuzz(); err != nil {
		return command.Usage(err)
	}
	s, file, err := env.LoadSuite(f.Suite)
	if err != nil {
		return err
	}
	o := f.Options(s, file)
	o.Owner, o.Out = "pawl fuzz", filepath.Join(o.Dir, "results", "fuzz.json")
	what := runner.FuzzOptions{Replay: f.replay, Points: f.points, Time: f.time, Against: f.against, DryRun: f.DryRun}
	if f.params != "" {
		p, err := parseParams(f.params)
		if err != nil {
			return command.Usage(fmt.Errorf("--params %q: %w", f.params, err))
		}
		what.Point = &correctness.Point{Params: p, Inputs: f.inputs, Seed: o.Seed}
	}
	progress := newFuzzProgress(f.Env, f.JSON, time.Now)
	progress.dry = f.DryRun
	o.Emit = progress.event
	reports, err := runner.Fuzz(ctx, o, what)
	progress.close()
	if f.DryRun && err == nil {
		return f.printFuzzPlan(progress.planned)
	}
	answer := f.answer(reports, o.Seed, progress)
	f.Record(Fuzzed{answer, s.Benchmarks})
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
		if f.IsSet(flag) && value <= 0 {
			return fmt.Errorf("--%s %s: must be more than 0", flag, f.FlagSet.Lookup(flag).Value)
		}
	}
	if f.replay && (f.params != "" || f.points > 0) {
		return errors.New("--replay cannot be combined with --params or --points")
	}
	if f.IsSet("inputs") && f.params == "" {
		return errors.New("--inputs needs --params; without --params the suite sets which kinds are tried")
	}
	if kinds := correctness.Distributions(); !slices.Contains(kinds, f.inputs) {
		hint := "must be one of " + strings.Join(kinds, ", ")
		if near := spell.Nearest(f.inputs, kinds); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return fmt.Errorf("--inputs %q: %s", f.inputs, hint)
	}
	return f.CheckNumbers()
}

// fuzzEnded returns the outcome of a search as an error. An interrupt comes first, then failed points,
// then the error that ended the search.
func (f *fuzzFlags) fuzzEnded(ctx context.Context, a FuzzAnswer, err error) error {
	switch {
	case errors.Is(context.Cause(ctx), command.ErrInterrupted):
		return command.Exit(command.ExitInterrupted, fmt.Errorf("%w after %d points; failures are saved", command.ErrInterrupted, a.Passed+a.Failed))
	case a.Failed > 0:
		return command.Exit(command.ExitFailed, errors.Join(err, fmt.Errorf("%w: %d points failed", command.ErrReported, a.Failed)))
	case errors.Is(err, runner.ErrNothingToTest):
		return command.Exit(command.ExitNoAnswer, err)
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
			return nil, errors.New("must look like B=1,S=17")
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
	for _, flag := range []struct{ name, value string }{{"--suite", f.Suite}, {"--trust", f.Trust}, {"--against", f.against}} {
		if flag.value != "" {
			words = append(words, flag.name, flag.value)
		}
	}
	return words
}
