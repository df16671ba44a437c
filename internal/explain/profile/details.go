package profile

import (
	"errors"
	"io"
	"strings"
)

// ReadDetails reads the output of ncu --csv --page details: a row for each metric of a section,
// with its display label, and one for each rule result. With --print-summary, a row has the
// minimum, the maximum and the mean of several launches.
func ReadDetails(r io.Reader) (*Profile, error) { return readAs(r, readDetails) }

func isDetails(data []byte) bool { return hasHeader(data, "Kernel Name", "Metric Name") }

func detailsPage(data []byte) (*Profile, error) {
	s, err := openSheet(data, "Kernel Name", "Section Name", "Metric Name", "Metric Unit")
	if err != nil {
		return nil, err
	}
	value := "Metric Value"
	if !s.has(value) {
		if value = "Average"; !s.has(value) {
			return nil, errors.New("there is no column Metric Value or Average")
		}
	}
	p := &Profile{Format: Format, Tool: Tool{Name: "ncu", Page: "details"}, Notes: s.notes}
	launches := map[string]int{}
	var total count
	for row, err := range s.rows() {
		if err != nil {
			return nil, err
		}
		key := s.key(row)
		at, known := launches[key]
		if !known {
			l, err := s.launch(row)
			if err != nil {
				return nil, err
			}
			if !s.has("ID") {
				l.ID = len(p.Launches)
			}
			at = len(p.Launches)
			launches[key] = at
			p.Launches = append(p.Launches, l)
			total.launches++
		}
		if s.addRow(&p.Launches[at], row, value) {
			total.rules++
		} else {
			total.metrics++
		}
		if err := total.check(); err != nil {
			return nil, err
		}
	}
	if len(p.Launches) == 0 {
		return nil, errEmpty
	}
	for i := range p.Launches {
		p.Launches[i].complete()
	}
	return p, nil
}

// key identifies a launch: by its number, or in a summary by all columns that describe it.
func (s *sheet) key(row []string) string {
	if id := s.at(row, "ID"); id != "" {
		return id
	}
	var key strings.Builder
	for i, name := range s.header {
		if i < len(row) && (name == "Kernel Name" || name == "Block Size" || name == "Grid Size" || isField(name)) {
			key.WriteString(row[i])
			key.WriteByte(0)
		}
	}
	return key.String()
}

// addRow adds the content of a row, and reports whether it is a rule result.
func (s *sheet) addRow(l *Launch, row []string, value string) (rule bool) {
	clone := func(column string) string { return strings.Clone(s.at(row, column)) }
	if s.at(row, "Metric Name") == "" && s.at(row, "Rule Name") != "" {
		r := Rule{
			ID: clone("Rule Name"), Section: clone("Section Name"), Kind: clone("Rule Type"),
			Text: clone("Rule Description"), Scope: clone("Estimated Speedup Type"),
		}
		if v, _, ok := parseNumber(s.at(row, "Estimated Speedup")); ok {
			r.Speedup = &v
		}
		l.Rules = append(l.Rules, r)
		return true
	}
	name, label := splitName(s.at(row, "Metric Name"))
	m := Metric{Name: strings.Clone(name), Section: clone("Section Name"), Label: strings.Clone(label), Unit: clone("Metric Unit")}
	m.setValue(s.at(row, value), new(float64))
	for _, bound := range []struct {
		column string
		into   **float64
	}{{"Minimum", &m.Low}, {"Maximum", &m.High}} {
		if v, _, ok := parseNumber(s.at(row, bound.column)); ok {
			*bound.into = &v
		}
	}
	l.Metrics = append(l.Metrics, m)
	return false
}

// splitName separates a metric's name from its label. A cell has either or both: "DRAM
// Frequency (dram__cycles_elapsed.avg.per_second)". A name has no spaces, and either two
// underscores or only lower-case letters.
func splitName(cell string) (name, label string) {
	if isName(cell) {
		return cell, ""
	}
	if at := strings.LastIndexAny(cell, " "); at > 0 {
		last := strings.Trim(cell[at+1:], "()[]")
		if strings.Contains(last, "__") && isName(last) {
			return last, strings.TrimRight(cell[:at], " :-")
		}
	}
	return "", cell
}

func isName(s string) bool {
	if strings.ContainsAny(s, " ()[]/%#:") || s == "" {
		return false
	}
	return strings.Contains(s, "__") || strings.Contains(s, "_") && strings.ToLower(s) == s
}
