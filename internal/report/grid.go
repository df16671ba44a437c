package report

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// grid is a table for a terminal: columns as wide as they need to be, numbers
// to the right, and nothing drawn that does not carry information.
type grid struct {
	right []bool // alignment by column
	rows  [][]string
	paint func(row []string, line string) string // colours a line; nil for none
}

func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

// dropEmpty removes columns in which no row but the first has anything to say.
func (g *grid) dropEmpty() {
	keep := make([]bool, len(g.right))
	for i, row := range g.rows {
		for c, cell := range row {
			if i > 0 && cell != "" && cell != "-" {
				keep[c] = true
			}
		}
	}
	var right []bool
	for c, k := range keep {
		if k {
			right = append(right, g.right[c])
		}
	}
	for i, row := range g.rows {
		var cells []string
		for c, cell := range row {
			if keep[c] {
				cells = append(cells, cell)
			}
		}
		g.rows[i] = cells
	}
	g.right = right
}

// fit removes columns, in the order given, until a row fits the width.
func (g *grid) fit(width int, columns ...string) {
	for _, name := range columns {
		if width <= 0 || g.width() <= width {
			return
		}
		if c := slices.Index(g.rows[0], name); c >= 0 {
			g.right = slices.Delete(g.right, c, c+1)
			for i, row := range g.rows {
				g.rows[i] = slices.Delete(row, c, c+1)
			}
		}
	}
}

// shorten cuts the middle out of the cells of a column until a row fits the width, or
// hardly anything would be left of them.
func (g *grid) shorten(column, width int) {
	const least = 16
	over := g.width() - width
	if width <= 0 || over <= 0 {
		return
	}
	most := max(g.widths()[column]-over, least)
	for i, row := range g.rows {
		if letters := []rune(row[column]); len(letters) > most {
			head := most / 2
			g.rows[i][column] = string(letters[:head]) + "…" + string(letters[len(letters)-(most-head-1):])
		}
	}
}

// width is that of the widest row.
func (g *grid) width() int {
	total := 2 * (len(g.right) - 1)
	for _, w := range g.widths() {
		total += w
	}
	return total
}

func (g *grid) widths() []int {
	widths := make([]int, len(g.right))
	for _, row := range g.rows {
		for c, cell := range row {
			widths[c] = max(widths[c], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

func (g *grid) write(w io.Writer, style Style) error {
	widths := g.widths()
	for i, row := range g.rows {
		var b strings.Builder
		for c, cell := range row {
			pad := strings.Repeat(" ", widths[c]-utf8.RuneCountInString(cell))
			if c > 0 {
				b.WriteString("  ")
			}
			if g.right[c] {
				b.WriteString(pad + cell)
			} else {
				b.WriteString(cell + pad)
			}
		}
		line := strings.TrimRight(b.String(), " ")
		switch {
		case i == 0:
			line = style.Faint(line)
		case g.paint != nil:
			line = g.paint(row, line)
		}
		if _, err := io.WriteString(w, line+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// Table writes rows as a table for a terminal; the first row is its head. Right
// tells, column by column, which are numbers.
func Table(w io.Writer, style Style, right []bool, rows [][]string) error {
	return (&grid{right: right, rows: rows}).write(w, style)
}

// Style is how text is made for a terminal; the zero Style leaves it alone.
type Style struct {
	Color bool
	Width int // of the terminal in columns; 0 for no limit
}

func (s Style) with(code, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Faint is for what frames the content.
func (s Style) Faint(text string) string { return s.with("2", text) }

// Bold is for what a reader looks for first.
func (s Style) Bold(text string) string { return s.with("1", text) }

// Warn is for what needs attention.
func (s Style) Warn(text string) string { return s.with("33", text) }

// Bad is for what failed.
func (s Style) Bad(text string) string { return s.with("31", text) }

// Good is for what is as it should be.
func (s Style) Good(text string) string { return s.with("32", text) }
