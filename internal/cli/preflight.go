package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/judge/preflight"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/measure"
)

// preflightFlags are the flags of pawl preflight.
type preflightFlags struct {
	*globals
	suite, arch, gpu, cases string
	json, noBuild           bool
}

func newPreflight(g *globals) *cobra.Command {
	f := preflightFlags{globals: g}
	cmd := &cobra.Command{
		Use:   "preflight [--arch ARCH | --gpu NAME]",
		Short: "Look at the kernels before any time of a GPU is spent",
		Long: `Checks the candidate without running it: whether shared memory and blocks fit,
what the suite claims against what the hardware can do, then builds it and looks at
spilled registers, occupancy and symbols that nothing defines. No GPU is needed. Where
one is, compute-sanitizer runs the smallest config of each benchmark.

Every gate says pass, warn or stop, with the number, the limit and the fix. What is
stopped by the suite's own figures is not even compiled.

Exit code: 0 when nothing stops, 1 when something does.`,
		Example: `  pawl preflight                 # for the GPU here, or what the build is compiled for
  pawl preflight --gpu L4        # for another card, with its peaks
  pawl preflight --arch sm_90 --case 'attention/*D128*'
  pawl preflight --no-build      # look at what was built last`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.suite, "suite", "f", "", "suite `file` (default pawl.yaml)")
	fl.StringVar(&f.arch, "arch", "", "look at it for this `architecture`: sm_89, 8.9")
	fl.StringVar(&f.gpu, "gpu", "", "look at it for this `card`: L4")
	fl.StringVar(&f.cases, "case", "", "only cases whose name, or benchmark, matches this `glob`")
	fl.BoolVar(&f.noBuild, "no-build", false, "look at the outputs that are there")
	fl.BoolVar(&f.json, "json", false, "the answer as JSON")
	return cmd
}

func (f *preflightFlags) run(ctx context.Context) error {
	if _, err := path.Match(f.cases, ""); err != nil {
		return usageError{fmt.Errorf("--case %q is not a glob: use * ? and [...] as in a shell", f.cases)}
	}
	if f.arch != "" && f.gpu != "" {
		return usageError{errors.New("--arch and --gpu both say for which GPU: give one of them")}
	}
	s, file, err := loadSuite(f.suite)
	if err != nil {
		return err
	}
	o := preflight.Options{Suite: s, Dir: filepath.Dir(file), Case: f.cases}
	if err := f.setTarget(ctx, &o); err != nil {
		return err
	}
	results := filepath.Join(o.Dir, "results")
	o.Last, _ = measure.Load(filepath.Join(results, "current.json")) // the record is optional
	progress := newProgress(f.globals, f.json)
	if f.noBuild {
		log, _ := os.ReadFile(filepath.Join(results, "logs", "candidate.build.log"))
		o.Log = string(log)
	} else {
		o.Build = runner.Builder(runner.Options{
			Suite: s, Dir: o.Dir, Out: filepath.Join(results, "current.json"),
			BuildOptions: runner.BuildOptions{Arch: o.Target.Arch}, Emit: progress.event,
		})
	}
	report, err := preflight.Run(ctx, o)
	progress.close()
	if _, ok := errors.AsType[*preflight.NoCaseError](err); ok {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	f.journalFacts.recordPreflight(report)
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
		return usageError{err}
	}
	return nil
}

func (f *preflightFlags) show(r preflight.Report) error {
	var err error
	if f.json {
		e := json.NewEncoder(f.Out)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false) // kernel names contain < and >
		err = e.Encode(struct {
			Worst preflight.State `json:"worst"`
			preflight.Report
		}{r.Worst(), r})
	} else {
		err = writePreflight(f.Out, f.style(), r)
	}
	if err == nil && r.Worst() == preflight.Stop {
		err = exitError{exitFailed, fmt.Errorf("%w: a gate stops", errReported)}
	}
	return err
}
