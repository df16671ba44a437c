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
	b.WriteString(`# Hardware

What pawl knows of GPUs: the limits that occupancy is computed from, and the peaks that a roofline is drawn with. ` +
		"`pawl device show`" + ` shows
them, ` + "`pawl device occupancy`" + ` computes with them. The small word behind a figure is its [source](#sources). A figure with a question
mark is one on which sources differ, or for which none of NVIDIA's was read; of several the highest is taken, because a time is
held against it.

*This page is written by a test of the package gpu. Change its tables, not the page.*

## Architectures
Per streaming multiprocessor (SM). Sizes in KB of 1024 bytes; steps in bytes, or in registers of a warp.

`)
	b.WriteString(archRows())
	b.WriteString(`
The same on all: 32 threads per warp, 1024 threads per block, 65536 registers per SM and per block, 255 registers per
thread, 48 KB of static shared memory. More than 48 KB needs dynamic shared memory and an opt-in. The carve-out is how much of
the SM's memory is shared memory; the rest is L1 cache. Barriers are counted from sm_90 on, two for every block an SM can hold.

## Cards
Peaks are dense, in TFLOPS (INT8 in TOPS), at the boost clock, accumulating in FP32. What is advertised "with sparsity" is twice
as high. Under load a card runs below its boost clock when it reaches its power cap, and some run above it when they are cool.

`)
	b.WriteString(cardRows())
	b.WriteString("\n### Peaks\n\n")
	b.WriteString(peakRows())
	b.WriteString(`
FP64 of A100, H100, H200 and B200 is that of the tensor cores. GeForce cards are twice as fast when they accumulate in FP16:

`)
	b.WriteString(narrowRows())
	b.WriteString(`
## The floor of a case
No run is faster than its operations at the card's peak, nor, from a cold cache, than its reads at the bandwidth of memory. Both
bounds err downwards. The peak is the higher of the two ways to accumulate. What a run writes may still be in the L2 cache when
it ends, so writes count only beyond the size of that cache; where a suite declares only ` + "`bytes`" + `, so do all of them. From a warm
cache bytes set no bound.

## Sources
| word | |
| --- | --- |
`)
	for _, s := range usedSources() {
		fmt.Fprintf(&b, "| %s | %s |\n", s, s.Title())
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

func cardRows() string {
	rows := [][]string{{"", "architecture", "SMs", "L2 MB", "boost MHz", "memory GB", "GB/s"}}
	for _, c := range gpu.Cards() {
		rows = append(rows, []string{c.Name, c.Arch, whole(c.SMs), number(c.L2MB), whole(c.BoostMHz), whole(c.MemoryGB), number(c.BandwidthGBs)})
	}
	return table(rows)
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
	page := archRows() + cardRows() + peakRows() + narrowRows()
	for part := range strings.SplitSeq(page, "<sub>") {
		if name, _, ok := strings.Cut(part, "</sub>"); ok && !slices.Contains(list, gpu.Source(name)) {
			list = append(list, gpu.Source(name))
		}
	}
	slices.Sort(list)
	return list
}
