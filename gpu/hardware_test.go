package gpu_test

import (
	"math"
	"slices"
	"strings"
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

// peakTolerance is by how much a stated peak may differ from SMs x operations per clock x clock: sheets round both.
const peakTolerance = 0.015

// The sheets of different cards agree with one arithmetic. Where a card halves its tensor cores, it halves them
// exactly.
func TestStatedPeaksFollowFromTheRates(t *testing.T) {
	checked := 0
	for _, c := range gpu.Cards() {
		check := func(what string, d gpu.DType, stated gpu.Cell[float64]) {
			full, ok := gpu.PeakOfRates(c, d)
			if !stated.Known() || !ok {
				return
			}
			checked++
			near := func(want float64) bool { return math.Abs(stated.Value/want-1) <= peakTolerance }
			if !near(full) && (d == gpu.FP32 || d == gpu.FP64 || !near(full/2)) {
				t.Errorf("%s: %s %s is %.5g, computed %.5g", c.Name, d, what, stated.Value, full)
			}
		}
		for _, d := range gpu.DTypes() {
			check("peak", d, c.TFLOPS[d])
			check("peak accumulating in FP16", d, c.FP16AccumTFLOPS[d])
		}
	}
	if checked < 250 {
		t.Errorf("only %d peaks have SMs, rate and clock to check against", checked)
	}
}

// bandwidthTolerance is by how much a stated bandwidth may differ from bus width x data rate.
const bandwidthTolerance = 0.005

func TestStatedBandwidthFollowsFromTheBus(t *testing.T) {
	checked := 0
	for _, c := range gpu.Cards() {
		if !c.BusBits.Known() || !c.PinGbps.Known() {
			continue
		}
		checked++
		want := float64(c.BusBits.Value) * c.PinGbps.Value / 8
		if math.Abs(c.BandwidthGBs.Value/want-1) > bandwidthTolerance {
			t.Errorf("%s: %.5g GB/s, computed %.5g", c.Name, c.BandwidthGBs.Value, want)
		}
	}
	if checked < 35 {
		t.Errorf("only %d bandwidths have bus and rate to check against", checked)
	}
}

// Every figure can be traced, and one that only third parties state is not called certain.
func TestEveryCellHasASource(t *testing.T) {
	check := func(of string, source gpu.Source, certain bool) {
		t.Helper()
		if source.Title() == "" || source.Certainty() == "" {
			t.Errorf("%s: %q is no source", of, source)
		}
		if certain && source.Certainty() == gpu.Reported {
			t.Errorf("%s: a figure of %q is called certain", of, source)
		}
	}
	for _, a := range gpu.Archs() {
		for _, c := range []gpu.Cell[int]{
			a.ThreadsPerBlock, a.ThreadsPerSM, a.WarpsPerSM, a.BlocksPerSM, a.RegistersPerSM, a.RegistersPerBlock, a.RegistersPerThread,
			a.RegisterStep, a.Partitions, a.SharedPerSM, a.SharedPerBlock, a.SharedStatic, a.SharedReserved, a.SharedStep, a.FP32Lanes,
		} {
			check(a.Name, c.Source, c.Certain)
		}
		check(a.Name, a.Carveouts.Source, a.Carveouts.Certain)
	}
	for _, c := range gpu.Cards() {
		for _, cell := range []gpu.Cell[int]{c.SMs, c.BoostMHz, c.TensorMHz, c.MemoryGB, c.BusBits} {
			if cell.Known() || cell.Value != 0 {
				check(c.Name, cell.Source, cell.Certain)
			}
		}
		cells := []gpu.Cell[float64]{c.L2MB, c.L3MB, c.PinGbps, c.BandwidthGBs}
		for _, d := range gpu.DTypes() {
			cells = append(cells, c.TFLOPS[d], c.FP16AccumTFLOPS[d])
		}
		for _, cell := range cells {
			if cell.Known() || cell.Value != 0 {
				check(c.Name, cell.Source, cell.Certain)
			}
		}
	}
}

// The limits of each compute capability are those of CUDA's own tables: threads, blocks and shared memory of an SM.
func TestArchsAreThoseOfCUDA(t *testing.T) {
	want := map[string][3]int{
		"sm_70": {2048, 32, 96}, "sm_75": {1024, 16, 64}, "sm_80": {2048, 32, 164}, "sm_86": {1536, 16, 100}, "sm_87": {1536, 16, 164},
		"sm_88": {1536, 16, 100}, "sm_89": {1536, 24, 100}, "sm_90": {2048, 32, 228}, "sm_100": {2048, 32, 228}, "sm_103": {2048, 32, 228},
		"sm_110": {1536, 24, 228}, "sm_120": {1536, 24, 100}, "sm_121": {1536, 24, 100},
	}
	for _, a := range gpu.Archs() {
		if got := [3]int{a.ThreadsPerSM.Value, a.BlocksPerSM.Value, a.SharedPerSM.Value / 1024}; got != want[a.Name] {
			t.Errorf("%s: %v, want %v", a.Name, got, want[a.Name])
		}
		delete(want, a.Name)
	}
	for name := range want {
		t.Errorf("%s is not in the table", name)
	}
}

func TestCards_HasSixtyCards(t *testing.T) {
	if n := len(gpu.Cards()); n < 60 {
		t.Errorf("%d cards, want 60", n)
	}
	for _, c := range gpu.Cards() {
		if _, err := gpu.FindArch(c.Arch); (err == nil) != (c.Kind() == gpu.NVIDIA) {
			t.Errorf("%s: architecture %q of %s: %v", c.Name, c.Arch, c.Kind(), err)
		}
	}
}

// A mistake in the file is an error, never a figure.
func TestParseCards_Refuses(t *testing.T) {
	const good = "X|sm_89|1|-|-|1000|-|8|64|10|=|=|=|-|-|-|-|-|-|-|-|ada|"
	if _, err := gpu.ParseCards(good); err != nil {
		t.Fatal(err)
	}
	for name, line := range map[string]string{
		"a field too few":         strings.TrimSuffix(good, "|"),
		"an unknown source":       strings.Replace(good, "|ada|", "|unlisted|", 1),
		"an unknown named source": strings.Replace(good, "|8|64|", "|8@unlisted|64|", 1),
		"a negative number":       strings.Replace(good, "|1000|", "|-1000|", 1),
		"a word":                  strings.Replace(good, "|1000|", "|fast|", 1),
		"infinity":                strings.Replace(good, "|10|", "|Inf|", 1),
		"half a bit":              strings.Replace(good, "|64|", "|64.5|", 1),
		"nothing to derive from":  strings.Replace(good, "|1000|", "|-|", 1),
		"a derived clock":         strings.Replace(good, "|1000|", "|=|", 1),
		"the same card twice":     good + "\n" + good,
	} {
		if cards, err := gpu.ParseCards(line); err == nil {
			t.Errorf("%s: read as %+v", name, cards)
		}
	}
}

// What the review of the table called wrong.
func TestCards_ReviewedFigures(t *testing.T) {
	b200, h100, l40s := gpu.FindCards("B200")[0], gpu.FindCards("H100 SXM")[0], gpu.FindCards("L40S")[0]
	if b200.MemoryGB.Value != 180 || b200.BandwidthGBs.Value != 7672 || b200.L2MB.Value != 126.5 || b200.BoostMHz.Value != 1965 {
		t.Errorf("B200: %+v", b200)
	}
	if h100.BoostMHz.Value != 1980 || h100.TensorMHz.Value != 1830 {
		t.Errorf("H100: FP32 at %d MHz, tensor cores at %d MHz", h100.BoostMHz.Value, h100.TensorMHz.Value)
	}
	if l40s.L2MB.Value != 96 || !l40s.L2MB.Certain {
		t.Errorf("L40S: %+v", l40s.L2MB)
	}
}

func TestCard_At(t *testing.T) {
	h100 := gpu.FindCards("H100 SXM")[0]
	at := h100.At(990)
	for d, want := range map[gpu.DType]float64{gpu.FP32: 67.0 / 2, gpu.FP16: 989.4 * 990 / 1830} {
		if got := at.Peak(d).Value; math.Abs(got-want) > 1e-9 {
			t.Errorf("%s at 990 MHz: %v, want %v", d, got, want)
		}
	}
	if h100.Peak(gpu.FP32).Value != 67 {
		t.Error("the card itself changed")
	}
	if h20 := gpu.FindCards("H20")[0].At(1000); h20.Peak(gpu.FP16).Value != 148 {
		t.Error("a card whose clock is unknown was scaled")
	}
}

// A card that is not in the table works with what the driver says.
func TestCardFor(t *testing.T) {
	id := gpu.Identity{
		Kind: gpu.NVIDIA, Name: "NVIDIA X9", ComputeCapability: "8.9", Units: 10, MemoryBytes: 8<<30 - 5<<20, MaxClockMHz: 2000, BandwidthGBs: 250,
	}
	c, ok := gpu.CardFor(id)
	if !ok || c.Arch != "sm_89" || c.SMs.Value != 10 || c.MemoryGB.Value != 8 || c.BandwidthGBs.Value != 250 || c.TFLOPS[gpu.FP32].Value != 5.12 {
		t.Errorf("%+v", c)
	}
	if c.Peak(gpu.FP16).Known() || c.L2MB.Known() {
		t.Errorf("more than the driver says: %+v", c)
	}
	for name, id := range map[string]gpu.Identity{
		"nothing":     {Kind: gpu.NVIDIA, Name: "NVIDIA X9"},
		"a slice":     {Kind: gpu.NVIDIA, Name: "NVIDIA X9", Parent: "GPU-1", BandwidthGBs: 250},
		"a processor": {Kind: gpu.CPU, Name: "X9", BandwidthGBs: 250},
	} {
		if c, ok := gpu.CardFor(id); ok {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if c, ok := gpu.CardFor(gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA L4"}); !ok || c.Name != "L4" {
		t.Errorf("an L4 is %q", c.Name)
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
		"rtx 50":                  {"RTX 5090", "RTX 5080", "RTX 5070 Ti", "RTX 5070"},
		"a100":                    {"A100 SXM 40GB", "A100 PCIe 40GB", "A100 SXM 80GB", "A100 PCIe 80GB"},
		"h100":                    {"H100 SXM", "H100 PCIe", "H100 NVL"},
		"RTX A6000":               {"RTX A6000"},
		"AMD Instinct MI300X":     {"MI300X"},
		"7900 xt":                 {"RX 7900 XT"},
		"Tesla T4":                {"T4"},
		"":                        nil,
		"nvidia":                  nil,
		"amd":                     nil,
		"X9":                      nil,
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
		{gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA GeForce RTX 3090 Ti"}, "RTX 3090 Ti"},
		{gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA H100 NVL"}, "H100 NVL"},
		{gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA GH200 480GB"}, "GH200 96GB"},
		{gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA B300 SXM6 AC"}, "B300"},
		{gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA RTX PRO 6000 Blackwell Server Edition"}, "RTX PRO 6000 Server"},
		{gpu.Identity{Kind: gpu.AMD, Name: "AMD Instinct MI300X"}, "MI300X"},
		{gpu.Identity{Kind: gpu.AMD, Name: "AMD Radeon RX 7900 XTX"}, "RX 7900 XTX"},
		{gpu.Identity{Kind: gpu.NVIDIA, Name: "MI300X"}, ""},
		{gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA GeForce RTX 3070"}, ""},
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
		{"a figure in doubt", "B300", gpu.Work{Flops: 15e12, DType: gpu.FP4}, gpu.Floor{Seconds: 1e-3, Compute: 1e-3}},
		{"an unknown cache may hold all writes", "GB200", gpu.Work{Bytes: 16e9, Reads: 8e9, Cold: true}, gpu.Floor{Seconds: 1e-3, Memory: 1e-3, Certain: true}},
		{"no bandwidth", "AI PRO R9700", gpu.Work{Bytes: 16e9, Reads: 8e9, Cold: true}, gpu.Floor{}},
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
