package decide

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/judge/preflight"
	"github.com/goatnote-inc/pawl/internal/report"
)

// writePreflight prints one line for each gate, and all details of a gate that does not pass.
func writePreflight(w io.Writer, style report.Style, r preflight.Report) error {
	var b strings.Builder
	head := "preflight"
	if r.Target.Known() {
		head += " for " + r.Target.String()
	}
	b.WriteString(style.Bold(head) + "\n\n")
	var stopped []string
	for _, name := range preflight.Names() {
		gates := r.Of(name)
		if len(gates) == 0 {
			continue
		}
		worst := preflight.Report{Gates: gates}.Worst()
		fmt.Fprintf(&b, "%-14s %s%s", name, stateStyle(style, worst), strings.Repeat(" ", 8-len(worst)))
		if worst == preflight.Pass {
			b.WriteString(passLine(gates) + "\n")
			continue
		}
		if worst == preflight.Stop {
			stopped = append(stopped, string(name))
		}
		writeNotPassed(&b, style, gates, worst)
	}
	if len(r.Gates) == 0 {
		b.WriteString("nothing to check: the suite says nothing about its kernels, and the build has no device code\n")
	}
	if len(stopped) > 0 {
		end := "; nothing was run\n"
		if !r.Built {
			end = "; nothing was compiled\n"
		}
		b.WriteString("\n" + style.Bad("stopped") + " by " + strings.Join(stopped, ", ") + end)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func stateStyle(style report.Style, s preflight.State) string {
	switch s {
	case preflight.Stop:
		return style.Bad(string(s))
	case preflight.Warn:
		return style.Warn(string(s))
	case preflight.Unknown:
		return style.Faint(string(s))
	default:
		return style.Good(string(s))
	}
}

// passLine returns the result that is closest to its limit.
func passLine(gates []preflight.Gate) string {
	nearest := slices.MaxFunc(gates, func(a, b preflight.Gate) int {
		x, y := limitUse(a), limitUse(b)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		default:
			return 0
		}
	})
	text := nearest.Text
	if subject := nearest.Subject(); subject != "" && !strings.Contains(text, subject) {
		text = subject + ": " + text
	}
	if n := len(gates) - 1; n > 0 {
		text += fmt.Sprintf("; %d more", n)
	}
	return text
}

// limitUse returns how much of its limit a number uses. For occupancy and duration, higher is better.
func limitUse(g preflight.Gate) float64 {
	switch {
	case g.Name == preflight.Occupancy, g.Name == preflight.Duration:
		return -g.Number
	case g.Limit > 0:
		return g.Number / g.Limit
	default:
		return g.Number
	}
}

// shownFindings is how many findings of a gate are shown before the rest is only counted.
const shownFindings = 8

func writeNotPassed(b *strings.Builder, style report.Style, gates []preflight.Gate, worst preflight.State) {
	var found []preflight.Gate
	for _, state := range []preflight.State{preflight.Stop, preflight.Warn, preflight.Unknown} {
		for _, g := range gates {
			if g.State == state {
				found = append(found, g)
			}
		}
	}
	if len(found) == 1 && found[0].Fix == "" && worst == preflight.Unknown {
		b.WriteString(passLine(found) + "\n")
		return
	}
	if passed := len(gates) - len(found); passed > 0 {
		fmt.Fprintf(b, "%d of %d", len(found), len(gates))
	}
	trimRight(b)
	b.WriteString("\n")
	for i, g := range found {
		if i == shownFindings {
			fmt.Fprintf(b, "  and %d more\n", len(found)-i)
			return
		}
		text := g.Text
		if subject := g.Subject(); subject != "" {
			text = subject + ": " + text
		}
		if g.State != worst {
			text = string(g.State) + ": " + text
		}
		b.WriteString("  " + strings.ReplaceAll(text, "\n", "\n  ") + "\n")
		if g.Fix != "" {
			b.WriteString("    " + style.Faint("fix: ") + g.Fix + "\n")
		}
	}
}

// trimRight removes spaces from the end of the written text.
func trimRight(b *strings.Builder) {
	text := strings.TrimRight(b.String(), " ")
	b.Reset()
	b.WriteString(text)
}
