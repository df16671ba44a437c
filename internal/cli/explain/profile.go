package explain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/bench"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/cli/progress"
	"github.com/goatnote-inc/pawl/internal/explain/profile/tool"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
)

// profileFlags are the flags of pawl profile.
type profileFlags struct {
	bench.Flags
	tool  string
	set   string
	rules []string
	all   bool
	roof  bool

	roofline rooflineFlags
}

// NewProfile returns the command pawl profile.
func NewProfile(g *env.Env) *cobra.Command {
	f := profileFlags{Flags: bench.Flags{Env: g}, roofline: rooflineFlags{Env: g}}
	cmd := &cobra.Command{
		Use:   "profile CASE | profile --roofline [CASE...]",
		Short: "Profile a case, and explain why it is slow",
		Long: `Runs a case under the best profiler that works here, without its warm-up, and explains
what it shows: the bottleneck, the numbers behind it, and what to try first. With --base
it profiles both sides and explains what changed.

On an NVIDIA GPU the profiler is Nsight Compute, or the kernel trace of Nsight Systems if
counters are forbidden. On an AMD GPU it is rocprofv3. For OpenCL it is the event profile.
On a CPU it is perf, or callgrind if the machine has no counters. CASE may be a glob.

Writes results/profiles/CASE.{json,txt,ncu-rep,png}. Times under a profiler are good for
ratios, never for a verdict.

With --roofline it profiles nothing. It draws the measured cases in one roofline plot:
operations per second over operations per byte of DRAM traffic, below the ceilings of the
device, with an arrow from the base to the candidate. Traffic is what a profile in
results/profiles counted, or else what the suite declares (flops and bytes). Ceilings are the
published ones of the card. For a CPU none is known: set --bandwidth and --peak to what you
measured.

Exit code: 0; with --roofline 2 if there is nothing to draw.`,
		Example: `  pawl profile matmul/N512
  pawl profile matmul/N512 --base main      # what changed, and why
  pawl profile 'attention/*S512*' --set cheap
  pawl profile matmul/N512 --tool callgrind
  pawl profile --roofline                   # draw what was measured
  pawl profile --roofline 'attention/*' -o attention.svg`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.checkRoofline(args); err != nil {
				return command.Usage(err)
			}
			if f.roof {
				return f.roofline.run(args)
			}
			return f.run(cmd.Context(), args[0])
		},
	}
	fl := cmd.Flags()
	f.FlagSet = fl
	fl.StringVarP(&f.Suite, "suite", "f", "", "suite `file` (default pawl.yaml)")
	fl.StringVar(&f.Base, "base", "", "also profile this `commit`, and show what changed")
	fl.StringVar(&f.tool, "tool", "", "`profiler` to use: ncu, nsys, rocprofv3, perf, callgrind or opencl (default: the best that works here)")
	fl.StringVar(&f.set, "set", "", "how much Nsight Compute collects: full or cheap (default: the suite's, full)")
	fl.StringArrayVar(&f.rules, "rules", nil, "`file` with your own rules; can be repeated")
	fl.Uint64Var(&f.Seed, "seed", 0, "`seed` of the inputs (default: a new one)")
	fl.StringVar(&f.Trust, "trust", "", "how far to trust the change's own timings, a `level`: trusted, checked or self-timed (default: the suite's)")
	fl.DurationVar(&f.Wait, "wait", 30*time.Minute, "how long to wait while another pawl process uses the device")
	fl.DurationVar(&f.Budget, "budget", 0, "start no case after this `time`")
	fl.BoolVar(&f.NoCache, "no-cache", false, "rebuild everything, ignoring cached builds")
	fl.BoolVar(&f.all, "all", false, "show every finding and change, not only the most important")
	fl.BoolVar(&f.JSON, "json", false, "print JSON on stdout, events as JSON lines on stderr")
	fl.BoolVar(&f.roof, "roofline", false, "draw the measured cases below the ceilings of the device, and profile nothing")
	f.roofline.register(fl)
	return cmd
}

// checkRoofline rejects flags and arguments that do not go together.
func (f *profileFlags) checkRoofline(args []string) (err error) {
	drawing := []string{"record", "out", "bandwidth", "peak"}
	f.FlagSet.Visit(func(flag *pflag.Flag) {
		switch {
		case slices.Contains(drawing, flag.Name) && !f.roof:
			err = fmt.Errorf("--%s requires --roofline", flag.Name)
		case f.roof && !slices.Contains(append(drawing, "roofline", "dir", "no-color"), flag.Name):
			err = fmt.Errorf("--roofline profiles nothing: it does not use --%s", flag.Name)
		}
	})
	if err == nil && !f.roof && len(args) != 1 {
		err = fmt.Errorf("expected one CASE, got %d\n  usage: pawl profile CASE", len(args))
	}
	return err
}

func (f *profileFlags) run(ctx context.Context, glob string) error {
	if err := f.CheckNumbers(); err != nil {
		return command.Usage(err)
	}
	if err := f.checkTool(); err != nil {
		return command.Usage(err)
	}
	rules, err := loadRules(f.rules)
	if err != nil {
		return command.Usage(err)
	}
	s, file, err := env.LoadSuite(f.Suite)
	if err != nil {
		return err
	}
	f.Cases = glob
	o := f.Options(s, file)
	results := filepath.Join(o.Dir, "results")
	o.Owner, o.Out = "pawl profile", filepath.Join(results, "profile.json")
	last, _ := measure.Load(filepath.Join(results, "current.json")) // without a record, only the profiler's times are known
	progress := progress.New(f.Env, f.JSON)
	o.Emit = func(e runner.Event) {
		if _, is := e.(runner.Explained); is && !f.JSON {
			return // printed at the end, with the case
		}
		progress.Event(e)
	}
	whys, err := runner.Profile(ctx, o, runner.ProfileOptions{
		Tool: f.tool, Set: f.set, Time: f.Budget, Rules: rules, Last: last,
	})
	progress.Close()
	if err != nil && errors.Is(context.Cause(ctx), command.ErrInterrupted) {
		err = fmt.Errorf("%w while profiling %s: finished cases are kept, the others have no profile", command.ErrInterrupted, glob)
	}
	return errors.Join(f.showWhys(whys), err, profileError(whys))
}

// checkTool rejects an unknown tool or set.
func (f *profileFlags) checkTool() error {
	for _, x := range []struct {
		flag, value string
		known       []string
	}{{"tool", f.tool, append([]string{tool.Auto}, tool.ToolNames...)}, {"set", f.set, []string{tool.SetFull, tool.SetCheap}}} {
		if x.value != "" && !slices.Contains(x.known, x.value) {
			return fmt.Errorf("unknown --%s %q (known: %s)", x.flag, x.value, strings.Join(x.known, ", "))
		}
	}
	return nil
}

// profileError returns an error if no case could be diagnosed.
func profileError(whys []runner.Explanation) error {
	var errs []error
	for _, w := range whys {
		if w.Diagnosis != nil {
			return nil
		}
		errs = append(errs, w.Err)
	}
	return errors.Join(errs...)
}

// showWhys prints the diagnoses and draws a picture of each case.
func (f *profileFlags) showWhys(whys []runner.Explanation) error {
	var errs []error
	var answers []diagnosisAnswer
	looked := slices.ContainsFunc(whys, func(w runner.Explanation) bool { return w.Diagnosis != nil })
	for _, w := range whys {
		if w.Diagnosis == nil {
			if looked && !f.JSON && w.Err != nil { // otherwise the command returns it as its error
				f.Say("note: " + words.Sanitize(w.Err.Error()))
			}
			continue
		}
		drawn, err := DrawWhy(ReportWhy(w))
		errs = append(errs, err)
		a := newAnswer(*w.Diagnosis, *w.After)
		a.Difference, a.Files, a.Notes = w.Difference, drawn.Files, w.Notes
		if w.Err != nil {
			a.Notes = append(a.Notes, w.Err.Error())
		}
		answers = append(answers, a)
		f.Record(w)
	}
	if f.JSON {
		switch len(answers) {
		case 0:
		case 1:
			errs = append(errs, command.WriteJSON(f.Out, answers[0]))
		default:
			errs = append(errs, command.WriteJSON(f.Out, map[string]any{"profiles": answers}))
		}
		return errors.Join(errs...)
	}
	for i, a := range answers {
		if i > 0 {
			fmt.Fprintln(f.Out)
		}
		errs = append(errs, writeDiagnosis(f.Out, f.Style(), a, f.all))
		for _, file := range a.Files {
			fmt.Fprintln(f.Out, f.Style().Faint("wrote "+file))
		}
	}
	return errors.Join(errs...)
}

// DrawWhy writes the one-page picture of a case beside its profile, and adds it to the files.
func DrawWhy(w report.Why) (report.Why, error) {
	if len(w.Files) == 0 {
		return w, nil
	}
	at := filepath.Join(filepath.Dir(w.Files[0]), runner.Stem(w.Case, suite.Candidate)+".png")
	err := env.WriteFile(at, func(out io.Writer) error { return report.OnePager(out, w) })
	if err == nil {
		w.Files = append(slices.Clone(w.Files), at)
	}
	return w, err
}

// ReportWhy converts a result of profiling for a report.
func ReportWhy(w runner.Explanation) report.Why {
	return report.Why{Case: w.Case, Before: w.Before, After: w.After, Diagnosis: w.Diagnosis, Difference: w.Difference, Files: w.Files}
}
