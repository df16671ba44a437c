package tune

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// t4Status maps the outcomes in T4 to their status.
var t4Status = map[string]Status{
	"correct": OK, "": OK, "compile": CompileError, "runtime": RuntimeError,
	"correctness": Wrong, "timeout": Timeout, "constraints": Pruned,
}

// t4Result is one configuration. Kernel Tuner writes compilation where the schema says compilation_time.
type t4Result struct {
	Timestamp     string          `json:"timestamp,omitempty"`
	Configuration map[string]any  `json:"configuration"`
	Times         t4Times         `json:"times"`
	Invalidity    string          `json:"invalidity"`
	Correctness   float64         `json:"correctness"`
	Measurements  []t4Measurement `json:"measurements"`
	Objectives    []string        `json:"objectives"`
}

type t4Times struct {
	Compilation     float64 `json:"compilation"`
	CompilationTime float64 `json:"compilation_time,omitempty"`
	Benchmark       float64 `json:"benchmark"`
	Framework       float64 `json:"framework"`
	Search          float64 `json:"search_algorithm"`
	Validation      float64 `json:"validation"`
	Runtimes        []any   `json:"runtimes"`
}

type t4Measurement struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
	Unit  string `json:"unit"`
}

// t4 reads T4 results. Times are in the unit named by the metadata or the objective's
// measurement, otherwise in milliseconds.
func (t *topLevel) t4() (Header, []Evaluation, error) {
	var metadata map[string]any
	t.field("metadata", &metadata)
	unit, _ := metadata["timeunit"].(string)
	m := newImported()
	for i, raw := range t.results {
		e, err := t4Evaluation(raw, unit, m)
		if err == nil {
			err = m.add(e)
		}
		if err != nil {
			return Header{}, nil, fmt.Errorf("T4 results: result %d: %w", i+1, err)
		}
	}
	for i, e := range m.list { // all names are known only now
		if len(e.Point) != len(m.names) {
			return Header{}, nil, fmt.Errorf("T4 results: point %d has %d values, but there are %d parameters", i, len(e.Point), len(m.names))
		}
	}
	text := func(name string) string { s, _ := metadata[name].(string); return s }
	h, err := m.header(text("kernel_name"), text("device_name"))
	return h, m.list, err
}

func t4Evaluation(raw json.RawMessage, unit string, m *imported) (e Evaluation, err error) {
	var r t4Result
	if err := json.Unmarshal(raw, &r); err != nil {
		return e, err
	}
	status, known := t4Status[r.Invalidity]
	if !known {
		return e, fmt.Errorf("unknown invalidity %.40q", r.Invalidity)
	}
	for _, name := range inOrder(raw, r.Configuration) {
		if err := m.value(name, r.Configuration[name]); err != nil {
			return e, err
		}
	}
	var times []float64
	if status == OK {
		if times, err = floats(r.Times.Runtimes); err != nil {
			return e, err
		}
	}
	for _, x := range r.Measurements {
		if len(r.Objectives) == 0 || x.Name != r.Objectives[0] {
			continue
		}
		if unit == "" {
			unit = x.Unit
		}
		if v, ok := x.Value.(float64); ok && status == OK && len(times) == 0 {
			times = []float64{v}
		}
	}
	factor, known := timeUnits[strings.ToLower(unit)]
	if !known {
		return e, fmt.Errorf("unknown time unit %.40q", unit)
	}
	seconds := func(x float64) float64 { return max(x, 0) * factor / 1e9 }
	e = Evaluation{
		Point: r.Configuration, Status: status, At: instant(r.Timestamp),
		Build: seconds(max(r.Times.Compilation, r.Times.CompilationTime)), Check: seconds(r.Times.Validation), Measure: seconds(r.Times.Benchmark),
	}
	switch {
	case status != OK:
	case len(times) == 0:
		e.Status, e.Why = RuntimeError, "no time was recorded"
	default:
		e.setTimes(times, factor)
	}
	return e, nil
}

// timeUnits maps units to nanoseconds. A T4 file that names no unit uses milliseconds.
var timeUnits = map[string]float64{
	"": nsPerMS, "ns": 1, "nanoseconds": 1, "us": 1e3, "microseconds": 1e3,
	"ms": nsPerMS, "milliseconds": nsPerMS, "miliseconds": nsPerMS, "s": 1e9, "seconds": 1e9,
}

// inOrder returns the names of a configuration in file order, which is the tool's order.
func inOrder(raw json.RawMessage, configuration map[string]any) []string {
	var outer struct {
		Configuration json.RawMessage `json:"configuration"`
	}
	if json.Unmarshal(raw, &outer) != nil {
		return nil
	}
	var names []string
	d := json.NewDecoder(strings.NewReader(string(outer.Configuration)))
	if _, err := d.Token(); err != nil {
		return nil
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil
		}
		name, _ := key.(string)
		if _, is := configuration[name]; is {
			names = append(names, name)
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil
		}
	}
	return names
}

func exportT4(w io.Writer, h Header, list []Evaluation) error {
	results := []t4Result{}
	for _, e := range list {
		r := t4Result{
			Timestamp: e.At.Format(time.RFC3339Nano), Configuration: e.Point, Invalidity: wordOf(t4Status, e.Status), Correctness: 1,
			Times:        t4Times{Compilation: e.Build * 1e3, Validation: e.Check * 1e3, Benchmark: e.Measure * 1e3, Runtimes: []any{}},
			Measurements: []t4Measurement{}, Objectives: []string{"time"},
		}
		if e.Status == Wrong {
			r.Correctness = 0
		}
		for _, x := range e.Samples {
			r.Times.Runtimes = append(r.Times.Runtimes, x/nsPerMS)
		}
		if e.Status == OK {
			r.Measurements = append(r.Measurements, t4Measurement{"time", e.Value / nsPerMS, "ms"})
		}
		results = append(results, r)
	}
	out := json.NewEncoder(w)
	metadata := map[string]any{"timeunit": "milliseconds", "kernel_name": h.Case, "device_name": h.Device.Name}
	err := out.Encode(map[string]any{"schema_version": "1.0.0", "metadata": metadata, "results": results})
	if err != nil {
		return fmt.Errorf("cannot write T4 results: %w", err)
	}
	return nil
}
