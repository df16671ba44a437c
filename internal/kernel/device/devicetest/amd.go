package devicetest

import (
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/kernel/device/vendor"
)

// AMD is a folder with the files of a machine with AMD GPUs, in the forms that the kernel documents.
type AMD struct {
	Dir    string
	Writes []string         // what was written to files, in order: "file: text"
	Errors map[string]error // by the name of a file: why it cannot be written
	t      testing.TB
	cards  int
}

// AMDNow is the time of the machine.
var AMDNow = time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)

// NewAMD makes a machine with a CPU and an MI300X.
func NewAMD(t testing.TB) *AMD {
	t.Helper()
	a := &AMD{Dir: t.TempDir(), Errors: map[string]error{}, t: t}
	a.Set("sys/class/kfd/kfd/topology/nodes/0/gpu_id", "0")
	a.Set("sys/class/kfd/kfd/topology/nodes/0/properties", "cpu_cores_count 96\nsimd_count 0\nvendor_id 0\n")
	a.Set("proc/sys/kernel/osrelease", "6.8.0-45-generic")
	a.Set("usr/share/libdrm/amdgpu.ids", "# List of AMDGPU IDs\n1.0.0\n744C,\tC8,\tAMD Radeon RX 7900 XTX\n74A1,\t00,\tAMD Instinct MI300X\n")
	a.Add(nil)
	return a
}

// Card returns the folder of a card's files.
func (a *AMD) Card(i int) string { return fmt.Sprintf("sys/class/drm/renderD%d/device", 128+i) }

// Add adds an MI300X with other files: names are relative to the card's folder.
func (a *AMD) Add(other map[string]string) {
	a.t.Helper()
	i := a.cards
	a.cards++
	node := fmt.Sprintf("sys/class/kfd/kfd/topology/nodes/%d", i+1)
	a.Set(node+"/gpu_id", fmt.Sprint(1000+i))
	a.Set(node+"/properties", fmt.Sprintf("simd_count 1216\nsimd_per_cu 4\nvendor_id 4098\ndevice_id 29857\ndomain 0\nlocation_id %d\ndrm_render_minor %d\ngfx_target_version 90402\nmax_engine_clk_fcompute 2100\nunique_id 77\n", (5+i)<<8, 128+i))
	a.Set(node+"/caches/0/properties", "level 1\nsize 32\ntype 9\n")
	a.Set(node+"/caches/1/properties", "level 2\nsize 4096\ntype 9\n")
	a.Set(node+"/caches/2/properties", "level 3\nsize 262144\ntype 9\n")
	files := map[string]string{
		"device": "0x74a1", "revision": "0x00", "vbios_version": "113-M3000100-102", "unique_id": fmt.Sprintf("d1f8a3c09b7e42%02X", i),
		"mem_info_vram_total": fmt.Sprint(192 << 30), "mem_info_vram_used": fmt.Sprint(2 << 30), "current_compute_partition": "SPX", "gpu_busy_percent": "97",
		"power_dpm_force_performance_level": "auto", "pp_od_clk_voltage": "OD_SCLK:\n0: 132Mhz\n1: 2100Mhz\n",
		"pp_dpm_sclk": "0: 132Mhz\n1: 1650Mhz *\n2: 2100Mhz\n", "pp_dpm_mclk": "0: 900Mhz\n1: 1300Mhz *\n", "ras/umc_err_count": "ue: 0\nce: 0\n",
		"hwmon/hwmon4/freq1_input": "1652000000", "hwmon/hwmon4/freq2_input": "1300000000", "hwmon/hwmon4/temp1_label": "edge", "hwmon/hwmon4/temp1_input": "48000",
		"hwmon/hwmon4/temp2_label": "junction", "hwmon/hwmon4/temp2_input": "63000", "hwmon/hwmon4/temp2_crit": "100000",
		"hwmon/hwmon4/power1_input": "612000000", "hwmon/hwmon4/power1_cap": "750000000",
	}
	maps.Copy(files, other)
	for name, text := range files {
		a.Set(a.Card(i)+"/"+name, text)
	}
	a.Set(a.Card(i)+"/gpu_metrics", string(AMDTable(8, 1<<16, [5]uint32{})))
}

// Set writes a file.
func (a *AMD) Set(name, text string) {
	a.t.Helper()
	path := filepath.Join(a.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		a.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		a.t.Fatal(err)
	}
}

// Machine returns the machine as package amd sees it. Process 42 is pawl's, and 1001 is a trainer.
func (a *AMD) Machine() vendor.Machine {
	return vendor.Machine{
		Root: os.DirFS(a.Dir), LookupEnv: func(string) (string, bool) { return "", false }, Write: a.write,
		Own:  func(pid int) bool { return pid == 42 },
		Name: func(pid int) string { return map[int]string{1001: "trainer"}[pid] },
		Now:  func() time.Time { return AMDNow },
	}
}

// write sets a file as the driver does: the level is kept, what else is written is only obeyed.
func (a *AMD) write(name, text string) error {
	base := filepath.Base(name)
	if err := a.Errors[base]; err != nil {
		return &os.PathError{Op: "write", Path: name, Err: err}
	}
	a.Writes = append(a.Writes, base+": "+text)
	if base == "power_dpm_force_performance_level" {
		a.Set(name, text)
	}
	return nil
}

// AMDTable returns the driver's table of metrics in version 1.3, 1.6, 1.7 or 1.8. Of version 1.3 the counters are
// the lower and the upper half of the bits.
func AMDTable(version byte, energy uint64, counters [5]uint32) []byte {
	size, energyAt, countersAt := 1400, 24, 44
	switch version {
	case 3:
		size, countersAt = 120, 112
	case 6:
		energyAt, countersAt = 16, 36
	}
	b := make([]byte, size)
	binary.LittleEndian.PutUint16(b, uint16(size))
	b[2], b[3] = 1, version
	binary.LittleEndian.PutUint64(b[energyAt:], energy)
	for i, c := range counters {
		if at := countersAt + 4*i; at+4 <= size {
			binary.LittleEndian.PutUint32(b[at:], c)
		}
	}
	return b
}
