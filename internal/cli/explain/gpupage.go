package explain

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/report"
)

// gpuDocument is the JSON output of pawl device show.
type gpuDocument struct {
	Device  *gpu.Identity         `json:"device,omitempty"`
	None    string                `json:"no_device,omitempty"`
	Cards   []cardDocument        `json:"cards,omitempty"`
	Archs   []gpu.Arch            `json:"archs"`
	Sources map[gpu.Source]string `json:"sources"`
}

type cardDocument struct {
	gpu.Card
	Ridge map[gpu.DType]float64 `json:"ridge"` // operations per byte
}

func (h Hardware) document() gpuDocument {
	doc := gpuDocument{Archs: append([]gpu.Arch{}, h.Archs...), Sources: map[gpu.Source]string{}}
	if h.Local != nil {
		doc.Device, doc.None = h.Local.Identity, h.Local.whyNone
	}
	for _, c := range h.Cards {
		ridge := map[gpu.DType]float64{}
		for d := range c.TFLOPS {
			ridge[d] = c.Ridge(d)
		}
		doc.Cards = append(doc.Cards, cardDocument{c, ridge})
	}
	for _, s := range h.sources() {
		doc.Sources[s] = s.Title()
	}
	return doc
}

func (h Hardware) write(w io.Writer, style report.Style) error {
	var b strings.Builder
	if h.Local != nil {
		b.WriteString(h.Local.describe(h.Cards) + "\n\n")
	}
	var err error
	switch {
	case len(h.Cards) > 1:
		err = writeCards(&b, style, h.Cards)
	case len(h.Cards) == 1:
		err = writeCard(&b, style, h.Cards[0])
	}
	if err == nil && len(h.Cards) < 2 && len(h.Archs) > 0 {
		err = writeArch(&b, style, h.Archs[0])
	}
	if err != nil {
		return err
	}
	if len(h.Cards) < 2 {
		for _, s := range h.sources() {
			b.WriteString(style.Faint(fmt.Sprintf("%s (%s): %s", s, s.Certainty(), s.Title())) + "\n")
		}
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// describe describes the GPU of this machine, and what the tables below do not show.
func (h localGPU) describe(cards []gpu.Card) string {
	switch {
	case h.Identity == nil:
		return h.whyNone + "\n\nKnown cards:"
	case h.Identity.Parent != "":
		return h.Identity.Name + ", a MIG slice: it has a share of its card's SMs and memory, so peaks are not shown."
	case len(cards) == 0:
		return h.Identity.Name + ": the peaks of this card are unknown; only the limits of its architecture are shown."
	case cards[0].Name == h.Identity.Name: // made by gpu.CardFor
		return h.Identity.Name + ": not in the table of cards; the figures are what the driver reports."
	default:
		return h.Identity.Name + ", the GPU of this machine"
	}
}

// writeCards prints cards side by side.
func writeCards(w io.Writer, style report.Style, cards []gpu.Card) error {
	columns := []gpu.DType{gpu.FP32, gpu.TF32, gpu.FP16, gpu.FP8, gpu.INT8}
	head := []string{"card", "arch", "SMs", "L2 MB", "GB", "GB/s"}
	right := []bool{false, false, true, true, true, true}
	for _, d := range columns {
		head, right = append(head, strings.ToUpper(string(d))), append(right, true)
	}
	rows := [][]string{head}
	for _, c := range cards {
		row := []string{c.Name, c.Arch, formatCell(c.SMs), formatCell(c.L2MB), formatCell(c.MemoryGB), formatCell(c.BandwidthGBs)}
		for _, d := range columns {
			row = append(row, formatCell(c.TFLOPS[d]))
		}
		rows = append(rows, row)
	}
	if err := report.Table(w, style, right, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nPeaks are dense TFLOPS (INT8: TOPS). ? marks an uncertain figure. pawl device show %q shows all figures of a card.\n", cards[0].Name)
	return err
}

func writeCard(w io.Writer, style report.Style, c gpu.Card) error {
	fmt.Fprintln(w, style.Bold(c.Name))
	rows := [][]string{{"", "", "", "source"}}
	add := func(name, value, unit string, source gpu.Source) {
		if source != "" {
			rows = append(rows, []string{name, value, unit, string(source)})
		}
	}
	add(map[gpu.Kind]string{gpu.NVIDIA: "SMs", gpu.AMD: "compute units"}[c.Kind()], formatCell(c.SMs), "", c.SMs.Source)
	add("L2 cache", formatCell(c.L2MB), "MB", c.L2MB.Source)
	add("Infinity Cache", formatCell(c.L3MB), "MB", c.L3MB.Source)
	add("boost clock", formatCell(c.BoostMHz), "MHz", c.BoostMHz.Source)
	add("clock of the tensor peaks", formatCell(c.TensorMHz), "MHz", c.TensorMHz.Source)
	add("memory", formatCell(c.MemoryGB), "GB", c.MemoryGB.Source)
	add("memory bus", formatCell(c.BusBits), "bit", c.BusBits.Source)
	add("data rate", formatCell(c.PinGbps), "Gb/s", c.PinGbps.Source)
	add("bandwidth", formatCell(c.BandwidthGBs), "GB/s", c.BandwidthGBs.Source)
	if err := report.Table(w, style, []bool{false, true, false, false}, rows); err != nil {
		return err
	}
	fmt.Fprintln(w)
	rows = [][]string{{"peak", "TFLOPS", "ridge", "source", ""}}
	for _, d := range gpu.DTypes() {
		if peak := c.TFLOPS[d]; peak.Known() {
			note := ""
			if narrow := c.FP16AccumTFLOPS[d]; narrow.Known() {
				note = formatCell(narrow) + " with FP16 accumulation"
			}
			if d == gpu.FP64 && c.FP64Tensor {
				note = "on tensor cores"
			}
			ridge := ""
			if r := c.Ridge(d); r > 0 {
				ridge = fmt.Sprintf("%.4g", r)
			}
			rows = append(rows, []string{string(d), formatCell(peak), ridge, string(peak.Source), note})
		}
	}
	if err := report.Table(w, style, []bool{false, true, true, false, false}, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, style.Faint("Dense, at the boost clock. Ridge: operations per byte of memory traffic above which arithmetic is the limit.")+"\n")
	return err
}

func writeArch(w io.Writer, style report.Style, a gpu.Arch) error {
	unit := "SM"
	if a.WarpSize() == 64 {
		unit = "compute unit, with waves of 64 threads as warps and LDS as shared memory"
	}
	fmt.Fprintln(w, style.Bold(fmt.Sprintf("%s, %s: limits per %s", a.Name, a.Generation, unit)))
	rows := [][]string{{"", "", "source"}}
	add := func(name string, c gpu.Cell[int], size bool) {
		if !c.Known() {
			return
		}
		value := formatCell(c)
		if size && c.Value > 0 && c.Value%1024 == 0 {
			value = formatCell(gpu.Cell[string]{Value: strconv.Itoa(c.Value/1024) + " KB", Source: c.Source, Certain: c.Certain})
		}
		rows = append(rows, []string{name, value, string(c.Source)})
	}
	add("threads", a.ThreadsPerSM, false)
	add("warps", a.WarpsPerSM, false)
	add("blocks", a.BlocksPerSM, false)
	add("threads per block", a.ThreadsPerBlock, false)
	add("registers", a.RegistersPerSM, false)
	add("registers per thread", a.RegistersPerThread, false)
	add("register allocation unit per warp", a.RegisterStep, false)
	add("partitions", a.Partitions, false)
	add("shared memory", a.SharedPerSM, true)
	add("shared memory per block, with opt-in", a.SharedPerBlock, true)
	add("shared memory per block, without opt-in", a.SharedStatic, true)
	add("shared memory per block, reserved by the driver", a.SharedReserved, true)
	add("shared memory allocation unit", a.SharedStep, false)
	var steps []string
	for _, s := range a.Carveouts.Value {
		steps = append(steps, strconv.Itoa(s/1024))
	}
	carveouts := formatCell(gpu.Cell[string]{Value: strings.Join(steps, " ") + " KB", Source: a.Carveouts.Source, Certain: a.Carveouts.Certain})
	rows = append(rows, []string{"carve-outs", carveouts, string(a.Carveouts.Source)})
	add("barriers", a.Barriers, false)
	add("FP32 results per clock", a.FP32Lanes, false)
	if err := report.Table(w, style, []bool{false, true, false}, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

// sources returns the sources of all figures shown, sorted by name.
func (h Hardware) sources() []gpu.Source {
	var list []gpu.Source
	add := func(s gpu.Source) {
		if s != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	for _, c := range h.Cards {
		for _, s := range []gpu.Source{
			c.SMs.Source, c.L2MB.Source, c.L3MB.Source, c.BoostMHz.Source, c.TensorMHz.Source, c.MemoryGB.Source,
			c.BusBits.Source, c.PinGbps.Source, c.BandwidthGBs.Source,
		} {
			add(s)
		}
		for _, d := range gpu.DTypes() {
			add(c.TFLOPS[d].Source)
			add(c.FP16AccumTFLOPS[d].Source)
		}
	}
	for _, a := range h.Archs {
		for _, s := range []gpu.Source{a.ThreadsPerSM.Source, a.RegisterStep.Source, a.SharedStep.Source, a.Carveouts.Source, a.FP32Lanes.Source} {
			add(s)
		}
	}
	slices.Sort(list)
	return list
}

// formatCell formats a figure, with a question mark if it is uncertain; empty if it is unknown.
func formatCell[T any](c gpu.Cell[T]) string {
	switch {
	case !c.Known():
		return ""
	case c.Certain:
		return fmt.Sprint(c.Value)
	default:
		return fmt.Sprint(c.Value) + "?"
	}
}

// Names lists the names of cards.
func Names(cards []gpu.Card) string {
	var list []string
	for _, c := range cards {
		list = append(list, c.Name)
	}
	return strings.Join(list, ", ")
}
