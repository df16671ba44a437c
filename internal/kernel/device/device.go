package device

import (
	"context"
	"errors"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device/amd"
	"github.com/goatnote-inc/pawl/internal/kernel/device/host"
	"github.com/goatnote-inc/pawl/internal/kernel/device/nvml"
	"github.com/goatnote-inc/pawl/internal/kernel/device/smi"
	"github.com/goatnote-inc/pawl/internal/kernel/device/vendor"
)

// Device is a device that kernels run on.
type Device = vendor.Device

// Notice is a message for the user about a device, and what to do.
type Notice = vendor.Notice

// Controller is a device whose clocks pawl can lock. Its errors wrap
// fs.ErrPermission or errors.ErrUnsupported if that is the cause.
type Controller interface {
	Device
	// LockClocks locks the SM clock according to the policy. The note says in plain
	// words what was done if the policy could not be followed exactly.
	LockClocks(ctx context.Context, policy gpu.ClockPolicy) (note string, err error)
	ResetClocks(ctx context.Context) error
	SetPersistence(ctx context.Context, on bool) error
}

var (
	_ Controller = (*nvml.Device)(nil)
	_ Controller = (*smi.Device)(nil)
	_ Controller = (*amd.Device)(nil)
	_ Device     = (*host.Host)(nil)
)

// ErrNoDevice means that the machine does not have the requested device.
var ErrNoDevice = errors.New("no such device")
