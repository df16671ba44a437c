package smi

import (
	"context"
	"errors"
	"fmt"

	"github.com/goatnote-inc/pawl/gpu"
)

// LockClocks asks the driver to lock the SM clock according to the policy. The note
// says, in plain words, where the result differs from what the policy's name suggests:
// nvidia-smi accepts only numbers, so "base" is the default application clock here.
func (d *Device) LockClocks(ctx context.Context, policy gpu.ClockPolicy) (note string, err error) {
	mhz, note, err := d.target(ctx, policy)
	if err == nil {
		err = d.set(ctx, fmt.Sprintf("--lock-gpu-clocks=%d,%d", mhz, mhz))
	}
	if err != nil {
		return "", fmt.Errorf("cannot lock the clocks of %s (%s) to %s: %w", d.id.Name, d.card(), policy, err)
	}
	return note, nil
}

func (d *Device) target(ctx context.Context, policy gpu.ClockPolicy) (mhz int, note string, err error) {
	switch policy.Mode {
	case gpu.ClocksBase:
		mhz, err = d.clock(ctx, "clocks.default_applications.graphics")
		return mhz, fmt.Sprintf("nvidia-smi does not support the base clock by name; the clocks are locked to the default application clock, %d MHz, instead", mhz), err
	case gpu.ClocksMax:
		mhz, err = d.clock(ctx, "clocks.max.sm")
		return mhz, "", err
	case gpu.ClocksFixed:
		if top, err := d.clock(ctx, "clocks.max.sm"); err == nil && policy.MHz > top {
			return 0, "", fmt.Errorf("the max SM clock of this device is %d MHz: choose a lower one", top)
		}
		return policy.MHz, "", nil
	default:
		return 0, "", fmt.Errorf("the policy %q locks no clock", policy)
	}
}

func (d *Device) clock(ctx context.Context, field string) (int, error) {
	rows, err := d.tool.query(ctx, d.card(), field)
	if err != nil {
		return 0, err
	}
	if len(rows) != 1 || rows[0].number(field) == 0 {
		return 0, fmt.Errorf("nvidia-smi does not report %s: %w", field, errors.ErrUnsupported)
	}
	return int(rows[0].number(field)), nil
}

// ResetClocks unlocks the clocks.
func (d *Device) ResetClocks(ctx context.Context) error {
	if err := d.set(ctx, "--reset-gpu-clocks"); err != nil {
		return fmt.Errorf("cannot unlock the clocks of %s (%s): %w", d.id.Name, d.card(), err)
	}
	return nil
}

// SetPersistence sets whether the driver stays loaded while the device is not in use.
func (d *Device) SetPersistence(ctx context.Context, on bool) error {
	mode := "0"
	if on {
		mode = "1"
	}
	if err := d.set(ctx, "--persistence-mode="+mode); err != nil {
		return fmt.Errorf("cannot set persistence mode of %s (%s) to %s: %w", d.id.Name, d.card(), mode, err)
	}
	return nil
}

func (d *Device) set(ctx context.Context, arg string) error {
	_, err := d.tool.run(ctx, "--id="+d.card(), arg)
	return err
}
