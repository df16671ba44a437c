//go:build !cgo || !linux

package nvml

import (
	"context"
	"errors"

	"github.com/goatnote-inc/pawl/gpu"
)

// Available reports that this build cannot load the library.
const Available = false

// Library is a placeholder for the library, which this build cannot load.
type Library struct{}

// Device is a placeholder for a GPU; this build has none.
type Device struct{}

var errNoCgo = errors.New("this pawl was built without cgo, or not for Linux, and cannot load NVIDIA's management library")

// Open always fails, because this build cannot load the library.
func Open(Options) (*Library, error) { return nil, errNoCgo }

// Devices always fails.
func (l *Library) Devices() ([]*Device, error) { return nil, errNoCgo }

// Identity returns an empty identity.
func (d *Device) Identity() gpu.Identity { return gpu.Identity{} }

// State always fails.
func (d *Device) State(context.Context) (gpu.State, error) { return gpu.State{}, errNoCgo }

// LockClocks always fails.
func (d *Device) LockClocks(context.Context, gpu.ClockPolicy) (string, error) { return "", errNoCgo }

// ResetClocks always fails.
func (d *Device) ResetClocks(context.Context) error { return errNoCgo }

// SetPersistence always fails.
func (d *Device) SetPersistence(context.Context, bool) error { return errNoCgo }
