package improve

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/cli/bench"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/judge/tuning"
	"github.com/goatnote-inc/pawl/internal/tune/search"
)

// tuneFlags are the flags of pawl tune. Flags shared with bench mean the same.
type tuneFlags struct {
	bench.Flags
	evals     int
	strategy  string
	resume    bool
	warmStart []string
	jobs      int
	noProof   bool
	export    string
	dir       string // folder for all output

	replay  string // recorded space to search instead of a device
	repeats int
	noisy   bool
}

// defaultTuneBudget is the default time of a search without --budget or --evals.
const defaultTuneBudget = 20 * time.Minute

// NewTune returns the command pawl tune.
func NewTune(g *env.Env) *cobra.Command {
	f := tuneFlags{Flags: bench.Flags{Env: g}}
	cmd := &cobra.Command{
		Use:   "tune [CASE]",
		Short: "Find the fastest values of a kernel's parameters, and prove the gain",
		Long: `Searches the tunables of the suite (tune: in pawl.yaml) for the values that make a case
fastest. It builds ahead on the CPU, checks results before times, and gives more samples
only to points that may still win. Then it measures the best three again, side by side with
the defaults in rounds of fresh processes, on every config of the benchmark: the best of
many looks better than it is.

Every evaluation is saved in tuning/journal.jsonl at once: if the search ends early,
--resume continues it. The findings are in tuning/suggestions.md and tuning/report.html,
every sample of the proof is in tuning/proof.json. pawl tune apply makes the winner the
default.

With --replay, a strategy searches a recorded space instead: no device, no kernel.

Exit code: 0 if a gain is proven, or that the defaults are best; 1 if the defaults do not
work; 2 no answer; 5 interrupted.`,
		Example: `  pawl tune matmul/N512                        # 20 minutes
  pawl tune matmul/N512 --budget 2m --dry-run  # show the plan, its time and its cost
  pawl tune matmul/N512 --resume               # continue an interrupted search
  pawl tune matmul/N512 --warm-start a100.jsonl  # start with the results of another GPU
  pawl tune --replay space.csv.gz --evals 200 --repeats 100 --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), args) },
	}
	fl := cmd.Flags()
	f.FlagSet = fl
	fl.DurationVar(&f.Budget, "budget", defaultTuneBudget, "`time` for the search and its proof; unlimited if only --evals is set")
	fl.IntVar(&f.evals, "evals", 0, "max `points` to evaluate, including those of a resumed journal")
	fl.StringVar(&f.strategy, "strategy", "auto", "search `strategy`: "+strings.Join(search.Names(), ", "))
	fl.BoolVar(&f.resume, "resume", false, "continue with the journal of an earlier search")
	fl.StringSliceVar(&f.warmStart, "warm-start", nil, "start with the results in these `files`: journals, Kernel Tuner caches, T4 results")
	fl.Uint64Var(&f.Seed, "seed", 0, "seed of the search, the order and the inputs (default: a new one, recorded in the journal)")
	fl.IntVar(&f.jobs, "jobs", 0, "parallel builds (default: as many as the machine can handle, up to 4)")
	fl.BoolVar(&f.noProof, "no-proof", false, "search only: do not measure the best points against the defaults")
	fl.BoolVar(&f.DryRun, "dry-run", false, "show the plan, its time and its cost, and do nothing else")
	fl.StringVarP(&f.Suite, "suite", "f", "", "suite `file` (default pawl.yaml)")
	fl.StringVarP(&f.dir, "out", "o", "", "`folder` for all output (default tuning)")
	fl.StringVar(&f.export, "export", "", "also write the evaluations to this `file` for other tools: NAME.t4.json or, for Kernel Tuner, NAME.json")
	fl.DurationVar(&f.Wait, "wait", 30*time.Minute, "how long to wait while another pawl process uses the device")
	fl.BoolVar(&f.NoCache, "no-cache", false, "rebuild everything, ignoring cached builds")
	fl.StringVar(&f.replay, "replay", "", "search this recorded `space` (CSV, optionally gzipped) instead")
	fl.IntVar(&f.repeats, "repeats", 100, "with --replay: number of searches, each with its own seed")
	fl.BoolVar(&f.noisy, "noisy", false, "with --replay: draw one raw time per evaluation instead of the median")
	fl.BoolVar(&f.JSON, "json", false, "print JSON on stdout, events as JSON lines on stderr")
	cmd.AddCommand(newTuneApply(g))
	return cmd
}

func (f *tuneFlags) run(ctx context.Context, args []string) error {
	if err := f.check(args); err != nil {
		return command.Usage(err)
	}
	if f.replay != "" {
		return f.runReplay(ctx)
	}
	s, path, err := env.LoadSuite(f.Suite)
	if err != nil {
		return err
	}
	o := f.Options(s, path)
	o.Budget, o.Owner = 0, "pawl tune"
	t := f.session(o, args)
	if f.DryRun {
		plan, err := tuning.Forecast(ctx, t.bench, t.what, t.proofTime(0))
		if err != nil {
			return err
		}
		return f.printTunePlan(plan)
	}
	return t.run(ctx)
}

// check rejects mistakes that would otherwise show up only after minutes.
func (f *tuneFlags) check(args []string) error {
	if err := f.CheckNumbers(); err != nil {
		return err
	}
	for _, n := range []struct {
		flag  string
		value int
	}{{"evals", f.evals}, {"repeats", f.repeats}, {"jobs", f.jobs}} {
		if f.IsSet(n.flag) && n.value < 1 {
			return fmt.Errorf("--%s %d: must be more than 0", n.flag, n.value)
		}
	}
	if !slices.Contains(search.Names(), f.strategy) {
		return fmt.Errorf("unknown --strategy %q (known: %s)", f.strategy, strings.Join(search.Names(), ", "))
	}
	live := []string{"budget", "resume", "warm-start", "jobs", "no-proof", "dry-run", "suite", "out", "export", "wait", "no-cache"}
	recorded := []string{"repeats", "noisy"}
	switch {
	case f.replay != "" && len(args) > 0:
		return fmt.Errorf("--replay searches a recorded space and takes no case: got %q", args[0])
	case f.replay != "":
		for _, flag := range live {
			if f.IsSet(flag) {
				return fmt.Errorf("--replay builds and measures nothing: --%s cannot be combined with it", flag)
			}
		}
	default:
		for _, flag := range recorded {
			if f.IsSet(flag) {
				return fmt.Errorf("--%s requires --replay", flag)
			}
		}
	}
	return nil
}
