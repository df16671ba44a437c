package start

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/version"
	"github.com/goatnote-inc/pawl/internal/cli/bench"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/doctor/gpucheck"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/internal/kernel/discover"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// checkGPU runs the checks of pawl doctor --gpu.
func (f *doctorFlags) checkGPU(ctx context.Context) error {
	path := f.Suite
	if path == "" {
		path = discover.SuiteFile
	}
	dev, err := selectGPU(ctx, path, f.Suite != "")
	if err != nil {
		return command.Exit(command.ExitCannot, err)
	}
	locks := device.LockOptions{Owner: "pawl doctor --gpu"}
	if f.holdClocks {
		return gpucheck.HoldClocks(ctx, dev, locks, func(line string) { fmt.Fprintln(f.Out, line) })
	}
	cache, err := build.CacheDir()
	if err != nil {
		return command.Exit(command.ExitCannot, err)
	}
	total := len(gpucheck.Names())
	if !f.JSON {
		fmt.Fprintf(f.Err, "checking pawl's assumptions on %s: %d checks, about %s; nothing else should run on it\n", dev.Identity().Name, total, bench.Seconds(float64(gpucheck.Seconds())))
	}
	report, err := gpucheck.Run(ctx, gpucheck.Options{
		Device: dev, Version: version.Version(), CacheDir: cache, Locks: locks, Hold: f.holder,
		Progress: func(number int, name string) { f.gpuProgress(number, total, name) },
	})
	if report == nil {
		return command.Exit(command.ExitCannot, err)
	}
	f.Record(report)
	if writeErr := f.writeGPU(report, filepath.Join(filepath.Dir(path), "results")); err == nil {
		err = writeErr
	}
	if err == nil && report.Count(gpucheck.Failed) > 0 {
		err = command.Exit(command.ExitFailed, fmt.Errorf("%s: %w", report.Verdict(), command.ErrReported))
	}
	return err
}

// checkEvent is a line of progress for programs.
type checkEvent struct {
	Event string `json:"event"`
	Check int    `json:"check"`
	Of    int    `json:"of"`
	Name  string `json:"name"`
}

// holder returns the process that check 22 kills.
func (f *doctorFlags) holder(ctx context.Context) *exec.Cmd {
	program, err := os.Executable()
	if err != nil {
		program = os.Args[0]
	}
	args := []string{"doctor", "--gpu", "--hold-clocks"}
	if f.Suite != "" {
		args = append(args, "--suite", f.Suite)
	}
	return exec.CommandContext(ctx, program, args...) //nolint:gosec // pawl itself, with a path that the user gave
}

// selectGPU returns the GPU that the suite selects, or the first one if there is no suite.
func selectGPU(ctx context.Context, path string, required bool) (device.Device, error) {
	var want suite.Device
	switch s, err := suite.Load(path); {
	case err == nil:
		want = s.Device
	case required:
		return nil, err
	}
	inv, err := device.List(ctx, device.Options{})
	if err != nil {
		return nil, err
	}
	return inv.Select(gpu.NVIDIA, want.Select)
}

func (f *doctorFlags) gpuProgress(number, total int, name string) {
	if f.JSON {
		if err := json.NewEncoder(f.Err).Encode(checkEvent{"check", number, total, name}); err != nil {
			f.Say("note: cannot write the progress: " + err.Error())
		}
		return
	}
	fmt.Fprintf(f.Err, "check %d of %d: %s\n", number, total, name)
}

// writeGPU prints the report, and writes it as JSON and as text to paste.
func (f *doctorFlags) writeGPU(report *gpucheck.Report, results string) error {
	body, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(results, 0o755); err != nil {
		return err
	}
	jsonFile, textFile := filepath.Join(results, "gpu-check.json"), filepath.Join(results, "gpu-check.txt")
	if err := os.WriteFile(jsonFile, append(body, '\n'), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(textFile, []byte(report.Text()), 0o644); err != nil {
		return err
	}
	if f.JSON {
		return command.WriteJSON(f.Out, report)
	}
	_, err = fmt.Fprintf(f.Out, "%s\n%s\n", report.Text(), f.Style().Faint("to send back: "+jsonFile+" and "+textFile))
	return err
}
