package profile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ReadRaw reads the output of ncu --csv --page raw: a line of names, a line
// of units, and a line for each launch.
func ReadRaw(r io.Reader) (*Profile, error) { return readAs(r, readRaw) }

func rawPage(data []byte) (*Profile, error) {
	s, err := openSheet(data, "ID", "Kernel Name")
	if err != nil {
		return nil, err
	}
	if s.has("Metric Name") {
		return nil, errors.New("this is a details page")
	}
	metrics := s.metricColumns()
	row, err := s.next()
	if err != nil {
		return nil, fmt.Errorf("the line of units is missing: %w: the file may be cut short; export it again", notEOF(err))
	}
	units := make([]string, len(s.header))
	if s.at(row, "ID") != "" {
		return nil, errors.New("the line after the header is not the line of units")
	}
	for i := range min(len(row), len(units)) {
		units[i] = strings.Clone(row[i])
	}
	p := &Profile{Format: Format, Tool: Tool{Name: "ncu", Page: "raw"}, Notes: s.notes}
	var total count
	for row, err := range s.rows() {
		if err != nil {
			return nil, err
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
		l.complete()
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

// placed lists columns that have their own field in a launch, a metric or a rule; aside lists ncu's
// other columns about a launch.
var (
	knownColumns = columns("ID", "Kernel Name", "CC", "Block Size", "Grid Size",
		"Section Name", "Metric Name", "Metric Unit", "Metric Value", "Minimum", "Maximum", "Average",
		"Rule Name", "Rule Type", "Rule Description", "Estimated Speedup Type", "Estimated Speedup")
	otherColumns = columns("Process ID", "Process Name", "Host Name", "Kernel Time", "Context", "Stream", "Device", "Device Id", "Invocations")
)

func columns(names ...string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return set
}

// isField reports whether a column holds other information about the launch. Names of metrics have
// neither spaces nor colons; a column that has them is an NVTX range.
func isField(name string) bool {
	return !knownColumns[name] && (otherColumns[name] || name == "" || strings.ContainsAny(name, " :"))
}

// metricColumns returns the columns of a raw page that hold metrics.
func (s *sheet) metricColumns() []int {
	var list []int
	for i, name := range s.header {
		if !knownColumns[name] && !isField(name) {
			list = append(list, i)
		}
	}
	return list
}

// launch reads the cells that describe a launch.
func (s *sheet) launch(row []string) (Launch, error) {
	l := Launch{Kernel: strings.Clone(s.at(row, "Kernel Name")), CC: strings.Clone(s.at(row, "CC"))}
	if id := s.at(row, "ID"); id != "" {
		n, err := strconv.Atoi(id)
		if err != nil || n < 0 {
			line, _ := s.FieldPos(0)
			return Launch{}, fmt.Errorf("after the header: line %d: the ID %q is not a number", line, id)
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
		if i < len(row) && row[i] != "" && isField(name) {
			l.Fields = append(l.Fields, Field{name, strings.Clone(row[i])})
		}
	}
	return l, nil
}

// complete fills in what releases before 2023 report about a launch only as metrics.
func (l *Launch) complete() {
	if l.CC != "" && l.Block != [3]int{} && l.Grid != [3]int{} {
		return
	}
	number := map[string]int{}
	for i := range l.Metrics {
		if m := &l.Metrics[i]; m.Value != nil && *m.Value >= 0 && *m.Value < 1<<31 {
			number[m.Name] = int(*m.Value)
		}
	}
	if major := number["device__attribute_compute_capability_major"]; l.CC == "" && major > 0 {
		l.CC = fmt.Sprintf("%d.%d", major, number["device__attribute_compute_capability_minor"])
	}
	for stem, into := range map[string]*[3]int{"launch__block_dim_": &l.Block, "launch__grid_dim_": &l.Grid} {
		if *into == [3]int{} {
			*into = [3]int{number[stem+"x"], number[stem+"y"], number[stem+"z"]}
		}
	}
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

// isRaw recognizes a raw page by its header.
func isRaw(data []byte) bool {
	return hasHeader(data, "ID", "Kernel Name") && !hasHeader(data, "Kernel Name", "Metric Name")
}

// hasHeader reports whether one of the first lines names these columns.
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
