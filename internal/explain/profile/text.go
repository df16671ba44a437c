package profile

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// isText recognizes the page by a line of dashes in columns, which every table has.
func isText(data []byte) bool {
	for line := range bytes.Lines(data) {
		if len(line) < 1000 && len(columnsOf(strings.TrimRight(string(line), " \r\n"))) >= 3 {
			return true
		}
	}
	return false
}

// readText reads the display pages of ncu: details or raw, of every launch or as a summary, from
// 2020 to 2025. Output of the program and messages of the tool in between become notes.
func readText(data []byte) (*Profile, error) {
	t := textPage{profile: &Profile{Format: Format, Tool: Tool{Name: "ncu", Page: "text"}}}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if len(line) > maxCell {
			return nil, fmt.Errorf("cannot read ncu text page: line %d has %d bytes (max %d)", number, len(line), maxCell)
		}
		if err := t.line(strings.TrimRight(strings.ToValidUTF8(string(line), "\ufffd"), " \r\n")); err != nil {
			return nil, fmt.Errorf("cannot read ncu text page: line %d: %w", number, err)
		}
	}
	t.profile.Notes = t.notes.list
	for i := range t.profile.Launches {
		t.profile.Launches[i].complete()
	}
	if len(t.profile.Launches) == 0 {
		return nil, fmt.Errorf("cannot read ncu text page: %w", errEmpty)
	}
	return t.profile, nil
}

// textPage is the state of the reader.
type textPage struct {
	profile *Profile
	notes   notes
	total   count

	process []Field // process of the launches that follow
	device  []Field // device, in a summary by GPU
	section string
	columns []span   // columns of the current table; nil outside
	titles  []string // titles of the table: Minimum, Maximum, Average; or none
	rows    int      // rows of the table so far
	printed string   // value of the last row
	rule    *Rule    // rule whose text is being read
}

var (
	processLine = lazyregexp.New(`^\[(\d+)\] (.*)@(\S+)$`)
	ruleLine    = lazyregexp.New(`^ {4,}(OPT|WRN|INF|ERR|OK) {2,}(\S.*)$`)
	speedup     = lazyregexp.New(`^Est\. (Local )?Speedup: ([0-9.]+)%$`)
)

func (t *textPage) line(s string) error {
	if spans := columnsOf(s); len(spans) >= 3 {
		t.dashes(spans)
		return nil
	}
	if t.columns != nil && (strings.TrimSpace(s) == "" || s[0] != ' ') {
		t.columns = nil // end of a table of the raw page
	}
	trimmed := strings.TrimSpace(s)
	switch {
	case t.columns != nil && !isTitle(trimmed):
		return t.metric(s)
	case isTitle(trimmed):
		t.titles = strings.Fields(trimmed)[4:]
		return nil
	case t.rule != nil && strings.HasPrefix(s, "          "):
		t.continueRule(trimmed)
		return nil
	}
	t.rule = nil
	if found := processLine.FindStringSubmatch(s); found != nil {
		t.process = []Field{{"Process ID", found[1]}, {"Process Name", found[2]}, {"Host Name", found[3]}}
		t.device, t.section = nil, ""
		return nil
	}
	if name, ok := strings.CutPrefix(trimmed, "Section: "); ok && s[0] == ' ' {
		t.section, t.titles = name, nil
		return nil
	}
	if found := ruleLine.FindStringSubmatch(s); found != nil && len(t.profile.Launches) > 0 {
		return t.startRule(found[1], found[2])
	}
	if t.process != nil && strings.HasPrefix(s, "  ") && t.launch(trimmed) {
		t.total.launches = len(t.profile.Launches)
		return t.total.check()
	}
	t.notes.add(s)
	return nil
}

// dashes handles a line of dashes: it starts a table, underlines its titles, or ends it.
func (t *textPage) dashes(spans []span) {
	if t.columns != nil && t.rows > 0 {
		t.columns, t.titles = nil, nil
		return
	}
	t.columns, t.rows, t.rule = spans, 0, nil
}

func isTitle(s string) bool {
	return strings.HasPrefix(s, "Metric Name ") && strings.Contains(s, " Metric Unit ") && len(strings.Fields(s)) >= 5
}

func (t *textPage) startRule(kind, text string) error {
	l := &t.profile.Launches[len(t.profile.Launches)-1]
	l.Rules = append(l.Rules, Rule{Section: t.section, Kind: kind})
	t.rule = &l.Rules[len(l.Rules)-1]
	if found := speedup.FindStringSubmatch(text); found != nil {
		if v, _, ok := parseNumber(found[2]); ok {
			t.rule.Speedup, t.rule.Scope = &v, "global"
			if found[1] != "" {
				t.rule.Scope = "local"
			}
			text = ""
		}
	}
	t.rule.Text = text
	t.total.rules++
	return t.total.check()
}

func (t *textPage) continueRule(text string) {
	switch {
	case len(t.rule.Text)+len(text) > maxCell:
	case t.rule.Text == "":
		t.rule.Text = text
	default:
		t.rule.Text += " " + text
	}
}

func (t *textPage) metric(s string) error {
	if len(t.profile.Launches) == 0 {
		return errors.New("a value comes before its launch: the start of the page is missing")
	}
	l := &t.profile.Launches[len(t.profile.Launches)-1]
	cells := cut(s, t.columns)
	value := cells[len(cells)-1]
	if strings.Join(cells[:len(cells)-1], "") == "" && t.rows > 0 {
		t.wrapped(&l.Metrics[len(l.Metrics)-1], value)
		return nil
	}
	name, label := splitName(cells[0])
	m := Metric{Name: name, Section: t.section, Label: label, Unit: cells[1]}
	if len(cells) == 5 && len(t.titles) >= 3 {
		for i, into := range []**float64{&m.Low, &m.High} {
			if v, _, ok := parseNumber(cells[2+i]); ok {
				*into = &v
			}
		}
	}
	m.setValue(value, new(float64))
	l.Metrics = append(l.Metrics, m)
	t.printed = value
	t.rows++
	t.total.metrics++
	return t.total.check()
}

// wrapped appends the rest of a value that was too long for its line. The tool breaks values
// between words if possible.
func (t *textPage) wrapped(m *Metric, rest string) {
	last := t.columns[len(t.columns)-1]
	if len(t.printed) < last.to-last.from {
		t.printed += " "
	}
	if len(t.printed)+len(rest) > maxCell {
		return
	}
	t.printed += rest
	m.Value, m.Text = nil, ""
	m.setValue(t.printed, new(float64))
}

// span is the start and end of a column.
type span struct{ from, to int }

// columnsOf returns the columns marked by a line of dashes.
func columnsOf(s string) []span {
	if !strings.Contains(s, "---") || strings.Trim(s, " -") != "" {
		return nil
	}
	var list []span
	for at := 0; at < len(s); {
		from := strings.IndexByte(s[at:], '-')
		if from < 0 {
			break
		}
		from += at
		to := from
		for to < len(s) && s[to] == '-' {
			to++
		}
		list = append(list, span{from, to})
		at = to
	}
	return list
}

// cut splits a row at its columns. If a cell is wider than its column, which happens with fixed
// widths, it splits by words instead: the last ones are the values.
func cut(s string, columns []span) []string {
	cells := make([]string, len(columns))
	for i, c := range columns {
		to := len(s)
		if i+1 < len(columns) {
			to = min(c.to, len(s))
			if to < len(s) && s[to] != ' ' {
				return cutWords(s, len(columns))
			}
		}
		cells[i] = strings.TrimSpace(strings.ToValidUTF8(s[min(c.from, len(s)):to], "\ufffd"))
	}
	return cells
}

func cutWords(s string, n int) []string {
	words := strings.Fields(s)
	cells := make([]string, n)
	for i := n - 1; i >= 1 && len(words) > 1; i-- {
		last := words[len(words)-1]
		if i == 1 && !isName(words[0]) {
			break // in a label, any word could be the unit
		}
		cells[i], words = last, words[:len(words)-1]
	}
	cells[0] = strings.Join(words, " ")
	return cells
}
