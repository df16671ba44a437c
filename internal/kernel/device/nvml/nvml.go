//go:build cgo && linux

package nvml

import (
	"fmt"
	"sync"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/goatnote-inc/pawl/gpu"
)

// Available reports that this build can load the library.
const Available = true

// Library is NVIDIA's management library, loaded and initialized.
type Library struct {
	*binding
	opts Options

	driver, cuda string
}

// binding holds the per-process state of go-nvml.
type binding struct {
	api nvml.Interface
	has map[string]bool // which of the symbols we call this library has
}

// opened holds the library for each path. It is never unloaded: go-nvml would
// change its globals while others read them. An initialized library also keeps the
// driver, and so the locked clocks, loaded while pawl runs.
var opened struct {
	sync.Mutex
	by map[string]*binding
}

// Open loads and initializes the library. Its error says in plain words why no
// NVIDIA GPUs are visible.
func Open(opts Options) (*Library, error) {
	b, err := open(opts.Library)
	if err != nil {
		return nil, err
	}
	l := &Library{binding: b, opts: opts}
	l.driver, _ = ask(l, "nvmlSystemGetDriverVersion", l.api.SystemGetDriverVersion)
	if v, ret := ask(l, "nvmlSystemGetCudaDriverVersion_v2", l.api.SystemGetCudaDriverVersion_v2); ret == nvml.SUCCESS && v > 0 {
		l.cuda = fmt.Sprintf("%d.%d", v/1000, v%1000/10)
	}
	return l, nil
}

func open(path string) (*binding, error) {
	opened.Lock()
	defer opened.Unlock()
	if b := opened.by[path]; b != nil {
		return b, nil
	}
	var options []nvml.LibraryOption
	if path != "" {
		options = append(options, nvml.WithLibraryPath(path))
	}
	b := &binding{api: nvml.New(options...), has: map[string]bool{}}
	if ret := b.api.Init(); ret != nvml.SUCCESS {
		return nil, openError(path, ret)
	}
	for _, name := range symbols {
		b.has[name] = b.api.Extensions().LookupSymbol(name) == nil
	}
	if opened.by == nil {
		opened.by = map[string]*binding{}
	}
	opened.by[path] = b
	return b, nil
}

// Devices lists every GPU and every MIG slice, each card before its slices. A
// card that cannot be read is left out and named in the error; the others are returned.
func (l *Library) Devices() ([]*Device, error) {
	count, ret := ask(l, "nvmlDeviceGetCount_v2", l.api.DeviceGetCount)
	if ret != nvml.SUCCESS {
		return nil, fmt.Errorf("cannot count the NVIDIA GPUs: %w", &callError{"nvmlDeviceGetCount", ret})
	}
	var devices []*Device
	var failed []error
	for index := range count {
		handle, ret := l.api.DeviceGetHandleByIndex(index)
		if ret != nvml.SUCCESS {
			failed = append(failed, fmt.Errorf("NVIDIA GPU %d: %w", index, &callError{"nvmlDeviceGetHandleByIndex", ret}))
			continue
		}
		card := l.card(index, handle)
		devices = append(devices, card)
		devices = append(devices, l.slices(card)...)
	}
	return devices, joined(failed)
}

// card reads the constant properties of a GPU.
func (l *Library) card(index int, h nvml.Device) *Device {
	id := gpu.Identity{Kind: gpu.NVIDIA, Index: index, Driver: l.driver, CUDA: l.cuda}
	id.Name, _ = ask(l, "nvmlDeviceGetName", h.GetName)
	id.UUID, _ = ask(l, "nvmlDeviceGetUUID", h.GetUUID)
	id.VBIOS, _ = ask(l, "nvmlDeviceGetVbiosVersion", h.GetVbiosVersion)
	cc, ret := ask(l, "nvmlDeviceGetCudaComputeCapability", func() (capability, nvml.Return) {
		major, minor, ret := h.GetCudaComputeCapability()
		return capability{major, minor}, ret
	})
	if ret == nvml.SUCCESS {
		id.ComputeCapability = cc.String()
	}
	if n, ret := ask(l, "nvmlDeviceGetNumGpuCores", h.GetNumGpuCores); ret == nvml.SUCCESS && cc.coresPerSM() > 0 {
		id.Units = n / cc.coresPerSM()
	}
	if m, ret := ask(l, "nvmlDeviceGetMemoryInfo", h.GetMemoryInfo); ret == nvml.SUCCESS {
		id.MemoryBytes = int64(m.Total)
	}
	return &Device{lib: l, id: id, card: h, part: h}
}

// slices lists the MIG slices of a card: none if MIG is off or unknown.
func (l *Library) slices(card *Device) []*Device {
	if mode, ret := card.mig(); ret != nvml.SUCCESS || mode != nvml.DEVICE_MIG_ENABLE {
		return nil
	}
	most, ret := ask(l, "nvmlDeviceGetMaxMigDeviceCount", card.card.GetMaxMigDeviceCount)
	if ret != nvml.SUCCESS || !l.has["nvmlDeviceGetMigDeviceHandleByIndex"] {
		return nil
	}
	var found []*Device
	for i := range min(most, maxSlices) {
		h, ret := card.card.GetMigDeviceHandleByIndex(i)
		if ret != nvml.SUCCESS {
			continue // the numbering of slices may have gaps
		}
		id := card.id
		id.Parent, id.Index = card.id.UUID, i
		id.Units, id.MemoryBytes = 0, 0
		id.UUID, _ = ask(l, "nvmlDeviceGetUUID", h.GetUUID)
		if name, ret := ask(l, "nvmlDeviceGetName", h.GetName); ret == nvml.SUCCESS {
			id.Name = name
		}
		if a, ret := ask(l, "nvmlDeviceGetAttributes_v2", h.GetAttributes); ret == nvml.SUCCESS {
			id.Units = int(a.MultiprocessorCount)
		}
		if m, ret := ask(l, "nvmlDeviceGetMemoryInfo", h.GetMemoryInfo); ret == nvml.SUCCESS {
			id.MemoryBytes = int64(m.Total)
		}
		found = append(found, &Device{lib: l, id: id, card: card.card, part: h})
	}
	return found
}

// maxSlices bounds the number a driver may report; today a card has at most seven.
const maxSlices = 64

type capability struct{ major, minor int }

func (c capability) String() string { return fmt.Sprintf("%d.%d", c.major, c.minor) }

// coresPerSM converts NVML's core count to streaming multiprocessors, which NVML does
// not report for a whole card.
func (c capability) coresPerSM() int {
	switch {
	case c.major == 7, c == capability{8, 0}:
		return 64
	case c.major >= 8 && c.major <= 12:
		return 128
	default:
		return 0
	}
}
