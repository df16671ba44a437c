package artifact

import (
	"strconv"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/report/sweep"
)

// table holds rows for people and, as separate values, for programs.
type table struct {
	name    string // base name of its files
	title   string
	note    string // how to read it
	columns []column
	rows    [][]cell
}

// column is one column for people, and the fields that hold the same data for programs.
type column struct {
	head   string
	right  bool
	fields []string
}

// cell is the content of a column: text for people, one value per field.
type cell struct {
	text   string
	values []string
}

// texts returns the table for people, the header first, with every text escaped.
func (t table) texts(escape func(string) string) [][]string {
	rows := make([][]string, 1, 1+len(t.rows))
	for _, c := range t.columns {
		rows[0] = append(rows[0], escape(c.head))
	}
	for _, row := range t.rows {
		var cells []string
		for _, c := range row {
			cells = append(cells, escape(c.text))
		}
		rows = append(rows, cells)
	}
	return rows
}

func textCell(s string) cell { return cell{s, []string{s}} }

func count(n int) cell { return textCell(strconv.Itoa(n)) }

// blank fills a column of the given number of fields with nothing.
func blank(fields int) cell { return cell{"", make([]string, fields)} }

// number formats a value for programs: more digits than any measurement has, but not those
// that differ between machines.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 9, 64) }

func nanoseconds(v float64) cell { return cell{words.Quantity(v, "ns"), []string{number(v)}} }

// nanosecondRange formats the interval of a time.
func nanosecondRange(r *sweep.Range) cell {
	if r == nil {
		return blank(2)
	}
	return cell{words.Quantity(r.Low, "ns") + " to " + words.Quantity(r.High, "ns"), []string{number(r.Low), number(r.High)}}
}

func factor(v float64) cell { return cell{times(v), []string{number(v)}} }

func factorRange(r *sweep.Range) cell {
	if r == nil {
		return blank(2)
	}
	return cell{times(r.Low) + " to " + times(r.High), []string{number(r.Low), number(r.High)}}
}

// times formats a speed-up with enough digits to see 0.1 %.
func times(v float64) string {
	if v >= 100 {
		return strconv.FormatFloat(v, 'f', 1, 64) + "x"
	}
	return strconv.FormatFloat(v, 'f', 3, 64) + "x"
}

func share(v float64) cell {
	digits := 1
	if v < 0.01 {
		digits = 2
	}
	return cell{strconv.FormatFloat(100*v, 'f', digits, 64) + " %", []string{number(v)}}
}

// chance formats a P value so that a small one does not look like zero.
func chance(p float64) cell {
	text := strconv.FormatFloat(p, 'f', 3, 64)
	if p < 0.001 {
		text = "<0.001"
	}
	return cell{text, []string{number(p)}}
}
