package gpu_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/gpu"
)

// limits are those of the SM, of warps, registers and shared memory; -1 for none.
type limits struct{ blocks, warps, registers, shared int }

// Computed by hand, from the tables of NVIDIA's guide. The last column is the
// arithmetic: warps of the SM by warps of the block; registers of a warp, rounded up,
// into a quarter of 65536, times four, by the warps; shared memory with what the driver
// reserves, rounded up, into the carve-out; and the occupancy.
var byHand = []struct {
	arch               string
	threads, registers int
	shared, carveout   int
	limits             limits
	blocks             int
	limiters           string
	arithmetic         string
}{
	{"sm_70", 256, 32, 0, 0, limits{32, 8, 8, -1}, 8, "warps registers", "8 warps: 64/8=8; 32*32 to 1024: 16384/1024=16, *4/8=8; 8*8/64"},
	{"sm_70", 256, 65, 0, 0, limits{32, 8, 3, -1}, 3, "registers", "8 warps: 64/8=8; 65*32 to 2304: 16384/2304=7, *4/8=3; 3*8/64"},
	{"sm_70", 128, 64, 49152, 0, limits{32, 16, 8, 2}, 2, "shared_memory", "4 warps: 64/4=16; 64*32 to 2048: 16384/2048=8, *4/4=8; 49152 to 49152: 98304/49152=2; 2*4/64"},
	{"sm_70", 1024, 64, 98304, 0, limits{32, 2, 1, 1}, 1, "registers shared_memory", "32 warps: 64/32=2; 64*32 to 2048: 16384/2048=8, *4/32=1; 98304 to 98304: 98304/98304=1; 1*32/64"},
	{"sm_70", 96, 40, 1000, 0, limits{32, 21, 16, 96}, 16, "registers", "3 warps: 64/3=21; 40*32 to 1280: 16384/1280=12, *4/3=16; 1000 to 1024: 98304/1024=96; 16*3/64"},
	{"sm_75", 256, 16, 0, 0, limits{16, 4, 16, -1}, 4, "warps", "8 warps: 32/8=4; 16*32 to 512: 16384/512=32, *4/8=16; 4*8/32"},
	{"sm_75", 256, 57, 16384, 0, limits{16, 4, 4, 4}, 4, "warps registers shared_memory", "8 warps: 32/8=4; 57*32 to 2048: 16384/2048=8, *4/8=4; 16384 to 16384: 65536/16384=4; 4*8/32"},
	{"sm_75", 1024, 53, 0, 0, limits{16, 1, 1, -1}, 1, "warps registers", "32 warps: 32/32=1; 53*32 to 1792: 16384/1792=9, *4/32=1; 1*32/32"},
	{"sm_75", 256, 16, 1024, 32768, limits{16, 4, 16, 32}, 4, "warps", "8 warps: 32/8=4; 16*32 to 512: 16384/512=32, *4/8=16; 1024 to 1024: 32768/1024=32; 4*8/32"},
	{"sm_75", 64, 16, 0, 0, limits{16, 16, 64, -1}, 16, "blocks warps", "2 warps: 32/2=16; 16*32 to 512: 16384/512=32, *4/2=64; 16*2/32"},
	{"sm_75", 64, 255, 33000, 0, limits{16, 16, 4, 1}, 1, "shared_memory", "2 warps: 32/2=16; 255*32 to 8192: 16384/8192=2, *4/2=4; 33000 to 33024: 65536/33024=1; 1*2/32"},
	{"sm_80", 256, 32, 0, 0, limits{32, 8, 8, 164}, 8, "warps registers", "8 warps: 64/8=8; 32*32 to 1024: 16384/1024=16, *4/8=8; 1024 to 1024: 167936/1024=164; 8*8/64"},
	{"sm_80", 128, 168, 0, 0, limits{32, 16, 3, 164}, 3, "registers", "4 warps: 64/4=16; 168*32 to 5376: 16384/5376=3, *4/4=3; 1024 to 1024: 167936/1024=164; 3*4/64"},
	{"sm_80", 256, 128, 81920, 0, limits{32, 8, 2, 2}, 2, "registers shared_memory", "8 warps: 64/8=8; 128*32 to 4096: 16384/4096=4, *4/8=2; 82944 to 82944: 167936/82944=2; 2*8/64"},
	{"sm_80", 256, 128, 166912, 0, limits{32, 8, 2, 1}, 1, "shared_memory", "8 warps: 64/8=8; 128*32 to 4096: 16384/4096=4, *4/8=2; 167936 to 167936: 167936/167936=1; 1*8/64"},
	{"sm_80", 384, 64, 20000, 65536, limits{32, 5, 2, 3}, 2, "registers", "12 warps: 64/12=5; 64*32 to 2048: 16384/2048=8, *4/12=2; 21024 to 21120: 65536/21120=3; 2*12/64"},
	{"sm_80", 33, 255, 100, 0, limits{32, 32, 4, 145}, 4, "registers", "2 warps: 64/2=32; 255*32 to 8192: 16384/8192=2, *4/2=4; 1124 to 1152: 167936/1152=145; 4*2/64"},
	{"sm_86", 128, 107, 0, 0, limits{16, 12, 4, 100}, 4, "registers", "4 warps: 48/4=12; 107*32 to 3584: 16384/3584=4, *4/4=4; 1024 to 1024: 102400/1024=100; 4*4/48"},
	{"sm_86", 128, 35, 512, 0, limits{16, 12, 12, 66}, 12, "warps registers", "4 warps: 48/4=12; 35*32 to 1280: 16384/1280=12, *4/4=12; 1536 to 1536: 102400/1536=66; 12*4/48"},
	{"sm_86", 512, 18, 144, 0, limits{16, 3, 5, 80}, 3, "warps", "16 warps: 48/16=3; 18*32 to 768: 16384/768=21, *4/16=5; 1168 to 1280: 102400/1280=80; 3*16/48"},
	{"sm_86", 1024, 32, 0, 0, limits{16, 1, 2, 100}, 1, "warps", "32 warps: 48/32=1; 32*32 to 1024: 16384/1024=16, *4/32=2; 1024 to 1024: 102400/1024=100; 1*32/48"},
	{"sm_86", 64, 32, 4096, 16384, limits{16, 24, 32, 3}, 3, "shared_memory", "2 warps: 48/2=24; 32*32 to 1024: 16384/1024=16, *4/2=32; 5120 to 5120: 16384/5120=3; 3*2/48"},
	{"sm_86", 256, 96, 33792, 0, limits{16, 6, 2, 2}, 2, "registers shared_memory", "8 warps: 48/8=6; 96*32 to 3072: 16384/3072=5, *4/8=2; 34816 to 34816: 102400/34816=2; 2*8/48"},
	{"sm_87", 256, 64, 66560, 0, limits{16, 6, 4, 2}, 2, "shared_memory", "8 warps: 48/8=6; 64*32 to 2048: 16384/2048=8, *4/8=4; 67584 to 67584: 167936/67584=2; 2*8/48"},
	{"sm_89", 256, 168, 32768, 65536, limits{24, 6, 1, 1}, 1, "registers shared_memory", "8 warps: 48/8=6; 168*32 to 5376: 16384/5376=3, *4/8=1; 33792 to 33792: 65536/33792=1; 1*8/48"},
	{"sm_89", 256, 168, 32768, 0, limits{24, 6, 1, 3}, 1, "registers", "8 warps: 48/8=6; 168*32 to 5376: 16384/5376=3, *4/8=1; 33792 to 33792: 102400/33792=3; 1*8/48"},
	{"sm_89", 256, 80, 0, 0, limits{24, 6, 3, 100}, 3, "registers", "8 warps: 48/8=6; 80*32 to 2560: 16384/2560=6, *4/8=3; 1024 to 1024: 102400/1024=100; 3*8/48"},
	{"sm_89", 256, 40, 0, 0, limits{24, 6, 6, 100}, 6, "warps registers", "8 warps: 48/8=6; 40*32 to 1280: 16384/1280=12, *4/8=6; 1024 to 1024: 102400/1024=100; 6*8/48"},
	{"sm_89", 32, 32, 0, 0, limits{24, 48, 64, 100}, 24, "blocks", "1 warps: 48/1=48; 32*32 to 1024: 16384/1024=16, *4/1=64; 1024 to 1024: 102400/1024=100; 24*1/48"},
	{"sm_89", 128, 128, 24576, 0, limits{24, 12, 4, 4}, 4, "registers shared_memory", "4 warps: 48/4=12; 128*32 to 4096: 16384/4096=4, *4/4=4; 25600 to 25600: 102400/25600=4; 4*4/48"},
	{"sm_89", 128, 255, 101376, 0, limits{24, 12, 2, 1}, 1, "shared_memory", "4 warps: 48/4=12; 255*32 to 8192: 16384/8192=2, *4/4=2; 102400 to 102400: 102400/102400=1; 1*4/48"},
	{"sm_89", 160, 72, 7000, 0, limits{24, 9, 5, 12}, 5, "registers", "5 warps: 48/5=9; 72*32 to 2304: 16384/2304=7, *4/5=5; 8024 to 8064: 102400/8064=12; 5*5/48"},
	{"sm_90", 384, 168, 232448, 0, limits{32, 5, 1, 1}, 1, "registers shared_memory", "12 warps: 64/12=5; 168*32 to 5376: 16384/5376=3, *4/12=1; 233472 to 233472: 233472/233472=1; 1*12/64"},
	{"sm_90", 128, 64, 0, 0, limits{32, 16, 8, 228}, 8, "registers", "4 warps: 64/4=16; 64*32 to 2048: 16384/2048=8, *4/4=8; 1024 to 1024: 233472/1024=228; 8*4/64"},
	{"sm_90", 256, 255, 0, 0, limits{32, 8, 1, 228}, 1, "registers", "8 warps: 64/8=8; 255*32 to 8192: 16384/8192=2, *4/8=1; 1024 to 1024: 233472/1024=228; 1*8/64"},
	{"sm_90", 512, 128, 100000, 0, limits{32, 4, 1, 2}, 1, "registers", "16 warps: 64/16=4; 128*32 to 4096: 16384/4096=4, *4/16=1; 101024 to 101120: 233472/101120=2; 1*16/64"},
	{"sm_90", 1024, 32, 0, 0, limits{32, 2, 2, 228}, 2, "warps registers", "32 warps: 64/32=2; 32*32 to 1024: 16384/1024=16, *4/32=2; 1024 to 1024: 233472/1024=228; 2*32/64"},
	{"sm_90", 192, 90, 36000, 135168, limits{32, 10, 3, 3}, 3, "registers shared_memory", "6 warps: 64/6=10; 90*32 to 3072: 16384/3072=5, *4/6=3; 37024 to 37120: 135168/37120=3; 3*6/64"},
	{"sm_100", 256, 64, 50000, 0, limits{32, 8, 4, 4}, 4, "registers shared_memory", "8 warps: 64/8=8; 64*32 to 2048: 16384/2048=8, *4/8=4; 51024 to 51072: 233472/51072=4; 4*8/64"},
	{"sm_100", 128, 200, 114688, 0, limits{32, 16, 2, 2}, 2, "registers shared_memory", "4 warps: 64/4=16; 200*32 to 6400: 16384/6400=2, *4/4=2; 115712 to 115712: 233472/115712=2; 2*4/64"},
	{"sm_100", 64, 24, 3000, 0, limits{32, 32, 42, 57}, 32, "blocks warps", "2 warps: 64/2=32; 24*32 to 768: 16384/768=21, *4/2=42; 4024 to 4096: 233472/4096=57; 32*2/64"},
	{"sm_100", 640, 96, 0, 0, limits{32, 3, 1, 228}, 1, "registers", "20 warps: 64/20=3; 96*32 to 3072: 16384/3072=5, *4/20=1; 1024 to 1024: 233472/1024=228; 1*20/64"},
	{"sm_120", 256, 128, 49152, 0, limits{24, 6, 2, 2}, 2, "registers shared_memory", "8 warps: 48/8=6; 128*32 to 4096: 16384/4096=4, *4/8=2; 50176 to 50176: 102400/50176=2; 2*8/48"},
	{"sm_120", 768, 40, 0, 0, limits{24, 2, 2, 100}, 2, "warps registers", "24 warps: 48/24=2; 40*32 to 1280: 16384/1280=12, *4/24=2; 1024 to 1024: 102400/1024=100; 2*24/48"},
	{"sm_120", 1024, 32, 0, 0, limits{24, 1, 2, 100}, 1, "warps", "32 warps: 48/32=1; 32*32 to 1024: 16384/1024=16, *4/32=2; 1024 to 1024: 102400/1024=100; 1*32/48"},
	{"sm_120", 48, 16, 2000, 8192, limits{24, 24, 64, 2}, 2, "shared_memory", "2 warps: 48/2=24; 16*32 to 512: 16384/512=32, *4/2=64; 3024 to 3072: 8192/3072=2; 2*2/48"},
	{"sm_120", 512, 80, 12000, 0, limits{24, 3, 1, 7}, 1, "registers", "16 warps: 48/16=3; 80*32 to 2560: 16384/2560=6, *4/16=1; 13024 to 13056: 102400/13056=7; 1*16/48"},
}

func TestOccupancyByHand(t *testing.T) {
	archs := map[string]bool{}
	for _, tt := range byHand {
		arch := find(t, tt.arch)
		archs[tt.arch] = true
		o, err := arch.Occupancy(gpu.Launch{Threads: tt.threads, Registers: tt.registers, DynamicShared: tt.shared, Carveout: tt.carveout})
		if err != nil {
			t.Fatal(err)
		}
		got := limits{limitOf(o, gpu.LimitBlocks), limitOf(o, gpu.LimitWarps), limitOf(o, gpu.LimitRegisters), limitOf(o, gpu.LimitShared)}
		if got != tt.limits || o.BlocksPerSM != tt.blocks {
			t.Errorf("%s, %d threads, %d registers, %d bytes: %d blocks of %+v, want %d of %+v: %s",
				tt.arch, tt.threads, tt.registers, tt.shared, o.BlocksPerSM, got, tt.blocks, tt.limits, tt.arithmetic)
		}
		var limiters []gpu.Resource
		for word := range strings.FieldsSeq(tt.limiters) {
			limiters = append(limiters, gpu.Resource(word))
		}
		if diff := cmp.Diff(limiters, o.Limiters); diff != "" {
			t.Errorf("%s: limiters (-want +got):\n%s", tt.arithmetic, diff)
		}
		if want := float64(tt.blocks*((tt.threads+31)/32)) / float64(arch.WarpsPerSM.Value); o.Occupancy != want {
			t.Errorf("%s: occupancy %v, want %v", tt.arithmetic, o.Occupancy, want)
		}
	}
	if len(byHand) < 40 || len(archs) < 6 {
		t.Errorf("%d cases over %d architectures: want 40 over 6", len(byHand), len(archs))
	}
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		name   string
		arch   string
		launch gpu.Launch
		why    string
		raise  string
	}{
		{"threads", "sm_80", gpu.Launch{Threads: 1025, Registers: 32}, "a block can have at most 1024 threads, not 1025", "1024 threads per block would allow 2 blocks (64 warps)"},
		{"registers per thread", "sm_80", gpu.Launch{Threads: 128, Registers: 256}, "a thread can have at most 255 registers, not 256", "255 registers or fewer would allow 2 blocks"},
		// 96 registers in 22 warps would be 67584; the check rounds to 24 warps.
		{"registers of a block", "sm_80", gpu.Launch{Threads: 704, Registers: 96}, "a block can have at most 65536 registers, not 73728", "80 registers or fewer would allow 1 block"},
		{"shared memory", "sm_89", gpu.Launch{Threads: 128, DynamicShared: 99<<10 + 1}, "a block can have at most 101376 bytes of shared memory, not 101377", "99 KB of shared memory or less per block would allow 1 block"},
		{"static shared memory", "sm_89", gpu.Launch{Threads: 128, StaticShared: 50 << 10}, "a block can have at most 49152 bytes of static shared memory, not 51200; more must be dynamic", "dynamic shared memory instead of static would allow 1 block"},
		{"both", "sm_75", gpu.Launch{Threads: 1024, Registers: 80, DynamicShared: 70000}, "a block can have at most 65536 registers, not 81920", "64 registers or fewer and 64 KB of shared memory or less per block would allow 1 block"},
		{"barriers", "sm_90", gpu.Launch{Threads: 128, Barriers: 65}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, err := find(t, tt.arch).Occupancy(tt.launch)
			if err != nil {
				t.Fatal(err)
			}
			if o.BlocksPerSM != 0 || o.Occupancy != 0 {
				t.Errorf("%d blocks, occupancy %v", o.BlocksPerSM, o.Occupancy)
			}
			if tt.why != "" && !slices.Contains(o.Refused, tt.why) {
				t.Errorf("refused because %q, want %q", o.Refused, tt.why)
			}
			if tt.raise != "" && !slices.ContainsFunc(o.Options, func(r gpu.OccupancyOption) bool { return r.Text == tt.raise }) {
				t.Errorf("raises %+v, want %q", o.Options, tt.raise)
			}
		})
	}
}

func TestRaises(t *testing.T) {
	for _, tt := range []struct {
		name   string
		arch   string
		launch gpu.Launch
		want   []string
	}{
		{
			"registers", "sm_89",
			gpu.Launch{Threads: 256, Registers: 128},
			[]string{"80 registers or fewer would allow 3 blocks", "40 registers or fewer would allow 6 blocks"},
		},
		{
			"registers and carve-out", "sm_89",
			gpu.Launch{Threads: 256, Registers: 168, StaticShared: 32 << 10, Carveout: 64 << 10},
			[]string{
				"128 registers or fewer and a carve-out of 100 KB would allow 2 blocks",
				"128 registers or fewer and 31 KB of shared memory or less per block would allow 2 blocks",
				"40 registers or fewer and 9856 bytes of shared memory or less per block would allow 6 blocks",
				"384 threads per block would allow 1 block (12 warps)",
			},
		},
		{"small blocks", "sm_75", gpu.Launch{Threads: 32, Registers: 20}, []string{"64 threads per block would allow 16 blocks (32 warps)"}},
		{"large blocks", "sm_86", gpu.Launch{Threads: 1024, Registers: 32}, []string{"768 threads per block would allow 2 blocks (48 warps)"}},
		{"full", "sm_80", gpu.Launch{Threads: 256, Registers: 32}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, err := find(t, tt.arch).Occupancy(tt.launch)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range o.Options {
				got = append(got, r.Text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("raises (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOccupancyInput(t *testing.T) {
	arch := find(t, "sm_89")
	for _, tt := range []struct {
		launch gpu.Launch
		want   string
	}{
		{gpu.Launch{}, "occupancy on sm_89: threads 0: must be 1 to 1073741824"},
		{gpu.Launch{Threads: 1, Registers: -1}, "occupancy on sm_89: registers -1: must be 0 to 1073741824"},
		{gpu.Launch{Threads: 1, DynamicShared: 1 << 40}, "occupancy on sm_89: dynamic shared memory 1099511627776: must be 0 to 1073741824"},
		{gpu.Launch{Threads: 1, Carveout: 102401}, "occupancy on sm_89: carve-out 102401: an SM has at most 102400 bytes of shared memory"},
	} {
		_, err := arch.Occupancy(tt.launch)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%+v: %v, want %s", tt.launch, err, tt.want)
		}
	}
}

// More than the default limit of a block works after an opt-in, and the answer says so.
func TestOptInIsTold(t *testing.T) {
	for shared, want := range map[int]int{48 << 10: 0, 48<<10 + 1: 1} {
		o, err := find(t, "sm_90").Occupancy(gpu.Launch{Threads: 128, DynamicShared: shared})
		if err != nil {
			t.Fatal(err)
		}
		if len(o.Notes) != want {
			t.Errorf("%d bytes: notes %q, want %d", shared, o.Notes, want)
		}
	}
}

func find(t interface {
	Helper()
	Fatal(args ...any)
}, name string,
) gpu.Arch {
	t.Helper()
	arch, err := gpu.FindArch(name)
	if err != nil {
		t.Fatal(err)
	}
	return arch
}

// Computed by hand, from the tables of AMD: a wave has 64 threads, and a SIMD 512 registers for each of its lanes.
func TestOccupancy_OfAMD(t *testing.T) {
	for _, c := range []struct {
		arch                       string
		threads, registers, shared int
		blocks                     int
		occupancy                  float64
		limiters                   string
		arithmetic                 string
	}{
		{"gfx942", 256, 64, 0, 8, 1, "warps registers", "4 waves: 32/4=8; 64*64=4096: 32768/4096=8, *4/4=8"},
		{"gfx942", 256, 128, 0, 4, 0.5, "registers", "4 waves; 128*64=8192: 32768/8192=4, *4/4=4"},
		{"gfx942", 256, 129, 0, 3, 0.375, "registers", "129*64 to 8704: 32768/8704=3, *4/4=3"},
		{"gfx942", 64, 512, 0, 4, 0.125, "registers", "1 wave: 512*64=32768: 1, *4/1=4"},
		{"gfx90a", 256, 32, 20480, 3, 0.375, "shared_memory", "65536/20480=3"},
		{"gfx950", 256, 32, 32768, 4, 0.5, "shared_memory", "32768 to 33280: 163840/33280=4"},
		{"gfx950", 1024, 128, 163840, 1, 0.5, "registers shared_memory", "16 waves: 32/16=2; 128*64=8192: 4, *4/16=1"},
		{"gfx942", 64, 8, 0, 32, 1, "blocks warps", "1 wave: 32; 8*64=512: 64, *4=256"},
	} {
		a, err := gpu.FindAnyArch(c.arch)
		if err != nil {
			t.Fatal(err)
		}
		o, err := a.Occupancy(gpu.Launch{Threads: c.threads, Registers: c.registers, DynamicShared: c.shared})
		if err != nil {
			t.Fatal(err)
		}
		var limiters []string
		for _, l := range o.Limiters {
			limiters = append(limiters, string(l))
		}
		if got := strings.Join(limiters, " "); o.BlocksPerSM != c.blocks || o.Occupancy != c.occupancy || got != c.limiters {
			t.Errorf("%s, %d threads, %d registers, %d bytes: %d blocks, %v, limited by %s; want %d, %v, %s (%s)",
				c.arch, c.threads, c.registers, c.shared, o.BlocksPerSM, o.Occupancy, got, c.blocks, c.occupancy, c.limiters, c.arithmetic)
		}
		for _, r := range o.Options {
			if with, err := a.Occupancy(r.Launch); err != nil || with.Occupancy <= o.Occupancy {
				t.Errorf("%s: %s: %v, %v", c.arch, r.Text, with.Occupancy, err)
			}
		}
	}
	a, err := gpu.FindAnyArch("gfx942")
	if err != nil {
		t.Fatal(err)
	}
	if o, err := a.Occupancy(gpu.Launch{Threads: 256, DynamicShared: 65537}); err != nil || o.BlocksPerSM != 0 || len(o.Refused) != 1 {
		t.Errorf("more than all of LDS: %+v, %v", o, err)
	}
	if _, err := gpu.FindAnyArch("gfx1100"); err == nil {
		t.Error("the limits of RDNA are not known")
	}
}
