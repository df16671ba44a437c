package gpu_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/gpu"
)

func TestFindArch(t *testing.T) {
	for name, want := range map[string]string{
		"sm_89": "sm_89", "8.9": "sm_89", "89": "sm_89", "compute_89": "sm_89", "SM89": "sm_89", "\tsm_75\n": "sm_75",
		"sm_90a": "sm_90", "sm_100f": "sm_100", "10.0": "sm_100", "12.1": "sm_121",
		"": "", "sm_": "", "sm_9": "", "8.99": "", "sm_61": "", "af": "", "ada": "", "8.": "", "-89": "",
	} {
		arch, err := gpu.FindArch(name)
		if arch.Name != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q (%v), want %q", name, arch.Name, err, want)
		}
	}
}

// An SM's figures hang together, whatever the table says.
func TestArchsAreSound(t *testing.T) {
	for _, a := range gpu.Archs() {
		if a.WarpsPerSM.Value*32 != a.ThreadsPerSM.Value {
			t.Errorf("%s: %d warps, %d threads", a.Name, a.WarpsPerSM.Value, a.ThreadsPerSM.Value)
		}
		steps := a.Carveouts.Value
		if !slices.IsSorted(steps) || steps[len(steps)-1] != a.SharedPerSM.Value {
			t.Errorf("%s: carve-outs %v of %d", a.Name, steps, a.SharedPerSM.Value)
		}
		if a.SharedPerBlock.Value+a.SharedReserved.Value != a.SharedPerSM.Value {
			t.Errorf("%s: a block and what is reserved are not all of the SM", a.Name)
		}
		if (a.SharedReserved.Value > 0) != (a.SharedStep.Value == 128) {
			t.Errorf("%s: reserves %d in steps of %d", a.Name, a.SharedReserved.Value, a.SharedStep.Value)
		}
		if hopper := archNumber(a) >= 900; a.Barriers.Known() != hopper {
			t.Errorf("%s: counts barriers: %v", a.Name, a.Barriers.Known())
		}
		if ampere := archNumber(a) >= 800; (a.SharedReserved.Value > 0) != ampere {
			t.Errorf("%s: reserves %d", a.Name, a.SharedReserved.Value)
		}
	}
}

func archNumber(a gpu.Arch) int {
	n := 0
	for _, r := range a.ComputeCapability {
		if r != '.' {
			n = 10*n + int(r-'0')
		}
	}
	return 10 * n
}

// The sheets of different cards agree with one arithmetic: FP32 is SMs, lanes, two
// operations, clock; a tensor core is twice as fast for every halving of the format.
func TestPeaksHangTogether(t *testing.T) {
	near := func(card gpu.Card, what string, got, want float64) {
		t.Helper()
		if math.Abs(got/want-1) > 0.015 {
			t.Errorf("%s: %s is %.4g, computed %.4g", card.Name, what, got, want)
		}
	}
	for _, c := range gpu.Cards() {
		arch := find(t, c.Arch)
		fp32 := c.TFLOPS[gpu.FP32].Value
		if c.BoostMHz.Known() {
			near(c, "FP32", fp32, float64(c.SMs.Value*arch.FP32Lanes.Value*2*c.BoostMHz.Value)/1e6)
		}
		half := c.TFLOPS[gpu.FP16].Value
		for d, factor := range map[gpu.DType]float64{gpu.TF32: 0.5, gpu.BF16: 1, gpu.FP8: 2} {
			if peak := c.TFLOPS[d]; peak.Known() {
				near(c, string(d), peak.Value, factor*half)
			}
		}
		if peak := c.TFLOPS[gpu.INT8]; peak.Known() {
			near(c, "INT8", peak.Value, 2*c.Peak(gpu.FP16).Value)
		}
		if !c.FP64Tensor && arch.Name != "sm_70" {
			ratio := map[string]float64{"sm_75": 32}[arch.Name]
			if ratio == 0 {
				ratio = 64
			}
			near(c, "FP64", c.TFLOPS[gpu.FP64].Value, fp32/ratio)
		}
	}
}

// Every figure can be traced.
func TestEveryCellHasASource(t *testing.T) {
	for _, a := range gpu.Archs() {
		for _, c := range []gpu.Cell[int]{
			a.ThreadsPerBlock, a.ThreadsPerSM, a.WarpsPerSM, a.BlocksPerSM, a.RegistersPerSM, a.RegistersPerBlock, a.RegistersPerThread,
			a.RegisterStep, a.Partitions, a.SharedPerSM, a.SharedPerBlock, a.SharedStatic, a.SharedReserved, a.SharedStep, a.FP32Lanes,
		} {
			if c.Source.Title() == "" {
				t.Errorf("%s: %v has no source", a.Name, c.Value)
			}
		}
		if a.Carveouts.Source.Title() == "" {
			t.Errorf("%s: carve-outs have no source", a.Name)
		}
	}
	for _, c := range gpu.Cards() {
		sources := []gpu.Source{c.SMs.Source, c.L2MB.Source, c.MemoryGB.Source, c.BandwidthGBs.Source}
		for _, peak := range c.TFLOPS {
			sources = append(sources, peak.Source)
		}
		for _, peak := range c.FP16AccumTFLOPS {
			sources = append(sources, peak.Source)
		}
		for _, s := range sources {
			if s.Title() == "" {
				t.Errorf("%s: %q is no source", c.Name, s)
			}
		}
	}
}

func TestFindCards(t *testing.T) {
	for name, want := range map[string][]string{
		"L4":                      {"L4"},
		"nvidia l4":               {"L4"},
		"A10":                     {"A10"},
		"4090":                    {"RTX 4090"},
		"rtx4090":                 {"RTX 4090"},
		"NVIDIA GeForce RTX 4090": {"RTX 4090"},
		"rtx":                     {"RTX 3090", "RTX 4090", "RTX 5090"},
		"a100":                    {"A100 SXM 40GB", "A100 PCIe 40GB", "A100 SXM 80GB", "A100 PCIe 80GB"},
		"h100":                    {"H100 SXM", "H100 PCIe"},
		"Tesla T4":                {"T4"},
		"":                        nil,
		"nvidia":                  nil,
		"MI300X":                  nil,
	} {
		var got []string
		for _, c := range gpu.FindCards(name) {
			got = append(got, c.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

func TestCardOf(t *testing.T) {
	for _, tt := range []struct {
		id   gpu.Identity
		want string
	}{
		{gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA L4"}, "L4"},
		{gpu.Identity{Kind: gpu.NVIDIA, Name: "Tesla T4"}, "T4"},
		{gpu.Identity{Kind: gpu.NVIDIA, Name: "Tesla V100-SXM2-32GB"}, "V100 SXM2"},
		{gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA A100-SXM4-80GB"}, "A100 SXM 80GB"},
		{gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA A100 80GB PCIe"}, "A100 PCIe 80GB"},
		{gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA H100 80GB HBM3"}, "H100 SXM"},
		{gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA H200"}, "H200 SXM"},
		{gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA GeForce RTX 3090"}, "RTX 3090"},
		{gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA GeForce RTX 3090 Ti"}, ""},
		{gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA A100-SXM4-80GB", Parent: "GPU-1"}, ""},
		{gpu.Identity{Kind: gpu.CPU, Name: "L4"}, ""},
	} {
		got, ok := gpu.CardOf(tt.id)
		if got.Name != tt.want || ok != (tt.want != "") {
			t.Errorf("%+v is %q, want %q", tt.id, got.Name, tt.want)
		}
	}
}

// No two cards answer to the same name.
func TestCardNamesAreUnique(t *testing.T) {
	for _, c := range gpu.Cards() {
		if got := gpu.FindCards(c.Name); len(got) != 1 || got[0].Name != c.Name {
			t.Errorf("%q finds %d cards", c.Name, len(got))
		}
	}
}

func TestParseDType(t *testing.T) {
	for name, want := range map[string]gpu.DType{
		"fp16": gpu.FP16, "half": gpu.FP16, "FP16": gpu.FP16, "bfloat16": gpu.BF16, "e4m3": gpu.FP8, "double": gpu.FP64, "uint8": gpu.INT8,
		"int4": "", "": "", "complex64": "",
	} {
		got, err := gpu.ParseDType(name)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q (%v), want %q", name, got, err, want)
		}
	}
}

func TestRoofline(t *testing.T) {
	l4 := gpu.FindCards("L4")[0]
	if got, want := l4.Ridge(gpu.FP16), 121e12/300e9; math.Abs(got-want) > 1e-9 {
		t.Errorf("ridge %v, want %v", got, want)
	}
	if got := l4.Ridge(gpu.FP4); got != 0 {
		t.Errorf("a ridge of %v without a peak", got)
	}
	for intensity, want := range map[float64]float64{0: 0, 100: 30, 1e6: 121, -1: 0, math.NaN(): 0} {
		if got := l4.Attainable(gpu.FP16, intensity); math.Abs(got-want) > 1e-9 {
			t.Errorf("at %v: %v TFLOPS, want %v", intensity, got, want)
		}
	}
}

func TestFloor(t *testing.T) {
	l2 := 48.0 * (1 << 20)
	for _, tt := range []struct {
		name string
		card string
		work gpu.Work
		want gpu.Floor
	}{
		{"arithmetic", "L4", gpu.Work{Flops: 121e9, DType: gpu.FP16}, gpu.Floor{Seconds: 1e-3, Compute: 1e-3, Certain: true}},
		{"a warm cache has no bytes", "L4", gpu.Work{Flops: 121e9, Bytes: 3e9, DType: gpu.FP16}, gpu.Floor{Seconds: 1e-3, Compute: 1e-3, Certain: true}},
		{"reads", "L4", gpu.Work{Bytes: 3e9, Reads: 3e9, Cold: true}, gpu.Floor{Seconds: 1e-2, Memory: 1e-2, Certain: true}},
		{"the writes that the cache holds", "L4", gpu.Work{Bytes: 3e9 + 1e6, Reads: 3e9, Cold: true}, gpu.Floor{Seconds: 1e-2, Memory: 1e-2, Certain: true}},
		{"the writes that it does not", "L4", gpu.Work{Bytes: 6e9 + l2, Reads: 3e9, Cold: true}, gpu.Floor{Seconds: 2e-2, Memory: 2e-2, Certain: true}},
		{"reads and writes not told apart", "L4", gpu.Work{Bytes: 3e9 + l2, Cold: true}, gpu.Floor{Seconds: 1e-2, Memory: 1e-2, Certain: true}},
		{"all in the cache", "L4", gpu.Work{Bytes: 1e6, Cold: true}, gpu.Floor{}},
		{"the larger counts", "L4", gpu.Work{Flops: 121e9, DType: gpu.FP16, Bytes: 3e9, Reads: 3e9, Cold: true}, gpu.Floor{Seconds: 1e-2, Compute: 1e-3, Memory: 1e-2, Certain: true}},
		{"FP16 may be accumulated in FP16", "RTX 4090", gpu.Work{Flops: 330.3e9, DType: gpu.FP16}, gpu.Floor{Seconds: 1e-3, Compute: 1e-3, Certain: true}},
		{"a figure in doubt", "B200", gpu.Work{Flops: 80e9, DType: gpu.FP32}, gpu.Floor{Seconds: 1e-3, Compute: 1e-3}},
		{"no peak", "T4", gpu.Work{Flops: 1e9, DType: gpu.FP8}, gpu.Floor{}},
		{"no format", "L4", gpu.Work{Flops: 1e9}, gpu.Floor{}},
		{"nonsense", "L4", gpu.Work{Flops: math.Inf(1), Bytes: math.NaN(), DType: gpu.FP16, Cold: true}, gpu.Floor{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := gpu.FindCards(tt.card)[0].Floor(tt.work)
			for _, pair := range [][2]float64{{got.Seconds, tt.want.Seconds}, {got.Compute, tt.want.Compute}, {got.Memory, tt.want.Memory}} {
				if math.Abs(pair[0]-pair[1]) > 1e-9*pair[1] {
					t.Errorf("%+v, want %+v", got, tt.want)
				}
			}
			if got.Certain != tt.want.Certain {
				t.Errorf("certain: %v", got.Certain)
			}
		})
	}
}

// More work never lowers the floor, and nothing makes it negative.
func TestFloorGrowsWithWork(t *testing.T) {
	amount := rapid.Float64Range(0, 1e15)
	rapid.Check(t, func(t *rapid.T) {
		card := rapid.SampledFrom(gpu.Cards()).Draw(t, "card")
		w := gpu.Work{
			Flops: amount.Draw(t, "flops"), Bytes: amount.Draw(t, "bytes"), DType: rapid.SampledFrom(gpu.DTypes()).Draw(t, "format"),
			Cold: rapid.Bool().Draw(t, "cold"),
		}
		w.Reads = rapid.Float64Range(0, 1).Draw(t, "reads") * w.Bytes
		more := w
		more.Flops += amount.Draw(t, "more flops")
		more.Bytes += amount.Draw(t, "more bytes")
		less, f := card.Floor(w), card.Floor(more)
		if less.Seconds < 0 || f.Seconds < less.Seconds {
			t.Fatalf("%+v: %v, %+v: %v", w, less.Seconds, more, f.Seconds)
		}
	})
}

// Names come from people and drivers.
func FuzzNames(f *testing.F) {
	for _, seed := range []string{"sm_90a", "8.9", "NVIDIA A100-SXM4-80GB", "rtx", "half", "", "..", "sm_" + "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if arch, err := gpu.FindArch(name); err == nil && !slices.Contains(gpu.ArchNames(), arch.Name) {
			t.Errorf("%q is an unknown architecture without a name", name)
		}
		for _, c := range gpu.FindCards(name) {
			if !slices.Contains(gpu.CardNames(), c.Name) {
				t.Errorf("%q is a card without a name", name)
			}
		}
		if d, err := gpu.ParseDType(name); err == nil && !slices.Contains(gpu.DTypes(), d) {
			t.Errorf("%q is a format without a name", name)
		}
	})
}
