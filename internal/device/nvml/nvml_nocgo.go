//go:build !cgo || !linux

package nvml

import (
	"context"
	"errors"

	"github.com/goatnote-inc/pawl/gpu"
)

// Available tells that this build cannot load the library.
const Available = false

// Library stands for the library that this build cannot load.
type Library struct{}

// Device stands for a GPU; there is none in this build.
type Device struct{}

var errNoCgo = errors.New("this pawl was built without cgo, or not for Linux, and cannot load NVIDIA's management library")

// Open says that this build cannot load the library.
func Open(Options) (*Library, error) { return nil, errNoCgo }

// Devices lists no devices.
func (l *Library) Devices() ([]*Device, error) { return nil, errNoCgo }

// Identity is empty.
func (d *Device) Identity() gpu.Identity { return gpu.Identity{} }

// State always fails.
func (d *Device) State(context.Context) (gpu.State, error) { return gpu.State{}, errNoCgo }

// LockClocks always fails.
func (d *Device) LockClocks(context.Context, gpu.ClockPolicy) (string, error) { return "", errNoCgo }

// ResetClocks always fails.
func (d *Device) ResetClocks(context.Context) error { return errNoCgo }

// SetPersistence always fails.
func (d *Device) SetPersistence(context.Context, bool) error { return errNoCgo }
