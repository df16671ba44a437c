package gpu_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/golden"
)

const hardwarePage = "../docs/reference/hardware.md"

// The page shows the tables as they are.
func TestDocsHardware(t *testing.T) {
	golden.File(t, hardwarePage, hardware())
}

// hardware writes the page. Small letters behind a figure name its source.
func hardware() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Hardware

What pawl knows of GPUs: the limits that occupancy is computed from, and the peaks that a roofline is drawn with. The table has
%d cards. `+"`pawl device show`"+` shows them, `+"`pawl device occupancy`"+` computes with them.

The small word behind a figure is its [source](#sources), which says how certain the figure is. A question mark means that sources
differ, or that neither the vendor nor a driver gives the figure. Of several figures the highest is taken, because a time is held
against it. An empty field is unknown: pawl then computes without it, and says so where that matters.

None of this has been checked on a GPU by pawl yet. What is marked as the driver's comes from logs that others published.

*This page is written by a test of the package gpu. Change its tables, not the page.*

## Architectures
Per streaming multiprocessor (SM). Sizes in KB of 1024 bytes; steps in bytes, or in registers of a warp.

`, len(gpu.Cards()))
	b.WriteString(archRows())
	b.WriteString(`
The same on all of NVIDIA: 32 threads per warp, 1024 threads per block, 65536 registers per SM and per block, 255 registers per
thread, 48 KB of static shared memory. More than 48 KB needs dynamic shared memory and an opt-in. The carve-out is how much of
the SM's memory is shared memory; the rest is L1 cache. Barriers are counted from sm_90 on, two for every block an SM can hold.

### AMD
Per compute unit. A warp is a wave of 64 threads, and shared memory is LDS. The registers of a thread are those for vectors and those for
matrices together. Not yet compared with an AMD card.

`)
	b.WriteString(unitRows())
	b.WriteString(`
## Cards
SMs are compute units for AMD. L3 is AMD's Infinity Cache. The boost clock is the one at which FP32 and FP64 are stated, the tensor
clock the one at which the other formats are, where it is another. HIP shows each of the two dies of an MI250X or MI250 as a
device, so their lines describe one die.

`)
	b.WriteString(cardRows())
	b.WriteString(`
### Peaks
Dense, in TFLOPS (INT8 in TOPS), accumulating in FP32. What is advertised "with sparsity" is twice as high. Under load a card runs
below its boost clock when it reaches its power cap. GeForce cards run above it when they are cool.

`)
	b.WriteString(peakRows())
	fmt.Fprintf(&b, `
FP64 is that of the tensor cores on %s. GeForce cards are twice as fast when they accumulate in FP16:

`, strings.Join(tensorCards(), ", "))
	b.WriteString(narrowRows())
	b.WriteString(`
## A card that is not in the table
Its architecture's limits apply if the compute capability is known. SMs, memory, highest clock and bandwidth are what the driver
reports; the FP32 peak follows from them. Peaks of the tensor cores are unknown, so no time is called impossible.

## The floor of a case
No run is faster than its operations at the card's peak, nor, from a cold cache, than its reads at the bandwidth of memory. Both
bounds err downwards. The peak is that of the fastest format, at the highest clock that the driver allows. What a run writes may still
be in the caches when it ends, so writes count only beyond their size; where a suite declares only ` + "`bytes`" + `, so do all of them. From a
warm cache bytes set no bound.

## Sources
Certainty: *driver* is what drivers print in public logs, *vendor* what a document of the vendor states, *derived* what follows from
other figures, *reported* what only third parties state. "As quoted" documents were read in quotation.

| word | certainty | |
| --- | --- | --- |
`)
	for _, s := range usedSources() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", s, s.Certainty(), s.Title())
	}
	return b.String()
}

func table(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString("|" + strings.Repeat(" --- |", len(row)) + "\n")
		}
	}
	return b.String()
}

func shown[T any](c gpu.Cell[T], text string) string {
	if !c.Known() {
		return ""
	}
	mark := ""
	if !c.Certain {
		mark = "?"
	}
	return fmt.Sprintf("%s%s <sub>%s</sub>", text, mark, c.Source)
}

func whole(c gpu.Cell[int]) string { return shown(c, strconv.Itoa(c.Value)) }

func kilobytes(c gpu.Cell[int]) string { return shown(c, strconv.Itoa(c.Value/1024)) }

func number(c gpu.Cell[float64]) string { return shown(c, fmt.Sprint(c.Value)) }

func archRows() string {
	rows := [][]string{{
		"", "threads", "blocks", "register step", "shared memory KB", "of a block KB", "reserved KB", "shared step", "carve-outs KB", "barriers", "FP32 lanes",
	}}
	for _, a := range gpu.Archs() {
		var steps []string
		for _, s := range a.Carveouts.Value {
			steps = append(steps, strconv.Itoa(s/1024))
		}
		rows = append(rows, []string{
			a.Name + " " + a.Generation, whole(a.ThreadsPerSM), whole(a.BlocksPerSM), whole(a.RegisterStep), kilobytes(a.SharedPerSM),
			kilobytes(a.SharedPerBlock), kilobytes(a.SharedReserved), whole(a.SharedStep), shown(a.Carveouts, strings.Join(steps, " ")),
			whole(a.Barriers), whole(a.FP32Lanes),
		})
	}
	return table(rows)
}

func unitRows() string {
	rows := [][]string{{"", "waves", "threads", "blocks", "registers", "of a thread", "register step", "LDS KB", "LDS step", "FP32 lanes"}}
	for _, a := range gpu.ComputeUnits() {
		rows = append(rows, []string{
			a.Name + " " + a.Generation, whole(a.WarpsPerSM), whole(a.ThreadsPerSM), whole(a.BlocksPerSM), whole(a.RegistersPerSM),
			whole(a.RegistersPerThread), whole(a.RegisterStep), kilobytes(a.SharedPerSM), whole(a.SharedStep), whole(a.FP32Lanes),
		})
	}
	return table(rows)
}

func cardRows() string {
	rows := [][]string{{
		"", "architecture", "SMs", "L2 MB", "L3 MB", "boost MHz", "tensor MHz", "memory GB", "bus bits", "Gb/s per bit", "GB/s",
	}}
	for _, c := range gpu.Cards() {
		rows = append(rows, []string{
			c.Name, c.Arch, whole(c.SMs), number(c.L2MB), number(c.L3MB), whole(c.BoostMHz), whole(c.TensorMHz), whole(c.MemoryGB),
			whole(c.BusBits), number(c.PinGbps), number(c.BandwidthGBs),
		})
	}
	return table(rows)
}

// tensorCards are the cards whose FP64 peak is that of the tensor cores.
func tensorCards() []string {
	var names []string
	for _, c := range gpu.Cards() {
		if c.FP64Tensor {
			names = append(names, c.Name)
		}
	}
	return names
}

func peakRows() string {
	head := []string{""}
	for _, d := range gpu.DTypes() {
		head = append(head, strings.ToUpper(string(d)))
	}
	rows := [][]string{head}
	for _, c := range gpu.Cards() {
		row := []string{c.Name}
		for _, d := range gpu.DTypes() {
			row = append(row, number(c.TFLOPS[d]))
		}
		rows = append(rows, row)
	}
	return table(rows)
}

func narrowRows() string {
	rows := [][]string{{"", "FP16", "FP8"}}
	for _, c := range gpu.Cards() {
		if len(c.FP16AccumTFLOPS) > 0 {
			rows = append(rows, []string{c.Name, number(c.FP16AccumTFLOPS[gpu.FP16]), number(c.FP16AccumTFLOPS[gpu.FP8])})
		}
	}
	return table(rows)
}

// usedSources are those that a figure of the page names, in the order of their names.
func usedSources() []gpu.Source {
	var list []gpu.Source
	page := archRows() + unitRows() + cardRows() + peakRows() + narrowRows()
	for part := range strings.SplitSeq(page, "<sub>") {
		if name, _, ok := strings.Cut(part, "</sub>"); ok && !slices.Contains(list, gpu.Source(name)) {
			list = append(list, gpu.Source(name))
		}
	}
	slices.Sort(list)
	return list
}
