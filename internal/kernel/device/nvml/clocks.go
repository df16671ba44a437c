//go:build cgo && linux

package nvml

import (
	"context"
	"errors"
	"fmt"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/goatnote-inc/pawl/gpu"
)

// tdp is the symbolic base clock. NVML calls it TDP: the clock that the card sustains
// at its power cap. In go-nvml it is a negative enum value.
const tdp = uint32(0xffffffff + 1 + int64(nvml.CLOCK_LIMIT_ID_TDP))

// LockClocks asks the driver to lock the SM clock according to the policy. The note
// says, in plain words, where the result differs from what the policy's name suggests.
// The lock is a request: power and heat may still lower the clock, and states show the
// actual clock.
func (d *Device) LockClocks(ctx context.Context, policy gpu.ClockPolicy) (note string, err error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("cannot lock the clocks of %s: %w", d.id.Name, err)
	}
	switch policy.Mode {
	case gpu.ClocksBase:
		note, err = d.lockBase()
	case gpu.ClocksMax:
		var top uint32
		if top, err = d.clock("nvmlDeviceGetMaxClockInfo", func() (uint32, nvml.Return) { return d.card.GetMaxClockInfo(nvml.CLOCK_SM) }); err == nil {
			err = d.lock(top)
		}
	case gpu.ClocksFixed:
		err = d.lockFixed(policy.MHz)
	default:
		return "", fmt.Errorf("cannot lock the clocks of %s: the policy %q locks no clock", d.id.Name, policy)
	}
	if err != nil {
		return "", fmt.Errorf("cannot lock the clocks of %s (%s) to %s: %w", d.id.Name, d.id.UUID, policy, err)
	}
	return note, nil
}

// lockBase locks to the symbolic base clock as NVBench does. If a driver does not
// support the symbol, the default application clock is the closest value: on older
// cards it is the base clock, on newer ones it may be the highest.
func (d *Device) lockBase() (note string, err error) {
	err = d.lock(tdp)
	answer, ok := errors.AsType[*callError](err)
	if !ok || answer.ret != nvml.ERROR_INVALID_ARGUMENT && answer.ret != nvml.ERROR_NOT_SUPPORTED {
		return "", err
	}
	mhz, getErr := d.clock("nvmlDeviceGetClock", func() (uint32, nvml.Return) {
		return d.card.GetClock(nvml.CLOCK_SM, nvml.CLOCK_ID_APP_CLOCK_DEFAULT)
	})
	if getErr != nil {
		return "", err
	}
	if err := d.lock(mhz); err != nil {
		return "", err
	}
	return fmt.Sprintf("this driver does not support the base clock by name; the clocks are locked to the default application clock, %d MHz, instead", mhz), nil
}

func (d *Device) lockFixed(mhz int) error {
	top, ret := ask(d.lib, "nvmlDeviceGetMaxClockInfo", func() (uint32, nvml.Return) { return d.card.GetMaxClockInfo(nvml.CLOCK_SM) })
	if ret == nvml.SUCCESS && int64(mhz) > int64(top) {
		return fmt.Errorf("the max SM clock of this device is %d MHz: choose a lower one", top)
	}
	return d.lock(uint32(mhz))
}

func (d *Device) lock(mhz uint32) error {
	return do(d.lib, "nvmlDeviceSetGpuLockedClocks", func() nvml.Return { return d.card.SetGpuLockedClocks(mhz, mhz) })
}

func (d *Device) clock(symbol string, get func() (uint32, nvml.Return)) (uint32, error) {
	mhz, ret := ask(d.lib, symbol, get)
	if ret != nvml.SUCCESS {
		return 0, &callError{symbol, ret}
	}
	if mhz == 0 {
		return 0, fmt.Errorf("%s returned 0 MHz: %w", symbol, errors.ErrUnsupported)
	}
	return mhz, nil
}

// ResetClocks unlocks the clocks.
func (d *Device) ResetClocks(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("cannot unlock the clocks of %s: %w", d.id.Name, err)
	}
	if err := do(d.lib, "nvmlDeviceResetGpuLockedClocks", d.card.ResetGpuLockedClocks); err != nil {
		return fmt.Errorf("cannot unlock the clocks of %s (%s): %w", d.id.Name, d.id.UUID, err)
	}
	return nil
}

// SetPersistence sets whether the driver stays loaded while the device is not in use.
func (d *Device) SetPersistence(ctx context.Context, on bool) error {
	mode, word := nvml.FEATURE_DISABLED, "off"
	if on {
		mode, word = nvml.FEATURE_ENABLED, "on"
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("cannot switch persistence mode of %s %s: %w", d.id.Name, word, err)
	}
	if err := do(d.lib, "nvmlDeviceSetPersistenceMode", func() nvml.Return { return d.card.SetPersistenceMode(mode) }); err != nil {
		return fmt.Errorf("cannot switch persistence mode of %s (%s) %s: %w", d.id.Name, d.id.UUID, word, err)
	}
	return nil
}
