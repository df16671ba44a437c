package amd

import (
	"cmp"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device/host"
)

// node is a device that ROCm computes on.
type node struct {
	path  string // folder of the node
	gpuID string // by which the driver lists the processes of the device
	props map[string]uint64
}

// vendorAMD is AMD's number among the vendors of PCI devices.
const vendorAMD = 0x1002

// readNode reads a node. It returns false for a CPU, for a device of another vendor, and for a device that a
// container may not use, whose properties cannot be read.
func readNode(sys host.System, path string) (node, bool) {
	n := node{path: path, gpuID: sys.Text(path + "/gpu_id"), props: properties(sys.Text(path + "/properties"))}
	id, err := strconv.ParseUint(n.gpuID, 10, 32)
	return n, err == nil && id != 0 && n.props["vendor_id"] == vendorAMD
}

// properties parses lines of a name and a number.
func properties(text string) map[string]uint64 {
	props := map[string]uint64{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseUint(value, 10, 64); err == nil {
			props[name] = n
		}
	}
	return props
}

// pci returns the address of the card: 0000:c1:00.0.
func (n node) pci() string {
	at := n.props["location_id"]
	return fmt.Sprintf("%04x:%02x:%02x.%x", n.props["domain"]&0xffff, at>>8&0xff, at>>3&0x1f, at&7)
}

// dir returns the folder with the files of the card.
func (n node) dir() string {
	return fmt.Sprintf("sys/class/drm/renderD%d/device", n.props["drm_render_minor"])
}

// arch returns the architecture as compilers spell it: 90402 is gfx942, and 90010 gfx90a.
func (n node) arch() string {
	v := n.props["gfx_target_version"]
	if v == 0 || v > 999999 {
		return ""
	}
	return fmt.Sprintf("gfx%d%x%x", v/10000, v/100%100, v%100)
}

func identity(sys host.System, n node, index int) gpu.Identity {
	dir := n.dir()
	id := gpu.Identity{
		Kind: gpu.AMD, Index: index, Name: name(sys, n), UUID: uuid(sys, n),
		VBIOS: word(sys.Text(dir + "/vbios_version")), Driver: driver(sys), ComputeCapability: n.arch(),
		MemoryBytes: int64(count(sys, dir+"/mem_info_vram_total")), CacheBytes: lastCache(sys, n),
		MaxClockMHz: int(max(float64(n.props["max_engine_clk_fcompute"]), topClock(sys.Text(dir+"/pp_dpm_sclk")))),
	}
	if per := n.props["simd_per_cu"]; per > 0 {
		id.Units = int(n.props["simd_count"] / per)
	}
	return id
}

// uuid returns the name by which ROCm selects the card. Without one, the card is named by its place.
func uuid(sys host.System, n node) string {
	id := strings.ToLower(sys.Text(n.dir() + "/unique_id"))
	if _, err := strconv.ParseUint(id, 16, 64); err == nil && len(id) <= 16 {
		return "GPU-" + id
	}
	return "PCI-" + strings.NewReplacer(":", "-", ".", "-").Replace(n.pci())
}

// names are the files in which libdrm lists cards by number and revision; ROCm names cards by them.
var names = []string{"usr/share/libdrm/amdgpu.ids", "opt/amdgpu/share/libdrm/amdgpu.ids"}

func name(sys host.System, n node) string {
	dir := n.dir()
	device, revision := hex(sys.Text(dir+"/device")), hex(sys.Text(dir+"/revision"))
	for _, file := range names {
		for line := range strings.Lines(sys.Text(file)) {
			f := strings.SplitN(line, ",", 3)
			if len(f) == 3 && device != "" && hex(f[0]) == device && hex(f[1]) == revision {
				return word(f[2])
			}
		}
	}
	return cmp.Or(word(sys.Text(dir+"/product_name")), strings.TrimSpace("AMD GPU "+n.arch()))
}

// hex returns the digits of a number without the forms in which files differ: 0x74A1, 74a1.
func hex(text string) string {
	return strings.TrimPrefix(strings.ToLower(strings.TrimSpace(text)), "0x")
}

// word bounds a text of a file that is not ours, and keeps it on one line.
func word(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	return text[:min(len(text), 200)]
}

// driver returns the version of the driver or, if it is the kernel's own, that of the kernel.
func driver(sys host.System) string {
	if v := word(sys.Text("sys/module/amdgpu/version")); v != "" {
		return v
	}
	return strings.TrimSpace("linux " + word(sys.Text("proc/sys/kernel/osrelease")))
}

// lastCache returns the size of the last cache before memory, in bytes: the Infinity Cache where there is one.
func lastCache(sys host.System, n node) int64 {
	files, _ := fs.Glob(sys, n.path+"/caches/[0-9]*/properties")
	var level, kib uint64
	for _, f := range files {
		c := properties(sys.Text(f))
		switch {
		case c["level"] > level:
			level, kib = c["level"], c["size"]
		case c["level"] == level:
			kib = max(kib, c["size"])
		}
	}
	return int64(min(kib, 1<<30)) << 10
}
