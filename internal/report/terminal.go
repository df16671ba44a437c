package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/report/summary"
	"github.com/goatnote-inc/pawl/measure"
)

// spreadLimit is the coefficient of variation above which a case gets a warning.
const spreadLimit = 0.12

// Terminal writes a run as a table, with the setup above it and warnings below.
func Terminal(w io.Writer, run *measure.Run, style Style) error {
	summaries := summary.Of(run)
	g := &grid{right: []bool{false, false, true, true, true, true, true, true, true, true}}
	g.add("case", "side", "P50", "P95", "P99", "CV", "GFLOP/s", "GB/s", against(run), "over rounds")
	for _, s := range summaries {
		for i, side := range s.Sides {
			name := ""
			if i == 0 {
				name = s.Name
			}
			g.add(row(words.SanitizeTo(name, words.NameLength), s.Unit, side)...)
		}
	}
	g.dropEmpty()
	g.fit(style.Width, "P99", "GB/s", "P95", "GFLOP/s", "over rounds", "CV")
	_, err := io.WriteString(w, headline(run, style)+"\n"+g.text(style)+notes(run, summaries, style))
	return err
}

func row(name, unit string, s summary.Side) []string {
	if s.Samples == 0 {
		text := "no samples"
		if s.Error != "" {
			text = "failed"
		}
		if s.NoSamples {
			text = words.Quantity(s.P50, unit)
		}
		return []string{name, words.SanitizeTo(s.Implementation, words.NameLength), text, "", "", "", "", "", "", ""}
	}
	over := ""
	if s.Ratio != 0 && s.Rounds > 1 {
		over = words.Signed((s.RatioLow-1)*100, 1) + " .. " + words.SignedPercent(s.RatioHigh-1)
	}
	return []string{
		name, words.SanitizeTo(s.Implementation, words.NameLength), words.Quantity(s.P50, unit), words.Quantity(s.P95, unit), words.Quantity(s.P99, unit), words.Percent(s.CV),
		rate(s.GFLOPS), rate(s.GBs), change(s.Ratio, unit), over,
	}
}

func rate(v float64) string {
	if v == 0 {
		return ""
	}
	return words.Digits(v)
}

// change is empty for the reference side.
func change(ratio float64, unit string) string {
	switch {
	case ratio == 0:
		return ""
	case unit == "ns":
		return words.Change(ratio)
	default:
		return words.Amount(ratio)
	}
}

func against(run *measure.Run) string {
	if ref := summary.ReferenceSide(run); ref != "" {
		return "against " + ref
	}
	return "against"
}

// headline says what was measured, on which device, and how much.
func headline(run *measure.Run, style Style) string {
	name := cmp.Or(words.SanitizeTo(run.Suite.Name, words.NameLength), "run")
	parts := []string{style.Bold(name)}
	if device := words.SanitizeTo(run.Device.Name, words.NameLength); device != "" {
		parts[0] += " on " + device
	}
	if run.Testbed.Clocks.String() != "free" {
		parts = append(parts, "clocks "+run.Testbed.Clocks.String())
	}
	parts = append(parts, timers(run), words.Plural(len(run.Rounds)-len(summary.Dropped(run)), "round"))
	if run.Source == measure.Imported {
		parts = append(parts, "imported from "+run.Format)
	}
	if s := lastState(run); s != nil {
		parts = append(parts, DeviceState(*s)...)
	}
	return strings.Join(parts, ", ")
}

func timers(run *measure.Run) string {
	names := map[measure.Timer]string{measure.TimerDevice: "device time", measure.TimerKernel: "kernel time", measure.TimerWall: "wall time", measure.TimerCPU: "CPU time"}
	var seen []string
	for _, c := range run.Cases {
		n, ok := names[c.Timer]
		if ok && !strings.Contains(strings.Join(seen, ","), n) {
			seen = append(seen, n)
		}
	}
	if len(seen) == 0 {
		return "time"
	}
	return strings.Join(seen, " and ")
}

func lastState(run *measure.Run) *gpu.State {
	for _, r := range slices.Backward(run.Rounds) {
		for _, s := range slices.Backward(r.Sides) {
			if s.After != nil {
				return s.After
			}
		}
	}
	return nil
}

// DeviceState lists the device readings that matter to people.
func DeviceState(s gpu.State) []string {
	var parts []string
	if s.TemperatureC > 0 {
		parts = append(parts, fmt.Sprintf("%.0f C", s.TemperatureC))
	}
	if s.SMClockMHz > 0 {
		parts = append(parts, fmt.Sprintf("%.0f MHz", s.SMClockMHz))
	}
	if s.PowerW > 0 {
		parts = append(parts, fmt.Sprintf("%.0f W", s.PowerW))
	}
	if s.Load1 > 0 {
		parts = append(parts, fmt.Sprintf("load %.1f", s.Load1))
	}
	if spoiling := s.Reasons.Invalidating(); spoiling != 0 {
		parts = append(parts, "slowed down: "+spoiling.String())
	}
	return parts
}

// notes returns the lines below the table.
func notes(run *measure.Run, summaries []summary.Case, style Style) string {
	var b strings.Builder
	if run.End.Seconds > 0 {
		line := fmt.Sprintf("%s on the device", words.Duration(time.Duration(run.End.Seconds*float64(time.Second))))
		if run.End.Dollars > 0 {
			line += ", " + words.Dollars(run.End.Dollars)
		}
		b.WriteString(style.Faint(line) + "\n")
	}
	if run.End.State != measure.Complete && run.End.State != "" {
		b.WriteString(style.Warn(fmt.Sprintf("%s: %s", run.End.State, run.End.Reason)) + "\n")
	}
	for _, warning := range Warnings(run, summaries) {
		b.WriteString(style.Warn("warning: ") + words.SanitizeTo(warning, 4*words.SentenceLength) + "\n")
	}
	return b.String()
}

// Warnings returns the warnings of the record and those derived from its numbers. Warnings
// of one kind are merged, with a count.
func Warnings(run *measure.Run, summaries []summary.Case) []string {
	var known, notes merger
	for _, w := range run.Warnings {
		known.add(w.Code, w.Message)
	}
	out := known.list()
	var noisy []string
	for _, s := range summaries {
		for _, side := range s.Sides {
			who := side.Implementation + " of " + s.Name
			if side.Error != "" && s.Metric == "" { // metrics computed from a time fail with it
				out = append(out, who+" failed: "+side.Error)
			}
			if side.Note != "" {
				notes.add(lettersOf(side.Note), who+": "+side.Note)
			}
			if side.Unsteady > side.Rounds/2 {
				out = append(out, fmt.Sprintf("%s was still changing when its warm-up ended, in %d of %d rounds", who, side.Unsteady, side.Rounds))
			}
			if side.CV > spreadLimit && s.Metric == "" {
				noisy = append(noisy, fmt.Sprintf("%s (%s)", who, words.Percent(side.CV)))
			}
		}
	}
	out = append(out, notes.list()...)
	if len(noisy) > 0 {
		out = append(out, fmt.Sprintf("samples spread by more than %.0f %%: %s; run `pawl doctor` to see what disturbs this machine", spreadLimit*100, firstFew(noisy, 3)))
	}
	return out
}

// merger merges texts of one kind, with a count.
type merger struct {
	kinds []string
	texts []string // the first of each kind
	count []int
}

func (m *merger) add(kind, text string) {
	at := slices.Index(m.kinds, kind)
	if at < 0 {
		at = len(m.kinds)
		m.kinds, m.texts, m.count = append(m.kinds, kind), append(m.texts, text), append(m.count, 0)
	}
	m.count[at]++
}

func (m *merger) list() []string {
	for i, n := range m.count {
		if n > 1 {
			m.texts[i] += fmt.Sprintf(" (and %d more like it)", n-1)
		}
	}
	return m.texts
}

// lettersOf returns a text without digits: notes that differ only in their numbers are of one
// kind.
func lettersOf(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, text)
}

// firstFew lists the first n entries of a long list.
func firstFew(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:n], ", "), len(list)-n)
}
