package smi

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// Options describe how to find and read the program.
type Options struct {
	// Path is the program; empty means nvidia-smi on the search path.
	Path string
	// Own reports whether a process belongs to pawl. Such processes are left out of states.
	Own func(pid int) bool
	// Name returns the program that a process runs, or "" if it is not visible on this machine.
	Name func(pid int) string
	// Now is the clock of the readings.
	Now func() time.Time
}

// Tool is the program nvidia-smi.
type Tool struct {
	path string
	opts Options
}

// Open finds the program. Its error says in plain words why no NVIDIA GPUs are
// visible.
func Open(opts Options) (*Tool, error) {
	if opts.Path == "" {
		opts.Path = "nvidia-smi"
	}
	path, err := exec.LookPath(opts.Path)
	if err != nil {
		return nil, errors.New("the program nvidia-smi was not found: no NVIDIA driver is installed, or the container was started without its GPUs")
	}
	return &Tool{path: path, opts: opts}, nil
}

// Devices lists every GPU and every MIG slice, each card before its slices.
func (t *Tool) Devices(ctx context.Context) ([]*Device, error) {
	rows, err := t.query(ctx, "", "index", "uuid", "vbios_version", "driver_version", "compute_cap", "memory.total", "clocks.max.sm", "name")
	switch exitCode(err) {
	case exitDriverNotLoaded:
		return nil, fmt.Errorf("the NVIDIA driver is not loaded: load it with \"sudo modprobe nvidia\", or install it (%w)", err)
	case exitNoLibrary:
		return nil, fmt.Errorf("NVIDIA's management library was not found: the driver installation is incomplete (%w)", err)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot list the NVIDIA GPUs: %w", err)
	}
	cuda := t.cuda(ctx)
	parts := t.slices(ctx)
	var devices []*Device
	for _, r := range rows {
		card := &Device{tool: t, id: gpu.Identity{
			Kind: gpu.NVIDIA, Name: r["name"], UUID: r["uuid"], Index: int(r.number("index")),
			VBIOS: r["vbios_version"], Driver: r["driver_version"], CUDA: cuda,
			ComputeCapability: r["compute_cap"], MemoryBytes: int64(r.number("memory.total")) << 20,
			MaxClockMHz: int(r.number("clocks.max.sm")),
		}}
		devices = append(devices, card)
		for _, s := range parts[card.id.UUID] {
			id := card.id
			id.Parent, id.UUID, id.Index = card.id.UUID, s.uuid, s.index
			id.Name += " " + s.name
			id.MemoryBytes = 0 // the slice's own size is not reported
			devices = append(devices, &Device{tool: t, id: id})
		}
	}
	return devices, nil
}

var cudaVersion = lazyregexp.New(`CUDA Version: *([0-9]+\.[0-9]+)`)

// cuda reads the version from the program's banner, because no query field has it.
func (t *Tool) cuda(ctx context.Context) string {
	out, err := t.run(ctx)
	if m := cudaVersion.FindStringSubmatch(out); err == nil && m != nil {
		return m[1]
	}
	return ""
}

type slice struct {
	index      int
	name, uuid string
}

var (
	cardLine  = lazyregexp.New(`^GPU [0-9]+: .*\(UUID: (GPU-[0-9a-fA-F-]+)\)`)
	sliceLine = lazyregexp.New(`^\s+(MIG \S+)\s+Device\s+([0-9]{1,3}): \(UUID: (MIG-[^)\s]+)\)`)
)

// slices reads the MIG slices from the program's list, by the UUID of their card.
func (t *Tool) slices(ctx context.Context) map[string][]slice {
	out, err := t.run(ctx, "--list-gpus")
	if err != nil {
		return nil
	}
	return parseList(out)
}

func parseList(out string) map[string][]slice {
	found := map[string][]slice{}
	card := ""
	for line := range strings.Lines(out) {
		if m := cardLine.FindStringSubmatch(line); m != nil {
			card = m[1]
		} else if m := sliceLine.FindStringSubmatch(line); m != nil && card != "" {
			found[card] = append(found[card], slice{index: int(row{"i": m[2]}.number("i")), name: m[1], uuid: m[3]})
		}
	}
	return found
}
