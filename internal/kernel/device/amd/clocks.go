package amd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/goatnote-inc/pawl/gpu"
)

// Levels of power_dpm_force_performance_level.
const (
	levelAuto        = "auto"
	levelDeterminism = "perf_determinism"
)

// LockClocks asks the driver for performance determinism: a highest clock that the card keeps to, so that runs
// differ less. Instinct cards from the MI200 on have it. The note says that it is no lower bound.
func (d *Device) LockClocks(_ context.Context, policy gpu.ClockPolicy) (note string, err error) {
	mhz, err := d.target(policy)
	if err == nil {
		err = d.hold(mhz)
	}
	if err != nil {
		return "", fmt.Errorf("cannot lock the clocks of %s (%s) to %s: %w", d.id.Name, d.id.UUID, policy, err)
	}
	return fmt.Sprintf("%d MHz is the highest clock now; the card may run below it", mhz), nil
}

func (d *Device) target(policy gpu.ClockPolicy) (mhz int, err error) {
	top := d.id.MaxClockMHz
	switch {
	case policy.Mode == gpu.ClocksBase:
		return 0, fmt.Errorf("AMD reports no base clock: write a frequency that the card sustains, such as clocks: 1300MHz: %w", errors.ErrUnsupported)
	case policy.Mode == gpu.ClocksMax && top > 0:
		return top, nil
	case policy.Mode == gpu.ClocksMax:
		return 0, fmt.Errorf("the highest clock is not known: %w", errors.ErrUnsupported)
	case policy.Mode != gpu.ClocksFixed:
		return 0, fmt.Errorf("the policy %q locks no clock", policy)
	case top > 0 && policy.MHz > top:
		return 0, fmt.Errorf("the max clock of this device is %d MHz: choose a lower one", top)
	default:
		return policy.MHz, nil
	}
}

// hold sets the level, then the highest clock, then makes both take effect. What fails half-way is undone.
func (d *Device) hold(mhz int) error {
	for _, step := range []struct{ file, text string }{
		{"power_dpm_force_performance_level", levelDeterminism},
		{"pp_od_clk_voltage", fmt.Sprintf("s 1 %d", mhz)},
		{"pp_od_clk_voltage", "c"},
	} {
		if err := d.write(step.file, step.text); err != nil {
			_ = d.write("power_dpm_force_performance_level", levelAuto)
			return err
		}
	}
	return nil
}

// ResetClocks lets the card choose its clock, which also ends determinism.
func (d *Device) ResetClocks(context.Context) error {
	if err := d.write("power_dpm_force_performance_level", levelAuto); err != nil {
		return fmt.Errorf("cannot free the clocks of %s (%s): %w", d.id.Name, d.id.UUID, err)
	}
	return nil
}

// SetPersistence is not needed: the driver stays loaded.
func (d *Device) SetPersistence(context.Context, bool) error {
	return fmt.Errorf("cannot set persistence mode of %s: its driver has none: %w", d.id.Name, errors.ErrUnsupported)
}

// write writes a file of the card. Its error says whether permission or support is missing.
func (d *Device) write(file, text string) error {
	err := d.machine.Write(d.dir+"/"+file, text+"\n")
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EROFS): // containers see these files, and may not write them
		return fmt.Errorf("%w: %w", err, fs.ErrPermission)
	case errors.Is(err, syscall.EINVAL), errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w", err, errors.ErrUnsupported)
	default:
		return err
	}
}
