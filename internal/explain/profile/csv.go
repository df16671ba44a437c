package profile

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf8"
)

// sheet is a CSV file whose columns are found by name: tools add columns, omit some, and truncate rows.
type sheet struct {
	*csv.Reader
	header  []string
	columns map[string]int
	units   map[string]string // units from column names such as Duration (ns)
	notes   []string          // lines that are not rows: messages, output of the program
}

// openSheet finds the header in a tool's output: the first line with these columns. If its cells are quoted, lines
// without a quote at their start are not rows.
func openSheet(data []byte, want ...string) (*sheet, error) { return openRows(data, true, want) }

// openRows is openSheet for a tool that may quote the header and not the first cell of its rows.
func openRows(data []byte, quoted bool, want []string) (*sheet, error) {
	var before notes
	if !utf8.Valid(data) {
		data = bytes.ToValidUTF8(data, []byte("\ufffd")) // the record is JSON
	}
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		if header, ok := headerOf(line, want); ok {
			if quoted && bytes.HasPrefix(bytes.TrimPrefix(line, []byte("\ufeff")), []byte(`"`)) {
				rest = rowsOf(rest, &before)
			}
			return newSheet(header, rest, before.list)
		}
		before.add(string(line))
		data = rest
	}
	return nil, fmt.Errorf("no line has the columns %s", strings.Join(want, ", "))
}

// rowsOf drops lines that are not rows. If a tool quotes every cell, a row starts with a quote, and
// output of the program in between does not. Cells may contain line breaks, so quotes are counted.
func rowsOf(data []byte, other *notes) []byte {
	var rows []byte // nil until a line is dropped
	inside := false
	for at := 0; at < len(data); {
		line := data[at:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end+1]
		}
		switch {
		case !inside && line[0] != '"':
			if rows == nil {
				rows = append(make([]byte, 0, len(data)), data[:at]...)
			}
			other.add(strings.TrimRight(string(line), "\n"))
		default:
			inside = inside != (bytes.Count(line, []byte(`"`))%2 == 1)
			if rows != nil {
				rows = append(rows, line...)
			}
		}
		at += len(line)
	}
	if rows == nil {
		return data
	}
	return rows
}

func headerOf(line []byte, want []string) ([]string, bool) {
	if len(line) > 4<<20 {
		return nil, false
	}
	for _, name := range want {
		if !bytes.Contains(line, []byte(name)) {
			return nil, false
		}
	}
	r := csv.NewReader(bytes.NewReader(line))
	r.LazyQuotes = true
	header, err := r.Read()
	if err != nil {
		return nil, false
	}
	has := map[string]bool{}
	for i, name := range header {
		header[i] = strings.TrimPrefix(name, "\ufeff")
		stem, _ := splitUnit(header[i])
		has[stem] = true
	}
	for _, name := range want {
		if !has[name] {
			return nil, false
		}
	}
	return header, true
}

// splitUnit separates the unit from a column's name: "Duration (ns)", "Start(nsec)".
func splitUnit(column string) (name, unit string) {
	inner, ok := strings.CutSuffix(column, ")")
	if at := strings.LastIndexByte(inner, '('); ok && at > 0 {
		return strings.TrimRight(inner[:at], " "), inner[at+1:]
	}
	return column, ""
}

func newSheet(header []string, rest []byte, notes []string) (*sheet, error) {
	if len(header) > maxColumns {
		return nil, fmt.Errorf("%d columns (max %d)", len(header), maxColumns)
	}
	s := &sheet{csv.NewReader(bytes.NewReader(rest)), header, map[string]int{}, map[string]string{}, notes}
	for i, column := range header {
		name, unit := splitUnit(column)
		header[i], s.units[name] = name, unit
		if _, twice := s.columns[name]; twice {
			return nil, fmt.Errorf("column %q appears twice", name)
		}
		s.columns[name] = i
	}
	s.FieldsPerRecord = -1 // rows of metrics are shorter than those of rules
	s.ReuseRecord = true
	return s, nil
}

// next reads a row; io.EOF is the end.
func (s *sheet) next() ([]string, error) {
	row, err := s.Read()
	if errors.Is(err, io.EOF) {
		return nil, io.EOF
	}
	if errors.Is(err, csv.ErrQuote) {
		return nil, fmt.Errorf("after the header: %w: the file may be cut short or edited; export it again", err)
	}
	if err != nil {
		return nil, fmt.Errorf("after the header: %w", err)
	}
	for _, cell := range row {
		if len(cell) > maxCell {
			line, _ := s.FieldPos(0)
			return nil, fmt.Errorf("after the header: line %d: a cell has %d bytes (max %d)", line, len(cell), maxCell)
		}
	}
	return row, nil
}

// rows iterates over the rows, up to the first error.
func (s *sheet) rows() iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		for {
			row, err := s.next()
			if errors.Is(err, io.EOF) || !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// at returns a row's cell in a column; empty if the row or the sheet has none.
func (s *sheet) at(row []string, column string) string {
	if i, ok := s.columns[column]; ok && i < len(row) {
		return row[i]
	}
	return ""
}

func (s *sheet) has(column string) bool {
	_, ok := s.columns[column]
	return ok
}

// notes are lines that are not part of the values.
type notes struct{ list []string }

func (n *notes) add(line string) {
	line = strings.TrimRight(strings.ToValidUTF8(line, "\ufffd"), " \r")
	if line == "" || len(n.list) >= maxNotes {
		return
	}
	n.list = append(n.list, strings.Clone(line[:min(len(line), 1000)]))
}
