// Package vendor says what a package that reads the GPUs of one vendor must offer.
package vendor

import (
	"context"
	"io/fs"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
)

// Vendor reads the GPUs of one vendor.
type Vendor struct {
	Kind gpu.Kind
	Name string // for messages
	// Visible is the environment variable that names the GPUs that a scheduler assigned to this process.
	Visible string
	// Find returns the GPUs in the driver's order, each card before its slices. The error says in plain
	// words why there are none.
	Find func(context.Context, Machine) (Found, error)
}

// Found holds the GPUs of one vendor.
type Found struct {
	Devices []Device
	Reader  string // how they are read, for messages
	Notices []Notice
}

// Machine is where to look for GPUs.
type Machine struct {
	Root      fs.FS // the machine's files
	LookupEnv func(string) (string, bool)
	SMI       string // path of nvidia-smi, if not on the search path
	// Write writes a file of the machine that exists; name is as in Root.
	Write func(name, text string) error
	Own   func(pid int) bool   // reports whether a process belongs to pawl
	Name  func(pid int) string // names a process
	Now   func() time.Time
}

// Device is a device that kernels run on.
type Device interface {
	Identity() gpu.Identity
	// State reads the current state. With an error, it also returns what could be read.
	State(ctx context.Context) (gpu.State, error)
}

// Notice is a message for the user about a device, and what to do.
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
