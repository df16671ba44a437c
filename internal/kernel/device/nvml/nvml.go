//go:build linux && (amd64 || arm64)

package nvml

import (
	"fmt"
	"math"
	"sync"
	"unsafe"

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

// opened holds the library for each path. It is never unloaded: an initialized library
// keeps the driver, and so the locked clocks, loaded while pawl runs.
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
	var version [80]byte
	l.driver = line(version[:], l.call("nvmlSystemGetDriverVersion", uintptr(unsafe.Pointer(&version)), uintptr(len(version))))
	var cuda int32
	if ret := l.call("nvmlSystemGetCudaDriverVersion_v2", uintptr(unsafe.Pointer(&cuda))); ret == success && cuda > 0 {
		l.cuda = fmt.Sprintf("%d.%d", cuda/1000, cuda%1000/10)
	}
	return l, nil
}

func open(path string) (*binding, error) {
	opened.Lock()
	defer opened.Unlock()
	if b := opened.by[path]; b != nil {
		return b, nil
	}
	b, ret := load(path)
	if ret != success {
		return nil, openError(path, ret)
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
	var count uint32
	if ret := l.call("nvmlDeviceGetCount_v2", uintptr(unsafe.Pointer(&count))); ret != success {
		return nil, fmt.Errorf("cannot count the NVIDIA GPUs: %w", &callError{"nvmlDeviceGetCount", ret})
	}
	var devices []*Device
	var failed []error
	for index := range int(min(count, maxCards)) {
		var h handle
		if ret := l.call("nvmlDeviceGetHandleByIndex_v2", uintptr(index), uintptr(unsafe.Pointer(&h))); ret != success {
			failed = append(failed, fmt.Errorf("NVIDIA GPU %d: %w", index, &callError{"nvmlDeviceGetHandleByIndex", ret}))
			continue
		}
		card := l.card(index, h)
		devices = append(devices, card)
		devices = append(devices, l.slices(card)...)
	}
	return devices, joined(failed)
}

// card reads the constant properties of a GPU.
func (l *Library) card(index int, h handle) *Device {
	id := gpu.Identity{Kind: gpu.NVIDIA, Index: index, Driver: l.driver, CUDA: l.cuda}
	id.Name, _ = l.text("nvmlDeviceGetName", h)
	id.UUID, _ = l.text("nvmlDeviceGetUUID", h)
	id.VBIOS, _ = l.text("nvmlDeviceGetVbiosVersion", h)
	major, minor, ret := l.pair("nvmlDeviceGetCudaComputeCapability", h)
	cc := capability{int(major), int(minor)}
	if ret == success {
		id.ComputeCapability = cc.String()
	}
	if n, ret := l.number("nvmlDeviceGetNumGpuCores", h); ret == success && cc.coresPerSM() > 0 {
		id.Units = int(n) / cc.coresPerSM()
	}
	id.MemoryBytes = l.memoryBytes(h)
	id.MaxClockMHz = int(l.maxClock(h, clockSM))
	if bits, ret := l.number("nvmlDeviceGetMemoryBusWidth", h); ret == success {
		// Memory transfers twice per clock, in bytes of 8 bits.
		id.BandwidthGBs = math.Round(2 * float64(l.maxClock(h, clockMemory)) * float64(bits) / 8 / 1000)
	}
	return &Device{lib: l, id: id, card: h, part: h}
}

// maxClock returns the highest clock of a domain in MHz; 0 if the device does not report it.
func (l *Library) maxClock(h handle, domain uint32) uint32 {
	mhz, ret := l.numberOf("nvmlDeviceGetMaxClockInfo", h, domain)
	if ret != success {
		return 0
	}
	return mhz
}

// memoryBytes returns the memory of a card or slice; 0 if it is unknown.
func (l *Library) memoryBytes(h handle) int64 {
	var m memory
	if ret := l.call("nvmlDeviceGetMemoryInfo", uintptr(h), uintptr(unsafe.Pointer(&m))); ret != success {
		return 0
	}
	return int64(m.total)
}

// slices lists the MIG slices of a card: none if MIG is off or unknown.
func (l *Library) slices(card *Device) []*Device {
	if mode, _, ret := l.pair("nvmlDeviceGetMigMode", card.card); ret != success || mode != enabled {
		return nil
	}
	count, ret := l.number("nvmlDeviceGetMaxMigDeviceCount", card.card)
	if ret != success {
		return nil
	}
	var found []*Device
	for i := range int(min(count, maxSlices)) {
		h, ret := l.part("nvmlDeviceGetMigDeviceHandleByIndex", card.card, i)
		if ret != success {
			continue // the numbering of slices may have gaps
		}
		id := card.id
		id.Parent, id.Index = card.id.UUID, i
		id.Units, id.MemoryBytes, id.BandwidthGBs = 0, l.memoryBytes(h), 0
		id.UUID, _ = l.text("nvmlDeviceGetUUID", h)
		if name, ret := l.text("nvmlDeviceGetName", h); ret == success {
			id.Name = name
		}
		var a attributes
		if ret := l.call("nvmlDeviceGetAttributes_v2", uintptr(h), uintptr(unsafe.Pointer(&a))); ret == success {
			id.Units = int(a.counts[0])
		}
		found = append(found, &Device{lib: l, id: id, card: card.card, part: h})
	}
	return found
}

// Bounds on what a driver may report; today a card has at most seven slices.
const (
	maxCards  = 1024
	maxSlices = 64
)

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
