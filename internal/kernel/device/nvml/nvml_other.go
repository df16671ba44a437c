//go:build !linux || !(amd64 || arm64)

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

var errNoLoader = errors.New("this pawl cannot load NVIDIA's management library: only builds for Linux on amd64 and arm64 can")

// Open always fails, because this build cannot load the library.
func Open(Options) (*Library, error) { return nil, errNoLoader }

// Devices always fails.
func (l *Library) Devices() ([]*Device, error) { return nil, errNoLoader }

// Identity returns an empty identity.
func (d *Device) Identity() gpu.Identity { return gpu.Identity{} }

// State always fails.
func (d *Device) State(context.Context) (gpu.State, error) { return gpu.State{}, errNoLoader }

// Getters returns nothing.
func (d *Device) Getters() []Getter { return nil }

// LockClocks always fails.
func (d *Device) LockClocks(context.Context, gpu.ClockPolicy) (string, error) { return "", errNoLoader }

// ResetClocks always fails.
func (d *Device) ResetClocks(context.Context) error { return errNoLoader }

// SetPersistence always fails.
func (d *Device) SetPersistence(context.Context, bool) error { return errNoLoader }
