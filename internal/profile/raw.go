package profile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ReadRaw reads what ncu --csv --page raw prints: a line of names, a line of units,
// and a line for each launch.
func ReadRaw(r io.Reader) (*Profile, error) {
	data, err := readAll(r)
	if err != nil {
		return nil, err
	}
	return readRaw(data)
}

func readRaw(data []byte) (*Profile, error) {
	p, err := rawPage(data)
	if err != nil {
		return nil, fmt.Errorf("reading a raw page of ncu: %w", err)
	}
	return p, nil
}

func rawPage(data []byte) (*Profile, error) {
	s, notes, err := openSheet(data, "ID", "Kernel Name")
	if err != nil {
		return nil, err
	}
	if s.has("Metric Name") {
		return nil, errors.New("this is a details page")
	}
	metrics := s.metricColumns()
	row, err := s.next()
	if err != nil {
		return nil, fmt.Errorf("the line of units is missing: %w", notEOF(err))
	}
	units := make([]string, len(s.header))
	if s.at(row, "ID") != "" {
		return nil, errors.New("the line after the names is not that of the units")
	}
	for i := range min(len(row), len(units)) {
		units[i] = strings.Clone(row[i])
	}
	p := &Profile{Format: Format, Tool: Tool{Name: "ncu", Page: "raw"}, Notes: notes}
	p.Tool.Version = noted(notes)
	var total count
	for {
		row, err := s.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(row) == 1 { // a line of the tool, or of the program
			p.note(row[0])
			continue
		}
		l, err := s.launch(row)
		if err != nil {
			return nil, err
		}
		l.Metrics = make([]Metric, 0, len(metrics))
		numbers := make([]float64, len(metrics))
		for n, i := range metrics {
			if i >= len(row) {
				break
			}
			m := Metric{Name: s.header[i], Unit: units[i]}
			m.setValue(row[i], &numbers[n])
			l.Metrics = append(l.Metrics, m)
		}
		p.Launches = append(p.Launches, l)
		total.launches, total.metrics = total.launches+1, total.metrics+len(l.Metrics)
		if err := total.check(); err != nil {
			return nil, err
		}
	}
	if len(p.Launches) == 0 {
		return nil, errEmpty
	}
	return p, nil
}

func notEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// note keeps a line that stands between the values.
func (p *Profile) note(line string) {
	n := notes{p.Notes}
	n.add(line)
	p.Notes = n.list
}

// idColumns are what ncu says of a launch and that is no metric.
var idColumns = map[string]bool{
	"ID": true, "Process ID": true, "Process Name": true, "Host Name": true, "Kernel Name": true, "Kernel Time": true,
	"Context": true, "Stream": true, "Block Size": true, "Grid Size": true, "Device": true, "Device Id": true, "CC": true,
	"Invocations": true, "Section Name": true, "Metric Name": true, "Metric Unit": true, "Metric Value": true,
	"Rule Name": true, "Rule Type": true, "Rule Description": true, "Estimated Speedup Type": true, "Estimated Speedup": true,
	"Minimum": true, "Maximum": true, "Average": true,
}

// metricColumns are those of a raw page that hold metrics. Names of metrics have
// neither spaces nor colons; what has is of the launch (NVTX ranges).
func (s *sheet) metricColumns() []int {
	var list []int
	for i, name := range s.header {
		if !idColumns[name] && !strings.ContainsAny(name, " :") && name != "" {
			list = append(list, i)
		}
	}
	return list
}

// launch reads the cells that name a launch.
func (s *sheet) launch(row []string) (Launch, error) {
	l := Launch{Kernel: strings.Clone(s.at(row, "Kernel Name")), CC: strings.Clone(s.at(row, "CC"))}
	if id := s.at(row, "ID"); id != "" {
		n, err := strconv.Atoi(id)
		if err != nil || n < 0 {
			line, _ := s.FieldPos(0)
			return Launch{}, fmt.Errorf("after the header: line %d: the ID %q is no number", line, id)
		}
		l.ID = n
	}
	for _, size := range []struct {
		column string
		into   *[3]int
	}{{"Block Size", &l.Block}, {"Grid Size", &l.Grid}} {
		cell := s.at(row, size.column)
		if dims, ok := parseDims(cell); ok {
			*size.into = dims
		} else if cell != "" {
			l.Fields = append(l.Fields, Field{size.column, strings.Clone(cell)})
		}
	}
	for i, name := range s.header {
		if i >= len(row) || row[i] == "" || inLaunch[name] {
			continue
		}
		if idColumns[name] || strings.ContainsAny(name, " :") || name == "" {
			l.Fields = append(l.Fields, Field{name, strings.Clone(row[i])})
		}
	}
	return l, nil
}

// inLaunch are columns with a place of their own, in the launch, a metric or a rule.
var inLaunch = map[string]bool{
	"ID": true, "Kernel Name": true, "CC": true, "Block Size": true, "Grid Size": true,
	"Section Name": true, "Metric Name": true, "Metric Unit": true, "Metric Value": true,
	"Rule Name": true, "Rule Type": true, "Rule Description": true, "Estimated Speedup Type": true, "Estimated Speedup": true,
	"Minimum": true, "Maximum": true, "Average": true,
}

// parseDims reads "(64, 32, 1)".
func parseDims(s string) (dims [3]int, ok bool) {
	inner, ok := strings.CutPrefix(s, "(")
	if !ok {
		return dims, false
	}
	inner, ok = strings.CutSuffix(inner, ")")
	parts := strings.Split(inner, ",")
	if !ok || len(parts) != 3 {
		return dims, false
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(strings.TrimSpace(part), 10, 31)
		if err != nil {
			return [3]int{}, false
		}
		dims[i] = int(n)
	}
	return dims, true
}

// noted finds the version of ncu in its messages, where it says so.
func noted(notes []string) string {
	for _, line := range notes {
		if _, version, ok := strings.Cut(line, "Version "); ok {
			version, _, _ = strings.Cut(version, " ")
			return version
		}
	}
	return ""
}

// isRaw tells a raw page by its header.
func isRaw(data []byte) bool {
	return hasHeader(data, "ID", "Kernel Name") && !hasHeader(data, "Kernel Name", "Metric Name")
}

// hasHeader tells whether one of the first lines names these columns.
func hasHeader(data []byte, want ...string) bool {
	for range maxNotes {
		line, rest, more := bytes.Cut(data, []byte("\n"))
		if _, ok := headerOf(line, want); ok {
			return true
		}
		if !more {
			return false
		}
		data = rest
	}
	return false
}
