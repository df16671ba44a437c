package device

import (
	"context"
	"errors"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/device/host"
	"github.com/goatnote-inc/pawl/internal/device/nvml"
	"github.com/goatnote-inc/pawl/internal/device/smi"
)

// Device is something that kernels run on.
type Device interface {
	Identity() gpu.Identity
	// State reads the device now. With an error comes what could be read.
	State(ctx context.Context) (gpu.State, error)
}

// Controller is a device whose clocks pawl can hold still. Its errors wrap
// fs.ErrPermission or errors.ErrUnsupported where that is the cause.
type Controller interface {
	Device
	// LockClocks holds the SM clock as the policy says; the note tells in plain
	// words what was done where the policy could not be met to the letter.
	LockClocks(ctx context.Context, policy gpu.ClockPolicy) (note string, err error)
	ResetClocks(ctx context.Context) error
	SetPersistence(ctx context.Context, on bool) error
}

var (
	_ Controller = (*nvml.Device)(nil)
	_ Controller = (*smi.Device)(nil)
	_ Device     = (*host.Host)(nil)
)

// Notice is something a person should know about a device, and what to do.
type Notice struct {
	Code    string `json:"code"` // stable: "clocks_denied", "restored", ...
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
}

func (n Notice) String() string {
	if n.Fix == "" {
		return n.Message
	}
	return n.Message + "; " + n.Fix
}

// ErrNoDevice says that the machine has no device as asked for.
var ErrNoDevice = errors.New("no such device")
