package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/tune/search"
)

// tuneFlags are the flags of pawl tune. Flags shared with bench mean the same.
type tuneFlags struct {
	benchFlags
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

func newTune(g *globals) *cobra.Command {
	f := tuneFlags{benchFlags: benchFlags{globals: g}}
	cmd := &cobra.Command{
		Use:   "tune [CASE]",
		Short: "Find the values of a kernel's parameters that make it fastest, and prove it",
		Long: `Searches the tunables that the suite names (tune: in pawl.yaml) for the values that make
a case fastest: builds ahead on the CPU, looks at results before times, and gives more
samples only to what may still win. Then the best three are measured again, side by side
with the defaults in rounds of fresh processes, on every config of the benchmark: the best
of many looks better than it is.

Every evaluation is kept in tuning/journal.jsonl at once: whatever ends the search,
--resume goes on from there. What was found stands in tuning/suggestions.md and
tuning/report.html, every sample of the proof in tuning/proof.json. pawl tune apply makes
the winner the default.

With --replay a strategy searches a recorded space instead: no device, no kernel.

Exit code: 0 a gain is proven, or that the defaults are best; 1 the defaults do not work;
2 no answer; 5 interrupted.`,
		Example: `  pawl tune matmul/N512                        # 20 minutes
  pawl tune matmul/N512 --budget 2m --dry-run  # what it would do, how long and what it would cost
  pawl tune matmul/N512 --resume               # go on with what was interrupted
  pawl tune matmul/N512 --warm-start a100.jsonl  # begin with what another GPU taught
  pawl tune --replay space.csv.gz --evals 200 --repeats 100 --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), args) },
	}
	fl := cmd.Flags()
	f.flags = fl
	fl.DurationVar(&f.budget, "budget", defaultTuneBudget, "`time` for the search and its proof; without end where only --evals is given")
	fl.IntVar(&f.evals, "evals", 0, "evaluate at most this many `points`, those of a resumed journal included")
	fl.StringVar(&f.strategy, "strategy", "auto", "`name` of how to search: "+strings.Join(search.Names(), ", "))
	fl.BoolVar(&f.resume, "resume", false, "go on with the journal of an earlier search")
	fl.StringSliceVar(&f.warmStart, "warm-start", nil, "begin with what these `files` found: journals, Kernel Tuner caches, T4 results")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of the search, order and inputs (default: a new one, kept in the journal)")
	fl.IntVar(&f.jobs, "jobs", 0, "builds at once (default: as many as the machine carries, up to 4)")
	fl.BoolVar(&f.noProof, "no-proof", false, "search only: what is found is not measured against the defaults")
	fl.BoolVar(&f.dryRun, "dry-run", false, "show the plan, its time and its cost, and do nothing")
	fl.StringVarP(&f.suite, "suite", "f", "", "suite `file` (default pawl.yaml)")
	fl.StringVarP(&f.dir, "out", "o", "", "`folder` for everything that is written (default tuning)")
	fl.StringVar(&f.export, "export", "", "also write the evaluations to this `file` for other tools: NAME.t4.json or, for Kernel Tuner, NAME.json")
	fl.DurationVar(&f.wait, "wait", 30*time.Minute, "how long to wait while another pawl has the device")
	fl.BoolVar(&f.noCache, "no-cache", false, "build everything, whatever finished builds were kept")
	fl.StringVar(&f.replay, "replay", "", "search this recorded `space` (CSV, also with gzip) instead")
	fl.IntVar(&f.repeats, "repeats", 100, "with --replay: searches, each with a seed of its own")
	fl.BoolVar(&f.noisy, "noisy", false, "with --replay: draw one raw time for every evaluation, not the median")
	fl.BoolVar(&f.json, "json", false, "the result as JSON on stdout, events as JSON lines on stderr")
	cmd.AddCommand(newTuneApply(g))
	return cmd
}

func (f *tuneFlags) run(ctx context.Context, args []string) error {
	if err := f.check(args); err != nil {
		return usageError{err}
	}
	if f.replay != "" {
		return f.runReplay(ctx)
	}
	s, path, err := loadSuite(f.suite)
	if err != nil {
		return err
	}
	o := f.options(s, path)
	o.Budget, o.Owner = 0, "pawl tune"
	t := f.session(o, args)
	if f.dryRun {
		plan, err := runner.ForecastTune(ctx, t.bench, t.what, t.proofTime(0))
		if err != nil {
			return err
		}
		return f.printTunePlan(plan)
	}
	return t.run(ctx)
}

// check rejects mistakes that would otherwise show up only after minutes.
func (f *tuneFlags) check(args []string) error {
	if err := f.checkNumbers(); err != nil {
		return err
	}
	for _, n := range []struct {
		flag  string
		value int
	}{{"evals", f.evals}, {"repeats", f.repeats}, {"jobs", f.jobs}} {
		if f.isSet(n.flag) && n.value < 1 {
			return fmt.Errorf("--%s %d: take more than 0", n.flag, n.value)
		}
	}
	if !slices.Contains(search.Names(), f.strategy) {
		return fmt.Errorf("--strategy %q: take one of %s", f.strategy, strings.Join(search.Names(), ", "))
	}
	live := []string{"budget", "resume", "warm-start", "jobs", "no-proof", "dry-run", "suite", "out", "export", "wait", "no-cache"}
	recorded := []string{"repeats", "noisy"}
	switch {
	case f.replay != "" && len(args) > 0:
		return fmt.Errorf("--replay searches a recorded space, so there is no case %q", args[0])
	case f.replay != "":
		for _, flag := range live {
			if f.isSet(flag) {
				return fmt.Errorf("--replay builds and measures nothing, so --%s means nothing beside it", flag)
			}
		}
	default:
		for _, flag := range recorded {
			if f.isSet(flag) {
				return fmt.Errorf("--%s is for --replay", flag)
			}
		}
	}
	return nil
}
