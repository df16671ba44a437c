package decide

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/cli/progress"
	"github.com/goatnote-inc/pawl/internal/judge/preflight"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/measure"
)

// preflightFlags are the flags of pawl preflight.
type preflightFlags struct {
	*env.Env
	suite, arch, gpu, cases string
	json, noBuild           bool
}

// NewPreflight returns the command pawl preflight.
func NewPreflight(g *env.Env) *cobra.Command {
	f := preflightFlags{Env: g}
	cmd := &cobra.Command{
		Use:   "preflight [--arch ARCH | --gpu NAME]",
		Short: "Check the kernels before using the GPU",
		Long: `Checks the candidate without running it. First it checks whether shared memory and blocks
fit, and compares the figures in the suite with what the hardware can do. Then it builds the
candidate and checks spilled registers, occupancy and undefined symbols. No GPU is needed.
If there is one, compute-sanitizer runs the smallest config of each benchmark.

Every gate says pass, warn or stop, with the number, the limit and the fix. If the figures
in the suite already stop it, nothing is compiled.

Exit code: 0 if nothing stops, 1 if something does.`,
		Example: `  pawl preflight                 # for the GPU here, or the target of the build
  pawl preflight --gpu L4        # for another card, with its peaks
  pawl preflight --arch sm_90 --case 'attention/*D128*'
  pawl preflight --no-build      # check the last build`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.suite, "suite", "f", "", "suite `file` (default pawl.yaml)")
	fl.StringVar(&f.arch, "arch", "", "check for this `architecture`: sm_89, 8.9")
	fl.StringVar(&f.gpu, "gpu", "", "check for this `card`: L4")
	fl.StringVar(&f.cases, "case", "", "only cases whose name or benchmark matches this `glob`")
	fl.BoolVar(&f.noBuild, "no-build", false, "check the existing build outputs")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

func (f *preflightFlags) run(ctx context.Context) error {
	if _, err := path.Match(f.cases, ""); err != nil {
		return command.Usage(fmt.Errorf("--case %q is not a glob: use * ? and [...] as in a shell", f.cases))
	}
	if f.arch != "" && f.gpu != "" {
		return command.Usage(errors.New("--arch and --gpu both choose the GPU: use only one of them"))
	}
	s, file, err := env.LoadSuite(f.suite)
	if err != nil {
		return err
	}
	o := preflight.Options{Suite: s, Dir: filepath.Dir(file), Case: f.cases}
	if err := f.setTarget(ctx, &o); err != nil {
		return err
	}
	results := filepath.Join(o.Dir, "results")
	o.Last, _ = measure.Load(filepath.Join(results, "current.json")) // the record is optional
	progress := progress.New(f.Env, f.json)
	if f.noBuild {
		log, _ := os.ReadFile(filepath.Join(results, "logs", "candidate.build.log"))
		o.Log = string(log)
	} else {
		o.Build = runner.Builder(runner.Options{
			Suite: s, Dir: o.Dir, Out: filepath.Join(results, "current.json"),
			BuildOptions: runner.BuildOptions{Arch: o.Target.Arch}, Emit: progress.Event,
		})
	}
	report, err := preflight.Run(ctx, o)
	progress.Close()
	if _, ok := errors.AsType[*preflight.NoCaseError](err); ok {
		return command.Usage(err)
	}
	if err != nil {
		return err
	}
	f.Record(report)
	return f.show(report)
}

// setTarget sets the target GPU: the one named, or the one that the suite would use.
func (f *preflightFlags) setTarget(ctx context.Context, o *preflight.Options) (err error) {
	switch {
	case f.arch != "":
		o.Target, err = preflight.TargetArch(f.arch)
	case f.gpu != "":
		o.Target, err = preflight.TargetCard(f.gpu)
	case o.Suite.Device.Kind != gpu.CPU:
		inventory, listErr := device.List(ctx, device.Options{})
		if listErr != nil {
			return listErr
		}
		dev, selectErr := inventory.Select(gpu.NVIDIA, o.Suite.Device.Select)
		if selectErr != nil {
			return nil //nolint:nilerr // preflight must work on a machine without a GPU
		}
		o.Target, err = preflight.TargetDevice(dev.Identity())
		o.UUID = dev.Identity().UUID
		return err
	}
	if err != nil {
		return command.Usage(err)
	}
	return nil
}

func (f *preflightFlags) show(r preflight.Report) error {
	var err error
	if f.json {
		err = command.WriteJSON(f.Out, struct {
			Worst preflight.State `json:"worst"`
			preflight.Report
		}{r.Worst(), r})
	} else {
		err = writePreflight(f.Out, f.Style(), r)
	}
	if err == nil && r.Worst() == preflight.Stop {
		err = command.Exit(command.ExitFailed, fmt.Errorf("%w: a gate stops", command.ErrReported))
	}
	return err
}
