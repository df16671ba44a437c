package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/version"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/report/sweep"
	"github.com/goatnote-inc/pawl/internal/report/sweep/artifact"
	"github.com/goatnote-inc/pawl/measure"
)

// sweepFlags are the flags of pawl sweep: those of bench, and where the artifact goes.
type sweepFlags struct {
	Flags
	dir       string // folder of the artifact
	from      string // record to analyze instead of measuring
	overwrite bool
}

// NewSweep returns the command pawl sweep.
func NewSweep(g *env.Env) *cobra.Command {
	f := sweepFlags{Flags: Flags{Env: g}}
	cmd := &cobra.Command{
		Use:   "sweep",
		Short: "Compare every implementation on every config, in a reproducible artifact",
		Long: `Measures every config of the suite on every implementation it names, in balanced order,
and ranks them: which is fastest, which cannot be told apart, by how much, and what
difference could have been detected.

Everything goes into one folder and one archive: the record with every sample, the
environment, the commands that repeat it, tables (Markdown, CSV, LaTeX), figures (SVG)
and a list of digests. The same record gives the same bytes.`,
		Example: `  pawl sweep                                    # results/sweep-ID and results/sweep-ID.tar.gz
  pawl sweep --case 'attention/*' --rounds 24   # some configs, more rounds
  pawl sweep --dry-run                          # show the plan, its time and its cost
  pawl sweep --from results/sweep-ID/current.json --out again   # repeat only the analysis`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	f.AddMeasureFlags(fl)
	fl.StringVar(&f.Cases, "case", "", "measure only configs whose name or benchmark matches this `glob`")
	fl.IntVar(&f.Rounds, "rounds", 0, "number of `rounds` (default: the smallest from 8 on that balances the order)")
	fl.StringVarP(&f.dir, "out", "o", "", "`folder` for the artifact (default results/sweep-ID); the archive is next to it")
	fl.StringVar(&f.from, "from", "", "analyze this `record` again and measure nothing")
	fl.BoolVar(&f.overwrite, "force", false, "write into a folder that is not empty")
	fl.BoolVar(&f.JSON, "json", false, "print the comparison as JSON on stdout, events as JSON lines on stderr")
	return cmd
}

func (f *sweepFlags) run(ctx context.Context) error {
	if err := f.CheckNumbers(); err != nil {
		return command.Usage(err)
	}
	if f.from != "" {
		return f.analyzeExisting()
	}
	s, path, err := env.LoadSuite(f.Suite)
	if err != nil {
		return err
	}
	if len(s.Implementations) < 2 {
		return command.Usage(errors.New("the suite names no implementation besides the candidate, so there is nothing to compare\n" +
			"  add one, such as implementations: {sdpa: {}}; pawl then asks the harness for it"))
	}
	o := f.Options(s, path)
	o.Owner, o.Rounds = "pawl sweep", f.balanced(s)
	if f.DryRun {
		plan, err := runner.Forecast(ctx, o)
		if err != nil {
			return err
		}
		return f.PrintPlan(plan)
	}
	return f.measureAll(ctx, o)
}

// balanced returns how many rounds to measure: the number asked for, or one after which every
// implementation has run equally often at each position and after every other one. That default is at
// most 16.
func (f *sweepFlags) balanced(s *suite.Suite) int {
	const least, most = 8, 16
	block := trial.Block(len(s.Implementations))
	switch {
	case f.IsSet("rounds"):
		if f.Rounds%block != 0 {
			f.Say(fmt.Sprintf("note: the order of %d implementations is balanced after every %d rounds, not after %d", len(s.Implementations), block, f.Rounds))
		}
		return f.Rounds
	case block > most:
		return most
	default:
		return (least + block - 1) / block * block
	}
}

func (f *sweepFlags) measureAll(ctx context.Context, o runner.Options) error {
	o.ID = runner.NewID(o.Now())
	f.dir = cmp.Or(f.dir, filepath.Join(o.Dir, "results", "sweep-"+o.ID))
	if err := f.checkOutputFolder(false); err != nil {
		return err
	}
	o.Out = filepath.Join(f.dir, "current.json")
	run, res, err := f.RunAndLoad(ctx, o)
	if run == nil {
		return err
	}
	shown := f.publish(run, filepath.Base(res.Path))
	switch failed := env.FailedCases(run); {
	case err != nil && errors.Is(shown, sweep.ErrNothingToCompare): // interrupted before there was anything to compare
		return err
	case err != nil:
		return errors.Join(err, shown)
	case failed != nil || shown != nil:
		return errors.Join(failed, shown)
	}
	if res.Outcome.State == measure.Throttled {
		return command.Exit(command.ExitNoAnswer, fmt.Errorf("%s: %s", res.Outcome.State, res.Outcome.Reason))
	}
	return nil
}

// analyzeExisting creates the artifact from an existing record.
func (f *sweepFlags) analyzeExisting() error {
	for _, flag := range []string{"suite", "case", "rounds", "samples", "budget", "seed", "wait", "dry-run"} {
		if f.IsSet(flag) {
			return command.Usage(fmt.Errorf("--from measures nothing: --%s cannot be combined with it", flag))
		}
	}
	run, err := measure.Load(f.from)
	if err != nil {
		return command.Usage(err)
	}
	f.dir = cmp.Or(f.dir, filepath.Join("results", artifact.Name(run)))
	if err := f.checkOutputFolder(isInFolder(f.dir, f.from)); err != nil {
		return err
	}
	record, err := artifact.CopyRecord(f.dir, f.from, run)
	if err != nil {
		return err
	}
	if run, err = measure.Load(filepath.Join(f.dir, record)); err != nil {
		return err
	}
	return f.publish(run, record)
}

// checkOutputFolder refuses a folder in which something could be overwritten. A folder that holds the record but no
// manifest is allowed: an interrupted sweep left it.
func (f *sweepFlags) checkOutputFolder(holdsRecord bool) error {
	if f.overwrite {
		return nil
	}
	entries, err := os.ReadDir(f.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return command.Usage(fmt.Errorf("--out: %w", err))
	}
	_, whole := os.Stat(filepath.Join(f.dir, artifact.Manifest))
	_, archive := os.Stat(artifact.ArchiveOf(f.dir))
	if archive == nil || len(entries) > 0 && (!holdsRecord || whole == nil) {
		return command.Usage(fmt.Errorf("%s already has content: choose another --out, or use --force to write into it", f.dir))
	}
	return nil
}

// isInFolder reports whether a file lies directly in a folder.
func isInFolder(dir, file string) bool {
	a, errA := filepath.Abs(dir)
	b, errB := filepath.Abs(filepath.Dir(file))
	return errA == nil && errB == nil && a == b
}

// publish analyzes the record in the folder, writes the artifact beside it and prints it.
func (f *sweepFlags) publish(run *measure.Run, record string) error {
	r, err := sweep.Analyze(run)
	if errors.Is(err, sweep.ErrNothingToCompare) {
		return command.Exit(command.ExitNoAnswer, err)
	}
	if err != nil {
		return err
	}
	files, err := artifact.Files(run, r, record, version.Version())
	if err != nil {
		return err
	}
	written, err := artifact.Write(f.dir, record, artifact.Name(run), run.Created, files)
	if err != nil {
		return err
	}
	if f.JSON {
		return command.WriteJSON(f.Out, struct {
			*sweep.Result
			Artifact artifact.Written `json:"artifact"`
		}{r, written})
	}
	if err := artifact.Terminal(f.Out, r, f.Style()); err != nil {
		return err
	}
	faint := f.Style().Faint
	_, err = fmt.Fprintf(f.Out, "%s\n%s\n", faint("artifact: "+filepath.Join(written.Dir, "README.md")), faint("archive:  "+written.Archive+" (sha256 "+written.ArchiveSHA256+")"))
	return err
}
