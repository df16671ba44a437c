package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device/amd"
	"github.com/goatnote-inc/pawl/internal/kernel/device/host"
	"github.com/goatnote-inc/pawl/internal/kernel/device/nvidia"
	"github.com/goatnote-inc/pawl/internal/kernel/device/vendor"
)

// vendors lists the vendors whose GPUs pawl reads, in the order in which a suite that asks for any GPU gets one.
var vendors = []vendor.Vendor{nvidia.Vendor, amd.Vendor}

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
	// Reader is how the GPUs are read, such as "nvml", "nvidia-smi" or "sysfs"; empty if there are none.
	Reader string
	// None says in plain words, by vendor, why there is no GPU of it; nil if there is one.
	None map[gpu.Kind]string
	// Notices lists devices that could not be read.
	Notices []Notice

	visible map[gpu.Kind]string // the GPUs that this process may use, where a variable says so
}

// List returns the devices of this machine. A missing GPU, driver or library is not
// an error: Inventory says what is missing.
func List(ctx context.Context, opts Options) (Inventory, error) {
	if err := ctx.Err(); err != nil {
		return Inventory{}, fmt.Errorf("cannot list the devices of this machine: %w", err)
	}
	write := writeFile
	if opts.Root != nil {
		write = refuseWrite
	}
	opts = opts.filled()
	inv := Inventory{None: map[gpu.Kind]string{}, visible: map[gpu.Kind]string{}}
	m := vendor.Machine{Root: opts.Root, LookupEnv: opts.LookupEnv, SMI: opts.SMI, Write: write, Own: opts.Own, Name: host.OpenProcesses(opts.Root, os.Getpid()).Name, Now: opts.Now}
	for _, v := range vendors {
		inv.add(ctx, v, m)
	}
	if err := ctx.Err(); err != nil {
		return Inventory{}, fmt.Errorf("cannot list the devices of this machine: %w", err)
	}
	inv.Devices = append(inv.Devices, host.Open(opts.Root, opts.Now))
	return inv, nil
}

// writeFile writes a file of this machine that exists, such as a setting of the kernel.
func writeFile(name, text string) error {
	f, err := os.OpenFile("/"+name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// refuseWrite is for files that are not those of this machine.
func refuseWrite(name, _ string) error {
	return fmt.Errorf("cannot write %s: %w", name, errors.ErrUnsupported)
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

func (inv *Inventory) add(ctx context.Context, v vendor.Vendor, m vendor.Machine) {
	if text, set := m.LookupEnv(v.Visible); set {
		inv.visible[v.Kind] = text
	}
	found, err := v.Find(ctx, m)
	if err != nil {
		inv.None[v.Kind] = err.Error()
	}
	inv.Devices, inv.Notices = append(inv.Devices, found.Devices...), append(inv.Notices, found.Notices...)
	inv.Reader = cmp.Or(inv.Reader, found.Reader)
}
