package agent

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/base/shell"
	"github.com/goatnote-inc/pawl/internal/fleet/calibration"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/sdk"
)

// kernels are the suites of calibrations, one folder for each kind of device. Nothing of a project is measured.
//
//go:embed calibrate
var kernels embed.FS

// openCL starts the name of a device that only OpenCL reaches. A part of its OpenCL name follows, and @ with anything if another host has
// such a device, too.
const openCL = "opencl:"

// kernelOf returns the folder of the suite for the device of a lease.
func (a *Agent) kernelOf(ctx context.Context, d *leaseDir) (string, error) {
	switch device := d.lease.Device; {
	case strings.HasPrefix(device, "cpu:"):
		return "calibrate/cpu", nil
	case strings.HasPrefix(device, "GPU-") && a.isAMD(ctx, d):
		return "calibrate/hip", nil
	case strings.HasPrefix(device, "GPU-"), strings.HasPrefix(device, "MIG-"):
		return "calibrate/cuda", nil
	case strings.HasPrefix(device, openCL):
		return "calibrate/opencl", nil
	default:
		return "", fmt.Errorf("there is no calibration kernel for %.100q", device)
	}
}

// isAMD reports whether pawl finds that the GPU of a lease is AMD's. UUIDs of AMD and NVIDIA begin alike.
func (a *Agent) isAMD(ctx context.Context, d *leaseDir) bool {
	answer := &shell.Tail{Max: maxAnswer}
	if _, err := a.exec(ctx, d, answer, "device", "show", "--json"); err != nil {
		return false // the calibration fails too, and says why
	}
	found, err := shownDevice(answer.Bytes())
	return err == nil && found != nil && found.Kind == gpu.AMD
}

// calibrate measures the agent's own kernel on the device of a lease: the same code on both sides, and a planted
// slowdown. What keeps it from a result is a result too.
func (a *Agent) calibrate(ctx context.Context, d *leaseDir) (job.Result, error) {
	d.phase.Store("calibrating")
	r := job.Result{Lease: d.lease.ID, Attempt: d.lease.Attempt}
	r.Calibration = calibration.Record{Seed: d.lease.Calibrate}
	limited, cancel := context.WithTimeoutCause(ctx, time.Duration(d.lease.Seconds)*time.Second, errTooLong(d.lease))
	defer cancel()
	err := a.writeKernel(limited, d)
	if err == nil {
		err = a.runCalibration(limited, d, &r)
	}
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	r.Calibration.At, r.Seconds = time.Now().UTC(), time.Since(d.began).Seconds()
	r.Driver = r.Calibration.Driver
	if err != nil {
		r.Calibration.Error = clip(err.Error(), 500)
	}
	return r, nil
}

// maxReason bounds the words of an error in Temporal's history.
const maxReason = 2000

// clip bounds a text. What is not UTF-8 would not leave the agent: its delivery would be repeated until the lease ends.
func clip(text string, most int) string { return strings.ToValidUTF8(text[:min(len(text), most)], "") }

func errTooLong(l job.Lease) error { return fmt.Errorf("it took longer than %d s", l.Seconds) }

// writeKernel writes the suite to a fresh workspace.
func (a *Agent) writeKernel(ctx context.Context, d *leaseDir) error {
	if err := removeAll(d.file("work")); err != nil {
		return fmt.Errorf("cannot clear a workspace: %w", err)
	}
	if err := os.MkdirAll(d.file("work"), 0o700); err != nil {
		return fmt.Errorf("cannot create a workspace: %w", err)
	}
	from, err := a.kernelOf(ctx, d)
	if err != nil {
		return err
	}
	entries, err := kernels.ReadDir(from)
	if err != nil {
		return err
	}
	files := map[string][]byte{"pawl.h": sdk.Header}
	for _, e := range entries {
		if files[e.Name()], err = kernels.ReadFile(path.Join(from, e.Name())); err != nil {
			return err
		}
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(d.file("work"), name), content, 0o600); err != nil {
			return fmt.Errorf("cannot write the calibration kernel: %w", err)
		}
	}
	return nil
}

// maxAnswer bounds what is read of pawl's answer.
const maxAnswer = 4 << 20

// runCalibration runs pawl doctor --gate, which drives the loop of pawl run on three sides, and reads its answer.
func (a *Agent) runCalibration(ctx context.Context, d *leaseDir, r *job.Result) error {
	answer := &shell.Tail{Max: maxAnswer}
	code, err := a.exec(ctx, d, answer, "doctor", "--gate", "--json", fmt.Sprintf("--seed=%d", d.lease.Calibrate), "--suite=pawl.yaml")
	if err != nil {
		return err
	}
	var doc struct {
		Gate *struct {
			Slowdown float64
			Cases    []struct {
				Same       string `json:"same_code"`
				Slow       string `json:"slowed_down"`
				Rounds     int
				Spread     float64
				Detectable float64
			}
		}
	}
	if err := json.Unmarshal(answer.Bytes(), &doc); err != nil {
		return fmt.Errorf("cannot read the answer of pawl doctor, exit code %d: %w", code, err)
	}
	if doc.Gate == nil || len(doc.Gate.Cases) != 1 {
		return errors.New("pawl doctor measured nothing")
	}
	c := doc.Gate.Cases[0]
	r.Rounds = c.Rounds
	r.Calibration.Rounds, r.Calibration.Noise, r.Calibration.Smallest, r.Calibration.Planted = c.Rounds, c.Spread, c.Detectable, doc.Gate.Slowdown
	r.Calibration.FalseAlarm = c.Same == "regression" || c.Same == "improvement"
	r.Calibration.Found = c.Slow == "regression"
	if run := readRun(d.file("work/results/gate.json")); run != nil {
		r.Calibration.Driver = clip(run.Device.Driver, 100)
	}
	return nil
}

// readRun reads the record of a run without its samples; nil if it cannot be read.
func readRun(file string) *measure.Run {
	text, err := disk.ReadRegular(file, job.MaxDocuments)
	if err != nil {
		return nil
	}
	run, err := measure.Scan(bytes.NewReader(text), func(*measure.Case, measure.CaseRound) error { return nil })
	if err != nil {
		return nil
	}
	return run
}
