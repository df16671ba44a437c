package gpucheck

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
)

func smClock(ctx context.Context, e *exam) (State, string) {
	v, err := e.measured(ctx, "clocks", "sm_mhz", "nvml_mhz")
	if err != nil {
		return without(err)
	}
	return decide(math.Abs(v[0][0]/v[1][0]-1) <= 0.02, "%.0f MHz measured, %.0f MHz by NVML", v[0][0], v[1][0])
}

// fmaPeak compares multiply-adds with the table. Tensor cores are not tried yet.
func fmaPeak(ctx context.Context, e *exam) (State, string) {
	v, err := e.measured(ctx, "clocks", "sm_mhz", "fma_flops")
	if err != nil {
		return without(err)
	}
	c, ok := gpu.CardFor(e.id)
	peak := c.At(v[0][0]).TFLOPS[gpu.FP32]
	if !ok || !peak.Known() {
		return notRun("the FP32 peak of %s is not known", e.id.Name)
	}
	got := v[1][0] / 1e12
	return decide(got <= 1.02*peak.Value, "%.1f TFLOP/s of %.1f at %.0f MHz; tensor cores are not tried yet", got, peak.Value, v[0][0])
}

// capped are the reasons for which a card does not follow a lock.
const capped = gpu.SWPowerCap | gpu.SWThermal | gpu.HWThermal | gpu.HWPowerBrake | gpu.HWSlowdown | gpu.BoardLimit | gpu.Reliability

// lockedClocks locks the clocks in three ways, and measures under each.
func lockedClocks(ctx context.Context, e *exam) (State, string) {
	policies := []gpu.ClockPolicy{{Mode: gpu.ClocksBase}, {Mode: gpu.ClocksMax}, {Mode: gpu.ClocksFixed, MHz: e.id.MaxClockMHz * 3 / 5}}
	var texts []string
	for _, p := range policies {
		notices, err := e.lease.SetClocks(ctx, p, false)
		if err != nil {
			return failed("%v", err)
		}
		if e.lease.Clocks() != p {
			return notRun("%v", notices)
		}
		facts, err := e.probe(ctx, "clocks")
		if err != nil || len(facts["sm_mhz"]) == 0 || len(facts["nvml_mhz"]) == 0 || len(facts["reasons"]) == 0 {
			return failed("locked at %s: %v", p, err)
		}
		sm, reported, reasons := facts["sm_mhz"][0], facts["nvml_mhz"][0], gpu.Reasons(facts["reasons"][0])
		e.report.Facts["locked_mhz"] = append(e.report.Facts["locked_mhz"], sm)
		texts = append(texts, fmt.Sprintf("%s: %.0f MHz (NVML %.0f)", p, sm, reported))
		if math.Abs(sm/reported-1) > 0.03 || !follows(p, e.id, sm, reasons) {
			return failed("%s, reasons: %s", strings.Join(texts, ", "), reasons)
		}
	}
	if _, err := e.lease.SetClocks(ctx, gpu.ClockPolicy{Mode: gpu.ClocksFree}, false); err != nil {
		return failed("%v", err)
	}
	state, err := e.Device.State(ctx)
	return decide(err == nil && state.Reasons&gpu.ClocksSetting == 0, "%s; then free", strings.Join(texts, ", "))
}

// follows reports whether a clock is the one that was asked for, or the card says why not.
func follows(p gpu.ClockPolicy, id gpu.Identity, mhz float64, reasons gpu.Reasons) bool {
	want := float64(p.MHz)
	switch p.Mode {
	case gpu.ClocksMax:
		want = float64(id.MaxClockMHz)
	case gpu.ClocksBase:
		return mhz <= 1.02*float64(id.MaxClockMHz) // the driver does not report what the base clock is
	default:
	}
	return math.Abs(mhz/want-1) <= 0.03 || mhz < want && reasons&capped != 0
}

// killedWhileLocked gives the device to another process, kills it, and takes the device again.
func killedWhileLocked(ctx context.Context, e *exam) (state State, message string) {
	if e.Hold == nil {
		return notRun("no command to kill")
	}
	if err := e.lease.Release(ctx); err != nil {
		return failed("%v", err)
	}
	defer func() {
		if e.lease != nil {
			return
		}
		lease, err := device.Acquire(ctx, e.Device, e.Locks)
		if err != nil {
			state, message = failed("%v", err)
			return
		}
		e.lease = lease
	}()
	e.lease = nil
	cmd := e.Hold(ctx)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return notRun("cannot start a process that locks the clocks: %v", err)
	}
	line, readErr := bufio.NewReader(out).ReadString('\n')
	killErr := cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	if readErr != nil || strings.TrimSpace(line) != Held {
		return notRun("clocks cannot be locked here: %s", strings.TrimSpace(line))
	}
	lease, err := device.Acquire(ctx, e.Device, e.Locks)
	if err = errors.Join(err, killErr); err != nil {
		return failed("%v", err)
	}
	e.lease = lease
	now, err := e.Device.State(ctx)
	restored := slices.ContainsFunc(lease.Notices(), func(n device.Notice) bool { return n.Code == "restored" })
	return decide(err == nil && restored && now.Reasons&gpu.ClocksSetting == 0, "restored: %v, still locked: %v", restored, now.Reasons&gpu.ClocksSetting != 0)
}

// Held is the line that a process prints once it has locked the clocks.
const Held = "held"

// HoldClocks takes the device, locks its clocks and prints a line. It returns when ctx ends; check 22 kills it before.
func HoldClocks(ctx context.Context, dev device.Device, locks device.LockOptions, say func(string)) error {
	lease, err := device.Acquire(ctx, dev, locks)
	if err != nil {
		return err
	}
	policy := gpu.ClockPolicy{Mode: gpu.ClocksBase}
	notices, err := lease.SetClocks(ctx, policy, false)
	if err != nil || lease.Clocks() != policy {
		say(fmt.Sprint(notices))
		return errors.Join(err, lease.Release(ctx))
	}
	say(Held)
	<-ctx.Done()
	return lease.Release(ctx)
}

func startReasons(ctx context.Context, e *exam) (State, string) {
	v, err := e.measured(ctx, "starts", "start_reasons")
	if err != nil {
		return without(err)
	}
	var all gpu.Reasons
	slowed := 0
	for _, bits := range v[0] {
		r := gpu.Reasons(bits)
		all |= r
		if r.Invalidating() != 0 {
			slowed++
		}
	}
	return decide(slowed == 0, "%d of %d starts; seen: %s", slowed, len(v[0]), all)
}

// load reads what the card does in 10 s of multiply-adds: 5 numbers a reading.
func load(ctx context.Context, e *exam) (State, string) {
	v, err := e.measured(ctx, "load", "load")
	if err != nil {
		return without(err)
	}
	readings := slices.Collect(slices.Chunk(v[0], 5))
	if len(readings) < 20 || len(readings[len(readings)-1]) != 5 {
		return failed("only %d readings", len(readings))
	}
	first, last := readings[0], readings[len(readings)-1]
	complete := true
	for _, r := range readings {
		complete = complete && r[1] > 0 && r[2] > 0 && r[3] > 0
	}
	text := fmt.Sprintf("%d readings: %.0f to %.0f MHz, %.0f W, %.0f to %.0f degrees C", len(readings), first[1], last[1], last[2], first[3], last[3])
	if integrated, counted, ok := energies(readings); ok {
		text += fmt.Sprintf(", %.1f J counted, %.1f J as the integral of power", counted, integrated)
	} else {
		text += ", no energy counter: energy is the integral of power"
	}
	return decide(complete, "%s", text)
}

// energies returns the integral of power and the difference of the counter, in joules.
func energies(readings [][]float64) (integrated, counted float64, ok bool) {
	for i := 1; i < len(readings); i++ {
		a, b := readings[i-1], readings[i]
		integrated += (b[0] - a[0]) * (a[2] + b[2]) / 2
		if a[4] < 0 || b[4] < 0 {
			return integrated, 0, false
		}
	}
	return integrated, readings[len(readings)-1][4] - readings[0][4], true
}
