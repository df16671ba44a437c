package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

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

// heading starts a block.
func heading(width float64, text string) *drawing {
	d := &drawing{width: width, height: 16}
	d.write(toneInk, point{0, 9}, word{text: text, bold: true})
	return d
}

// pagerRows is how many table rows an image shows.
const pagerRows = 6

// changesBlock draws the table of changes; with one side only, of findings.
func (r Reason) changesBlock(width float64) *drawing {
	if len(r.Rows) == 0 {
		return &drawing{}
	}
	title := "What changed"
	if r.Head[1] == "value" {
		title = "What the profile shows"
	}
	d := heading(width, title)
	const cell = 56.0
	ends := []float64{width - cell - 6, width}
	two := r.Head[1] == "base"
	if two {
		for i, end := range ends {
			d.write(toneSoft, point{end, 9}, word{text: r.Head[i+1], small: true, anchor: atEnd})
		}
	} else {
		ends = []float64{width}
	}
	y := 16.0
	for _, row := range r.Rows[:min(len(r.Rows), pagerRows)] {
		d.line(toneLine, 1, point{0, y}, point{width, y})
		names := lines(em, drawable(row[0]), ends[0]-cell, 2)
		for i, text := range names {
			d.write(toneInk, point{0, y + 14 + float64(i)*13}, word{text: text})
		}
		for i, end := range ends {
			t := toneInk
			if two && i == 0 {
				t = toneSoft
			}
			d.write(t, point{end, y + 14}, word{text: elideMiddleAt(regular, em, drawable(row[i+1]), cell), bold: two && i == 1, anchor: atEnd})
		}
		y += 7 + 13*float64(max(len(names), 1))
	}
	d.height = y + 4
	return d
}

// stallsBlock draws the stall bars with their heading.
func (r Reason) stallsBlock(width float64) *drawing {
	d := heading(width, "What warps wait for")
	d.write(toneSoft, point{width, 9}, word{text: "cycles per instruction", small: true, anchor: atEnd})
	bars := r.Stalls.draw(width)
	d.include(bars, 0, 18)
	d.height = 18 + bars.height
	return d
}

// roofBlock draws the roofline with its heading and its first remark.
func (r Reason) roofBlock(width float64) *drawing {
	title := "Roofline"
	if r.Roofline.Device != "" {
		title += " of " + r.Roofline.Device
	}
	d := heading(width, elideMiddleAt(bold, em, drawable(title), width))
	plot := r.Roofline.draw(width, 236)
	d.include(plot, 0, 16)
	d.height = 16 + plot.height
	for _, note := range r.Roofline.Remarks() {
		for _, text := range lines(emSmall, drawable(note), width, 2) {
			d.height += 13
			d.write(toneSoft, point{0, d.height}, word{text: text, small: true})
		}
	}
	return d
}

// fixBlock draws the first thing to try, with a few lines of code and what to watch for.
func (r Reason) fixBlock(width float64) *drawing {
	if len(r.Fixes) == 0 {
		return &drawing{}
	}
	fix := r.Fixes[0]
	d := heading(width, "Try first")
	if fix.Gain != "" {
		d.write(toneSoft, point{width, 9}, word{text: fix.Gain, small: true, anchor: atEnd})
	}
	y := 14.0
	for _, text := range lines(em, drawable(fix.Do), width, 6) {
		y += 14
		d.write(toneInk, point{0, y}, word{text: text})
	}
	if code := wrappedCode(fix.Example, width-14); len(code) > 0 {
		y += 8
		tall := float64(len(code))*12 + 10
		d.bar(toneFaint, 0, y, width, tall)
		for i, text := range code {
			d.write(toneInk, point{7, y + 14 + float64(i)*12}, word{text: text, mono: true, large: codeSize})
		}
		y += tall
	}
	if fix.Watch != "" {
		y += 4
		for _, text := range lines(emSmall, drawable("Watch: "+fix.Watch), width, 3) {
			y += 12.5
			d.write(toneSoft, point{0, y}, word{text: text, small: true})
		}
	}
	d.height = y + 4
	return d
}

// codeSize is the font size of code in an image, small enough to avoid line breaks.
const codeSize = 8.5

// wrappedCode breaks lines that are too wide at spaces and indents the continuation lines.
func wrappedCode(code []string, width float64) []string {
	most := int(width / textWidth(mono, codeSize, "m"))
	var list []string
	for _, text := range code {
		text = drawable(text)
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
