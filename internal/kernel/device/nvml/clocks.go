//go:build linux && (amd64 || arm64)

package nvml

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/goatnote-inc/pawl/gpu"
)

// tdp is the symbolic base clock. NVML calls it TDP: the clock that the card sustains
// at its power cap.
const tdp = 0xffffff01

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
		top, ret := d.lib.numberOf("nvmlDeviceGetMaxClockInfo", d.card, clockSM)
		if err = checkClock("nvmlDeviceGetMaxClockInfo", top, ret); err == nil {
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
	if !ok || answer.ret != codeInvalidArgument && answer.ret != codeNotSupported {
		return "", err
	}
	var mhz uint32
	ret := d.lib.call("nvmlDeviceGetClock", uintptr(d.card), clockSM, clockAppDefault, uintptr(unsafe.Pointer(&mhz)))
	if checkClock("nvmlDeviceGetClock", mhz, ret) != nil {
		return "", err
	}
	if err := d.lock(mhz); err != nil {
		return "", err
	}
	return fmt.Sprintf("this driver does not support the base clock by name; the clocks are locked to the default application clock, %d MHz, instead", mhz), nil
}

func (d *Device) lockFixed(mhz int) error {
	top, ret := d.lib.numberOf("nvmlDeviceGetMaxClockInfo", d.card, clockSM)
	if ret == success && int64(mhz) > int64(top) {
		return fmt.Errorf("the max SM clock of this device is %d MHz: choose a lower one", top)
	}
	return d.lock(uint32(mhz))
}

func (d *Device) lock(mhz uint32) error {
	return d.lib.set("nvmlDeviceSetGpuLockedClocks", uintptr(d.card), uintptr(mhz), uintptr(mhz))
}

// checkClock returns an error if a clock could not be read, or is 0.
func checkClock(symbol string, mhz uint32, ret code) error {
	switch {
	case ret != success:
		return &callError{symbol, ret}
	case mhz == 0:
		return fmt.Errorf("%s returned 0 MHz: %w", symbol, errors.ErrUnsupported)
	default:
		return nil
	}
}

// ResetClocks unlocks the clocks.
func (d *Device) ResetClocks(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("cannot unlock the clocks of %s: %w", d.id.Name, err)
	}
	if err := d.lib.set("nvmlDeviceResetGpuLockedClocks", uintptr(d.card)); err != nil {
		return fmt.Errorf("cannot unlock the clocks of %s (%s): %w", d.id.Name, d.id.UUID, err)
	}
	return nil
}

// SetPersistence sets whether the driver stays loaded while the device is not in use.
func (d *Device) SetPersistence(ctx context.Context, on bool) error {
	mode, word := uintptr(0), "off"
	if on {
		mode, word = enabled, "on"
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("cannot switch persistence mode of %s %s: %w", d.id.Name, word, err)
	}
	if err := d.lib.set("nvmlDeviceSetPersistenceMode", uintptr(d.card), mode); err != nil {
		return fmt.Errorf("cannot switch persistence mode of %s (%s) %s: %w", d.id.Name, d.id.UUID, word, err)
	}
	return nil
}
