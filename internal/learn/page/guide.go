package page

import (
	_ "embed" // the page's text
	"fmt"
	"io"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/report"
)

//go:embed html/guide.html
var guideText string

var guidePage = parsed("guide", guideText)

// Guide is everything one has to know at the bench, on one page: what to do now, the gates
// as they stand, rules, commands, thresholds, and the limits of the device.
type Guide struct {
	State
	Device *Device // nil where no card is known
}

// threshold is a number that gates decide by, in words.
type threshold struct {
	About, Value string
	Default      string // what pawl comes with, where the repository says another
}

// Rule is a rule of the method, and the gate that holds one to it.
type Rule struct{ Text, Gate string }

// Command is something to type, in the order of the work.
type Command struct{ Run, What string }

// Commands are those of the guide. A test of the command line knows that they are there.
func Commands() []Command {
	return []Command{
		{"pawl session start", "begin; everything is kept"},
		{"pawl session next", "the one thing to do now, and why"},
		{"pawl doctor", "driver, toolkit and ABI, first"},
		{"pawl device show", "the limits of the device"},
		{"pawl preflight", "shared memory before compiling"},
		{"pawl build", "build the candidate"},
		{"pawl fuzz", "is it right? smallest first"},
		{"pawl bench", "how fast, beside the reference"},
		{"pawl profile CASE", "where the time goes"},
		{"pawl diagnose FILE", "what the profile means, and fixes"},
		{"pawl lesson list", "what was learned before"},
		{"pawl tune CASE", "search parameters, with a proof"},
		{"pawl run", "the whole loop with a verdict"},
		{"pawl session note TEXT", "write down what you try"},
		{"pawl session end", "keep the journal, draft a lesson"},
	}
}

// Device is what a card allows, in words.
type Device struct {
	Name   string
	Limits []factView
	Peaks  []factView // by number format
}

// NewDevice takes from the tables what one designs a kernel for. card is nil where only the
// architecture is known.
func NewDevice(name string, card *gpu.Card, arch gpu.Arch) *Device {
	d := &Device{Name: words.Sanitize(name)}
	add := func(label, text string) { d.Limits = append(d.Limits, factView{label, text}) }
	if s := arch.SharedPerBlock; s.Known() {
		text := kilobytes(s) + " a block by request"
		if arch.SharedStatic.Known() {
			text = kilobytes(arch.SharedStatic) + " a block, " + kilobytes(s) + " by request"
		}
		add("shared memory", text)
	}
	if r := arch.RegistersPerSM; r.Known() {
		add("registers", fmt.Sprintf("%s a thread, %dK an SM", figure(arch.RegistersPerThread), r.Value/1024))
	}
	if t := arch.ThreadsPerSM; t.Known() {
		add("threads", fmt.Sprintf("%s a block, %s an SM in %s blocks", figure(arch.ThreadsPerBlock), figure(t), figure(arch.BlocksPerSM)))
	}
	if card == nil {
		return d
	}
	if card.SMs.Known() {
		add("SMs", figure(card.SMs)+", L2 "+figure(card.L2MB)+" MB")
	}
	if card.BandwidthGBs.Known() {
		add("memory", figure(card.MemoryGB)+" GB at "+figure(card.BandwidthGBs)+" GB/s")
	}
	for _, t := range gpu.DTypes() {
		if peak := card.TFLOPS[t]; peak.Known() {
			d.Peaks = append(d.Peaks, factView{strings.ToUpper(string(t)), figure(peak)})
		}
	}
	return d
}

// figure is a figure with its doubt.
func figure[T any](c gpu.Cell[T]) string {
	if c.Certain {
		return fmt.Sprint(c.Value)
	}
	return fmt.Sprint(c.Value) + "?"
}

func kilobytes(c gpu.Cell[int]) string {
	return figure(gpu.Cell[string]{Value: fmt.Sprintf("%d KB", c.Value/1024), Certain: c.Certain, Source: c.Source})
}

// guideView is the guide as its renderers see it.
type guideView struct {
	frame
	board
	Title      string
	Rules      []Rule
	Commands   []Command
	Thresholds []threshold
	Device     *Device
}

func (g Guide) view() guideView {
	v := guideView{frame: still(), board: newBoard(g.State), Rules: Rules(), Commands: Commands(), Device: g.Device}
	if g.Set != nil {
		for _, t := range g.Set.Thresholds {
			shown := threshold{About: words.Sanitize(t.Title), Value: fmt.Sprint(t.Value)}
			if t.Value != t.Default {
				shown.Default = fmt.Sprint(t.Default)
			}
			v.Thresholds = append(v.Thresholds, shown)
		}
	}
	v.Title = "How kernel work goes well"
	if v.Head != nil && v.Head.Goal != "" {
		v.Title = v.Head.Goal
	}
	return v
}

// HTML writes the guide as one file that prints on one sheet.
func (g Guide) HTML(w io.Writer) error { return write(w, guidePage, "the guide", g.view()) }

// Markdown writes the guide for a repository, or for a program that reads.
func (g Guide) Markdown(w io.Writer) error {
	_, err := io.WriteString(w, g.view().markdown())
	return err
}

// Terminal writes the guide for a screen; in two columns where it is wide enough.
func (g Guide) Terminal(w io.Writer, style report.Style) error {
	_, err := io.WriteString(w, g.view().terminal(style))
	return err
}
