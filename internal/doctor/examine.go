package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/internal/kernel/device/host"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// Options describe what to examine.
type Options struct {
	SuiteFile string // commands run in its folder; the file need not exist
	Results   string // folder of the records
	Version   string // version of pawl
	NoHarness bool   // start no harness, because its code is not trusted

	// The machine. Zero values mean this one.
	Root    fs.FS                                           // its file system
	Path    string                                          // search path for programs
	Devices func(context.Context) (device.Inventory, error) // its devices to measure on
	Free    func(folder string) (bytes int64, err error)    // free space on a disk
	LockDir string                                          // see device.LockOptions
	Now     func() time.Time
}

func (o Options) filled() Options {
	if o.Root == nil {
		o.Root = os.DirFS("/")
	}
	if o.Path == "" {
		o.Path = os.Getenv("PATH")
	}
	if o.Devices == nil {
		o.Devices = func(ctx context.Context) (device.Inventory, error) { return device.List(ctx, device.Options{}) }
	}
	if o.Free == nil {
		o.Free = freeBytes
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Examine runs every check. An error means that the examination failed, not the machine.
func Examine(ctx context.Context, o Options) (Report, error) {
	e := &exam{Options: o.filled()}
	if err := e.gather(ctx); err != nil {
		return Report{}, fmt.Errorf("cannot examine this machine: %w", err)
	}
	var r Report
	for _, c := range checks {
		for _, f := range c.ask(ctx, e) {
			f.Group, f.Message = c.group, printable(f.Message)
			r.Findings = append(r.Findings, f)
		}
		if err := ctx.Err(); err != nil {
			return Report{}, fmt.Errorf("cannot examine this machine: %w", context.Cause(ctx))
		}
	}
	return r, nil
}

// checks lists every check. A check returns no finding if its question does not apply.
var checks = []struct {
	group Group
	ask   func(context.Context, *exam) []Finding
}{
	{Machine, processor},
	{Machine, virtual},
	{Machine, governor},
	{Machine, turbo},
	{Machine, cpuLimit},
	{Machine, load},
	{Machine, clockSource},

	{Device, driver},
	{Device, gpus},
	{Device, selected},
	{Device, clocks},
	{Device, persistence},
	{Device, settings},
	{Device, otherProcesses},
	{Device, temperature},
	{Device, lock},

	{Toolchain, git},
	{Toolchain, tools},
	{Toolchain, profiler},

	{Suite, suiteFile},
	{Suite, results},
	{Suite, interrupted},

	{Harness, programs},
	{Harness, protocol},
}

// exam holds the input of the checks: everything that needs I/O is read once.
type exam struct {
	Options
	sys system

	suite    *suite.Suite // nil if unreadable; includes the cases listed by the harness, if it was asked
	suiteErr error

	inv       device.Inventory
	cpu       reading       // the host
	dev       device.Device // the one to measure on; nil if there is none
	devErr    error         // why there is none
	chosen    reading       // state of dev
	lockState device.LockStatus
	lockErr   error

	harnessChecks []harnessCheck
}

// reading is the current state of a device.
type reading struct {
	id    gpu.Identity
	state gpu.State
	err   error // why it could not be read completely
}

func read(ctx context.Context, d device.Device) reading {
	r := reading{id: d.Identity()}
	r.state, r.err = d.State(ctx)
	return r
}

// gather reads the input of the checks.
func (e *exam) gather(ctx context.Context) (err error) {
	e.sys = system{host.System{FS: e.Root}}
	e.suite, e.suiteErr = suite.Load(e.SuiteFile)
	if e.inv, err = e.Devices(ctx); err != nil {
		return err
	}
	for _, d := range e.inv.Devices {
		if d.Identity().Kind == gpu.CPU {
			e.cpu = read(ctx, d)
		}
	}
	want := e.wanted()
	if e.dev, e.devErr = e.inv.Select(want.Kind, want.Select); e.dev != nil {
		e.chosen = read(ctx, e.dev)
		e.lockState, e.lockErr = device.Inspect(e.dev, device.LockOptions{Dir: e.LockDir})
		e.greetHarnesses(ctx)
	}
	return nil
}

// wanted returns the suite's requirements for the device; none without a suite.
func (e *exam) wanted() suite.Device {
	if e.suite == nil {
		return suite.Device{}
	}
	return e.suite.Device
}

// dir returns the folder in which the suite's commands run.
func (e *exam) dir() string { return filepath.Dir(e.SuiteFile) }

// onHost reports whether the kernels run on the host's CPU.
func (e *exam) onHost() bool { return e.dev != nil && e.chosen.id.Kind == gpu.CPU }

// hostOnly lowers a warning about the host to a note if kernels run on a
// GPU, where the host only launches them.
func (e *exam) hostOnly(f Finding) []Finding {
	if f.State == Warn && !e.onHost() {
		f.State = Note
	}
	return []Finding{f}
}
