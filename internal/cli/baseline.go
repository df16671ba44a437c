package cli

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/judge/ledger"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
	"github.com/goatnote-inc/pawl/stats"
)

// baselineFlags are the flags that the commands of pawl baseline share.
type baselineFlags struct {
	*globals
	suite, reason, cases, record string
	json                         bool
}

func newBaseline(g *globals) *cobra.Command {
	f := &baselineFlags{globals: g}
	cmd := &cobra.Command{
		Use:   "baseline",
		Short: "Show and change the baselines: the best confirmed commit of every case",
		Long: `The ledger records, for every case and testbed, the commit with the best confirmed
result and its evidence. It is append-only, and every line carries the hash of the
previous line. pawl run on the main branch moves the baselines; pawl baseline move does so
with results from another machine. Otherwise only accept and reset change them, and they
need a reason.`,
		Example: `  pawl baseline show
  pawl baseline log --case 'matmul/*'
  pawl baseline accept --case 'matmul/*' --reason "correctness fix costs 4 %"
  pawl baseline verify`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.show(cmd.Context()) },
	}
	cmd.PersistentFlags().StringVarP(&f.suite, "suite", "f", "", "suite `file` (default pawl.yaml)")
	cmd.PersistentFlags().BoolVar(&f.json, "json", false, "the answer as JSON on stdout")
	add := func(use, short string, args cobra.PositionalArgs, run func(context.Context, []string) error) *cobra.Command {
		c := &cobra.Command{
			Use: use, Short: short, Args: command.Checked(args),
			RunE:    func(cmd *cobra.Command, given []string) error { return run(cmd.Context(), given) },
			Example: "  pawl baseline " + use,
		}
		cmd.AddCommand(c)
		return c
	}
	plain := func(run func(context.Context) error) func(context.Context, []string) error {
		return func(ctx context.Context, _ []string) error { return run(ctx) }
	}
	add("show", "Show the current baselines", cobra.NoArgs, plain(f.show))
	logs := add("log", "Show the history of the baselines, oldest first", cobra.NoArgs, plain(f.log))
	accept := add("accept", "Accept this commit's result as the baseline, even if it is slower", cobra.NoArgs, plain(f.accept))
	accept.Example = `  pawl baseline accept --case 'matmul/*' --reason "correctness fix costs 4 %"`
	reset := add("reset", "Remove baselines", cobra.NoArgs, plain(f.reset))
	reset.Example = `  pawl baseline reset --case 'matmul/*' --reason "the benchmark measured the wrong thing"`
	for _, c := range []*cobra.Command{logs, accept, reset} {
		c.Flags().StringVar(&f.cases, "case", "", "only cases whose name or benchmark matches this `glob`")
	}
	for _, c := range []*cobra.Command{accept, reset} {
		c.Flags().StringVar(&f.reason, "reason", "", "why; the ledger records it with your name")
	}
	accept.Flags().StringVar(&f.record, "record", "", "the measured `record` (default results/current.json)")
	newBaselineMove(f, add)
	newBaselineVerify(f, add)
	migrate := add("migrate FILE", "Import an older baseline.json", cobra.ExactArgs(1), func(ctx context.Context, args []string) error { return f.migrate(ctx, args[0]) })
	migrate.Example = "  pawl baseline migrate baseline.json"
	return cmd
}

// ledgerLocation returns where a suite keeps its ledger.
func ledgerLocation(b suite.Baseline, dir string) ledger.Location {
	w := ledger.Location{
		Dir:  dir,
		Wait: func(most time.Duration) time.Duration { return time.Duration(rand.Int64N(int64(most) + 1)) },
	}
	if b.Keep == "branch" {
		w.Branch, w.Remote = b.Branch, b.Remote
		return w
	}
	w.File = b.File
	return w
}

// open reads the suite and opens the ledger that it names. A suite without baselines is treated
// as one that keeps a file, so that its ledger can be shown and started.
func (f *baselineFlags) open(ctx context.Context) (*suite.Suite, string, *ledger.Ledger, error) {
	s, path, err := loadSuite(f.suite)
	if err != nil {
		return nil, "", nil, err
	}
	dir := filepath.Dir(path)
	l, err := ledger.Open(ctx, ledgerLocation(s.Baseline, dir))
	return s, dir, l, err
}

// read returns the current state of the ledger.
func (f *baselineFlags) read(ctx context.Context) (ledger.State, error) {
	_, _, l, err := f.open(ctx)
	if err != nil {
		return ledger.State{}, err
	}
	return l.Read(ctx)
}

func (f *baselineFlags) show(ctx context.Context) error {
	state, err := f.read(ctx)
	if err != nil {
		return err
	}
	all := state.Baselines.All()
	if f.json {
		return command.WriteJSON(f.Out, map[string]any{"baselines": all})
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(f.Out, "no baselines yet: pawl run on the main branch records the first if the suite sets baseline.keep")
		return err
	}
	rows := [][]string{{"case", "commit", "value", "sessions", "since", "how", "testbed"}}
	for _, b := range all {
		rows = append(rows, []string{
			b.Case, short(b.Commit), lastMedian(b), fmt.Sprint(len(b.Sessions)), b.Since.Format(time.DateOnly), string(b.Kind), b.Testbed.Device,
		})
	}
	return report.Table(f.Out, f.Style(), []bool{false, false, true, true, false, false, false}, rows)
}

// lastMedian returns the median of a baseline's last session.
func lastMedian(b ratchet.Baseline) string {
	if len(b.Sessions) == 0 {
		return "-"
	}
	s := b.Sessions[len(b.Sessions)-1]
	return words.Quantity(stats.Median(s.Rounds), s.Unit)
}

func short(commit string) string { return cmp.Or(fmt.Sprintf("%.12s", commit), "-") }

func (f *baselineFlags) log(ctx context.Context) error {
	state, err := f.read(ctx)
	if err != nil {
		return err
	}
	list := []ratchet.Entry{}
	for _, e := range state.Entries {
		if matchesCase(f.cases, e.Case) {
			list = append(list, e)
		}
	}
	if f.json {
		return command.WriteJSON(f.Out, map[string]any{"entries": list})
	}
	rows := [][]string{{"line", "when", "what", "case", "commit", "change", "why"}}
	for _, e := range list {
		gain := ""
		if e.Kind == ratchet.KindMoved {
			gain = words.Change(1 / (1 + e.Gain))
		}
		why := e.Reason
		if e.Actor != "" && why != "" {
			why += " (" + e.Actor + ")"
		}
		rows = append(rows, []string{fmt.Sprint(e.Seq), e.Time.Format("2006-01-02 15:04"), string(e.Kind), e.Case, short(e.Commit), gain, why})
	}
	return report.Table(f.Out, f.Style(), []bool{true, false, false, false, false, true, false}, rows)
}

// matchesCase reports whether a glob matches a case by its name or its benchmark. An empty
// glob matches all cases.
func matchesCase(glob, name string) bool {
	benchmark, _, _ := strings.Cut(name, "/")
	return glob == "" || measure.MatchCase(glob, name, benchmark)
}
