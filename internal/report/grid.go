package report

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// grid is a table for a terminal: columns as wide as needed, numbers right-aligned, no
// decoration.
type grid struct {
	right []bool // alignment by column
	rows  [][]string
	paint func(row []string, line string) string // colors a line; nil for none
}

func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

// dropEmpty removes columns that are empty in every row but the first.
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

// fit removes columns, in the given order, until rows fit the width.
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

// shorten cuts the middle out of the cells of a column until rows fit the width, or the
// cells get too short.
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

// width returns the width of the widest row.
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

// text returns the table, the header faint.
func (g *grid) text(style Style) string {
	var all strings.Builder
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
		all.WriteString(line + "\n")
	}
	return all.String()
}

// Table writes rows as a table for a terminal. The first row is the header; right reports,
// per column, whether it holds numbers.
func Table(w io.Writer, style Style, right []bool, rows [][]string) error {
	_, err := io.WriteString(w, (&grid{right: right, rows: rows}).text(style))
	return err
}

// Style formats text for a terminal. The zero Style leaves text unchanged.
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

// Faint formats text that frames the content.
func (s Style) Faint(text string) string { return s.with("2", text) }

// Bold formats what a reader looks for first.
func (s Style) Bold(text string) string { return s.with("1", text) }

// Warn formats text that needs attention.
func (s Style) Warn(text string) string { return s.with("33", text) }

// Bad formats failures.
func (s Style) Bad(text string) string { return s.with("31", text) }

// Good formats successes.
func (s Style) Good(text string) string { return s.with("32", text) }
