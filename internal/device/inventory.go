package device

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/goatnote-inc/pawl/internal/device/host"
	"github.com/goatnote-inc/pawl/internal/device/nvml"
	"github.com/goatnote-inc/pawl/internal/device/smi"
)

// Variables of the environment that List reads.
const (
	libraryVar = "PAWL_NVML_LIBRARY"    // the file to load instead of libnvidia-ml.so.1
	visibleVar = "CUDA_VISIBLE_DEVICES" // which GPUs a scheduler left to this process
)

// Options say where to look for devices. The zero value looks at this machine.
type Options struct {
	Root      fs.FS                       // the machine's files; nil means "/"
	LookupEnv func(string) (string, bool) // nil means os.LookupEnv
	SMI       string                      // the program nvidia-smi, when not on the search path
	Own       func(pid int) bool          // whose processes are no strangers; nil means this process and those it started
	Now       func() time.Time            // nil means time.Now
}

// Inventory is what a machine has.
type Inventory struct {
	// Devices holds the GPUs in the driver's order, each card before its slices,
	// and last the host CPU.
	Devices []Device
	// Reader is how the GPUs are read: "nvml", "nvidia-smi", or empty.
	Reader string
	// NoNVIDIA says in plain words why there is no NVIDIA GPU; empty where there is one.
	NoNVIDIA string
	// Notices tells of devices that could not be read.
	Notices []Notice

	visible    string // of the GPUs, those that this process may use
	visibleSet bool
}

// List finds the devices of this machine. A machine without a GPU, a driver or a
// library is not an error: Inventory says what is missing.
func List(ctx context.Context, opts Options) (Inventory, error) {
	if err := ctx.Err(); err != nil {
		return Inventory{}, fmt.Errorf("listing the devices of this machine: %w", err)
	}
	opts = opts.filled()
	var inv Inventory
	inv.visible, inv.visibleSet = opts.LookupEnv(visibleVar)
	inv.addNVIDIA(ctx, opts)
	if err := ctx.Err(); err != nil {
		return Inventory{}, fmt.Errorf("listing the devices of this machine: %w", err)
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

// addNVIDIA reads the GPUs through the library, or, where that cannot be loaded,
// through the program.
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
		err = libErr // the program needs the library too, so the library's reason is the deeper one
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
		inv.NoNVIDIA = "the NVIDIA driver is loaded and shows no GPU that can be read: look at \"nvidia-smi\" and the kernel log"
	}
}

func asDevices[D Device](list []D) []Device {
	devices := make([]Device, len(list))
	for i, d := range list {
		devices[i] = d
	}
	return devices
}
