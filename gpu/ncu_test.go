package gpu_test

import (
	"bufio"
	"encoding/csv"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/gpu"
)

// kernel is what a report of Nsight Compute says of one launch, in the units of gpu.
type kernel struct {
	arch      string
	launch    gpu.Launch
	limits    limits
	occupancy float64 // in percent
}

// The limits are those of a real profile of an L4: 168 registers leave room for one
// block; and so does shared memory, because the driver set 64 KB aside. With all of the
// SM's 100 KB it would be three.
func TestOccupancyOfTheL4Report(t *testing.T) {
	k := detailsReport(t, filepath.Join(data(t), "ncu", "bsr_spmm_l4_details.txt"))
	want := kernel{
		"8.9",
		gpu.Launch{Threads: 256, Registers: 168, StaticShared: 32768, Carveout: 65536},
		limits{24, 6, 1, 1},
		16.67,
	}
	if k != want {
		t.Fatalf("read %+v, want %+v", k, want)
	}
	k.check(t, k.launch)
	k.launch.Carveout = 0
	o, err := find(t, k.arch).Occupancy(k.launch)
	if err != nil {
		t.Fatal(err)
	}
	if got := limitOf(o, gpu.LimitShared); got != 3 {
		t.Errorf("with the largest carve-out shared memory allows %d blocks, want 3", got)
	}
}

// The limits are those of 18 real reports, written by versions from 2020 to 2024.
func TestOccupancyOfRealReports(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(data(t), "ncu", "real", "*.raw.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 18 {
		t.Fatalf("%d reports, want 18", len(files))
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".raw.csv")
		t.Run(name, func(t *testing.T) {
			kernels := rawReport(t, file)
			for _, k := range kernels {
				launch := k.launch
				if strings.HasPrefix(name, "monte-carlo") || strings.HasPrefix(name, "speedy_scan") {
					launch.Carveout = 0 // older versions print the limit of the largest carve-out, not of the one in force
				}
				k.check(t, launch)
			}
			t.Logf("%d kernels", len(kernels))
		})
	}
}

func (k kernel) check(t *testing.T, launch gpu.Launch) {
	t.Helper()
	o, err := find(t, k.arch).Occupancy(launch)
	if err != nil {
		t.Fatal(err)
	}
	got := limits{limitOf(o, gpu.LimitBlocks), limitOf(o, gpu.LimitWarps), limitOf(o, gpu.LimitRegisters), limitOf(o, gpu.LimitShared)}
	if got.shared < 0 {
		got.shared = got.blocks // that is how a report says "no limit"
	}
	if got != k.limits {
		t.Errorf("%s %+v: limits %+v, the report says %+v", k.arch, launch, got, k.limits)
	}
	if math.Abs(100*o.Occupancy-k.occupancy) > 0.005 {
		t.Errorf("%s %+v: occupancy %.2f %%, the report says %.2f %%", k.arch, launch, 100*o.Occupancy, k.occupancy)
	}
}

func data(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("PAWL_DATA")
	if folder == "" {
		t.Skip("PAWL_DATA is not set")
	}
	return folder
}

// detailsReport reads the text page of a report on one kernel: the averages in it.
func detailsReport(t *testing.T, file string) kernel {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	values := map[string]float64{}
	var arch string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if _, cc, ok := strings.Cut(line, ", CC "); ok {
			arch, _, _ = strings.Cut(cc, ",")
		}
		words := strings.Fields(line)
		if len(words) < 4 {
			continue
		}
		v, err := strconv.ParseFloat(words[len(words)-1], 64)
		if err != nil {
			continue
		}
		name := strings.Join(words[:len(words)-3], " ")
		if before, ok := strings.CutSuffix(name, " Kbyte/block"); ok {
			name, v = before, kilo(v)
		}
		if before, ok := strings.CutSuffix(name, " Kbyte"); ok {
			name, v = before, kilo(v)
		}
		for _, unit := range []string{" block", " byte/block", " register/thread", " %"} {
			name = strings.TrimSuffix(name, unit)
		}
		values[name] = v
	}
	n := func(name string) int {
		v, ok := values[name]
		if !ok {
			t.Fatalf("%s: no %q", file, name)
		}
		return int(v)
	}
	return kernel{
		arch,
		gpu.Launch{
			Threads: n("Block Size"), Registers: n("Registers Per Thread"), StaticShared: n("Static Shared Memory Per Block"),
			DynamicShared: n("Dynamic Shared Memory Per Block"), Carveout: n("Shared Memory Configuration Size"),
		},
		limits{n("Block Limit SM"), n("Block Limit Warps"), n("Block Limit Registers"), n("Block Limit Shared Mem")},
		values["Theoretical Occupancy"],
	}
}

// kilo is bytes of thousands of them, printed with two digits: memory comes in 16s.
func kilo(v float64) float64 { return math.Round(v*1000/16) * 16 }

// rawReport reads the kernels of a raw page: names, units, then a row for each.
func rawReport(t *testing.T, file string) []kernel {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows := csv.NewReader(f)
	rows.FieldsPerRecord = -1
	var names, units []string
	var list []kernel
	for {
		row, err := rows.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case names == nil && row[0] == "ID":
			names = row
		case names != nil && units == nil:
			units = row
		case names != nil:
			list = append(list, rawKernel(t, names, units, row))
		}
	}
	if len(list) == 0 {
		t.Fatalf("%s: no kernel", file)
	}
	return list
}

func rawKernel(t *testing.T, names, units, row []string) kernel {
	t.Helper()
	value := func(name string) (string, float64) {
		for i := range names {
			if names[i] != name {
				continue
			}
			scale := 1.0
			if strings.HasPrefix(units[i], "K") {
				scale = 1000
			}
			return row[i], scale
		}
		t.Fatalf("no %s", name)
		return "", 0
	}
	n := func(name string) int {
		text, scale := value(name)
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return int(math.Round(v * scale))
	}
	cc, _ := value("CC")
	occupancy, _ := value("sm__maximum_warps_per_active_cycle_pct")
	percent, err := strconv.ParseFloat(occupancy, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kernel{
		cc,
		gpu.Launch{
			Threads: n("launch__block_size"), Registers: n("launch__registers_per_thread"), StaticShared: n("launch__shared_mem_per_block_static"),
			DynamicShared: n("launch__shared_mem_per_block_dynamic"), Carveout: n("launch__shared_mem_config_size"),
		},
		limits{
			n("launch__occupancy_limit_blocks"), n("launch__occupancy_limit_warps"),
			n("launch__occupancy_limit_registers"), n("launch__occupancy_limit_shared_mem"),
		},
		percent,
	}
}
