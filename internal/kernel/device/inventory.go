package device

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/goatnote-inc/pawl/internal/kernel/device/host"
	"github.com/goatnote-inc/pawl/internal/kernel/device/nvml"
	"github.com/goatnote-inc/pawl/internal/kernel/device/smi"
)

// Environment variables that List reads.
const (
	libraryVar = "PAWL_NVML_LIBRARY"    // the file to load instead of libnvidia-ml.so.1
	visibleVar = "CUDA_VISIBLE_DEVICES" // the GPUs that a scheduler assigned to this process
)

// Options say where to look for devices. The zero value means this machine.
type Options struct {
	Root      fs.FS                       // the machine's files; nil means "/"
	LookupEnv func(string) (string, bool) // nil means os.LookupEnv
	SMI       string                      // path of nvidia-smi, if not on the search path
	Own       func(pid int) bool          // reports whether a process belongs to pawl; nil means this process and its descendants
	Now       func() time.Time            // nil means time.Now
}

// Inventory holds the devices of a machine.
type Inventory struct {
	// Devices holds the GPUs in the driver's order, each card before its slices,
	// then the host CPU.
	Devices []Device
	// Reader is how the GPUs are read: "nvml", "nvidia-smi", or empty.
	Reader string
	// NoNVIDIA says in plain words why there is no NVIDIA GPU; empty if there is one.
	NoNVIDIA string
	// Notices lists devices that could not be read.
	Notices []Notice

	visible    string // the GPUs that this process may use
	visibleSet bool
}

// List returns the devices of this machine. A missing GPU, driver or library is not
// an error: Inventory says what is missing.
func List(ctx context.Context, opts Options) (Inventory, error) {
	if err := ctx.Err(); err != nil {
		return Inventory{}, fmt.Errorf("cannot list the devices of this machine: %w", err)
	}
	opts = opts.filled()
	var inv Inventory
	inv.visible, inv.visibleSet = opts.LookupEnv(visibleVar)
	inv.addNVIDIA(ctx, opts)
	if err := ctx.Err(); err != nil {
		return Inventory{}, fmt.Errorf("cannot list the devices of this machine: %w", err)
	}
	inv.Devices = append(inv.Devices, host.Open(opts.Root, opts.Now))
	return inv, nil
}

func (o Options) filled() Options {
	if o.Root == nil {
		o.Root = os.DirFS("/")
	}
	if o.LookupEnv == nil {
		o.LookupEnv = os.LookupEnv
	}
	if o.Own == nil {
		o.Own = host.OpenProcesses(o.Root, os.Getpid()).Own
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// addNVIDIA reads the GPUs through the library, or through nvidia-smi if the library
// cannot be loaded.
func (inv *Inventory) addNVIDIA(ctx context.Context, opts Options) {
	name := host.OpenProcesses(opts.Root, os.Getpid()).Name
	libErr := inv.addLibrary(opts, name)
	if libErr == nil {
		return
	}
	tool, err := smi.Open(smi.Options{Path: opts.SMI, Own: opts.Own, Name: name, Now: opts.Now})
	if err == nil {
		var devices []*smi.Device
		if devices, err = tool.Devices(ctx); err == nil {
			inv.add("nvidia-smi", asDevices(devices))
			inv.Notices = append(inv.Notices, Notice{
				Code:    "nvidia_smi",
				Message: fmt.Sprintf("GPUs are read through nvidia-smi, which is slow: %v", libErr),
			})
			return
		}
	}
	if nvml.Available {
		err = libErr // nvidia-smi needs the library too, so the library's error is the root cause
	}
	inv.NoNVIDIA = err.Error()
}

func (inv *Inventory) addLibrary(opts Options, name func(pid int) string) error {
	path, _ := opts.LookupEnv(libraryVar)
	lib, err := nvml.Open(nvml.Options{Library: path, Own: opts.Own, Name: name, Now: opts.Now})
	if err != nil {
		return err
	}
	devices, err := lib.Devices()
	if err != nil {
		inv.Notices = append(inv.Notices, Notice{Code: "gpu_unreadable", Message: err.Error()})
	}
	inv.add("nvml", asDevices(devices))
	return nil
}

func (inv *Inventory) add(reader string, devices []Device) {
	inv.Reader = reader
	inv.Devices = append(inv.Devices, devices...)
	if len(devices) == 0 {
		inv.NoNVIDIA = "the NVIDIA driver is loaded but reports no readable GPU: check \"nvidia-smi\" and the kernel log"
	}
}

func asDevices[D Device](list []D) []Device {
	devices := make([]Device, len(list))
	for i, d := range list {
		devices[i] = d
	}
	return devices
}
