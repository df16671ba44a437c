package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goatnote-inc/pawl/internal/base/chart"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
)

// commitIn returns the commit that a profile was taken from.
func commitIn(s *diagnose.Subject) string {
	if s == nil || s.Profile == nil || s.Profile.Subject.Commit == "" {
		return ""
	}
	text := fmt.Sprintf("%.12s", words.SanitizeTo(s.Profile.Subject.Commit, words.NameLength))
	if s.Profile.Subject.Dirty {
		text += " with uncommitted changes"
	}
	return text
}

// heading starts a block, with a remark at the right.
func heading(width float64, text, remark string) *chart.Drawing {
	d := chart.New(width, 16)
	d.Print(chart.Ink, chart.At(0, 9), chart.Label{Text: text, Align: chart.Start, Bold: true, Heading: true, Most: width})
	d.Print(chart.Soft, chart.At(width, 9), chart.Label{Text: remark, Align: chart.End})
	return d
}

// pagerRows is how many table rows an image shows.
const pagerRows = 6

// changesBlock draws the table of changes; with one side only, of findings.
func (r Reason) changesBlock(width float64) *chart.Drawing {
	if len(r.Rows) == 0 {
		return chart.New(0, 0)
	}
	const cell = 56.0
	title, remark, ends, tones := "What the profile shows", "", []float64{width}, []chart.Tone{chart.Ink}
	two := r.Head[1] == "base"
	if two {
		title, remark, ends, tones = "What changed", r.Head[2], []float64{width - cell - 6, width}, []chart.Tone{chart.Soft, chart.Ink}
	}
	d := heading(width, title, remark)
	if two {
		d.Print(chart.Soft, chart.At(ends[0], 9), chart.Label{Text: r.Head[1], Align: chart.End})
	}
	y := 16.0
	for _, row := range r.Rows[:min(len(r.Rows), pagerRows)] {
		d.Line(chart.Rule, 1, chart.At(0, y), chart.At(width, y))
		names := chart.Lines(chart.LargeText, row[0], ends[0]-cell, 2)
		d.PrintLines(chart.Ink, chart.At(0, y+1), 13, names, chart.Label{Align: chart.Start, Heading: true})
		for i, end := range ends {
			d.Print(tones[i], chart.At(end, y+14), chart.Label{Text: row[i+1], Align: chart.End, Heading: true, Bold: two && i == 1}.Fit(cell))
		}
		y += 7 + 13*float64(max(len(names), 1))
	}
	d.Height = y + 4
	return d
}

// stallsBlock draws the stall bars with their heading.
func (r Reason) stallsBlock(width float64) *chart.Drawing {
	d, bars := heading(width, "What warps wait for", "cycles per instruction"), r.Stalls.Draw(width)
	d.Include(bars, 0, 18)
	d.Height = 18 + bars.Height
	return d
}

// roofBlock draws the roofline with its heading and its remarks.
func (r Reason) roofBlock(width float64) *chart.Drawing {
	title := "Roofline"
	if r.Roofline.Device != "" {
		title += " of " + r.Roofline.Device
	}
	d, plot := heading(width, title, ""), r.Roofline.Draw(width, 236)
	d.Include(plot, 0, 16)
	d.Height = r.Roofline.PrintRemarks(d, chart.At(0, 16+plot.Height), width, 2)
	return d
}

// fixBlock draws the first thing to try, with a few lines of code and what to watch for.
func (r Reason) fixBlock(width float64) *chart.Drawing {
	if len(r.Fixes) == 0 {
		return chart.New(0, 0)
	}
	fix := r.Fixes[0]
	d := heading(width, "Try first", fix.Gain)
	y := d.PrintLines(chart.Ink, chart.At(0, 14), 14, chart.Lines(chart.LargeText, fix.Do, width, 6), chart.Label{Align: chart.Start, Heading: true})
	if code := wrappedCode(fix.Example, width-14); len(code) > 0 {
		tall := float64(len(code))*12 + 10
		d.Bar(chart.Faint, 0, y+8, width, tall)
		d.PrintLines(chart.Ink, chart.At(7, y+10), 12, code, chart.Label{Align: chart.Start, Mono: true, Size: codeSize})
		y += 8 + tall
	}
	if fix.Watch != "" {
		y = d.PrintLines(chart.Soft, chart.At(0, y+4), 12.5, chart.Lines(chart.SmallText, "Watch: "+fix.Watch, width, 3), chart.Label{Align: chart.Start})
	}
	d.Height = y + 4
	return d
}

// codeSize is the font size of code in an image, small enough to avoid line breaks.
const codeSize = 8.5

// wrappedCode breaks lines that are too wide at spaces and indents the continuation lines.
func wrappedCode(code []string, width float64) []string {
	most := int(width / chart.Label{Text: "m", Mono: true, Size: codeSize}.Width())
	var list []string
	for _, text := range code {
		indent := len(text) - len(strings.TrimLeft(text, " "))
		for utf8.RuneCountInString(text) > most {
			letters := []rune(text)
			cut := most
			for cut > most/2 && letters[cut] != ' ' {
				cut--
			}
			if letters[cut] != ' ' {
				cut = most
			}
			list = append(list, strings.TrimRight(string(letters[:cut]), " "))
			text = strings.Repeat(" ", min(indent+4, most/2)) + strings.TrimLeft(string(letters[cut:]), " ")
		}
		list = append(list, text)
	}
	if len(list) > exampleLines {
		list = append(list[:exampleLines], "…")
	}
	return list
}
