package tune

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/tune/space"
)

// nsPerMS converts milliseconds, the unit of all times in a Kernel Tuner cache.
const nsPerMS = 1e6

// ktErrors maps the texts that replace a time to their status.
var ktErrors = map[string]Status{
	"InvalidConfig":           Pruned,
	"CompilationFailedConfig": CompileError,
	"RuntimeFailedConfig":     RuntimeError,
}

// kernelTuner reads the cache file of Kernel Tuner.
func (t *topLevel) kernelTuner() (Header, []Evaluation, error) {
	var names []string
	var values map[string][]any
	if !t.field("tune_params_keys", &names) || !t.field("tune_params", &values) {
		return Header{}, nil, errors.New("cache of Kernel Tuner: tune_params_keys and tune_params are required")
	}
	m := newImported()
	for _, name := range names {
		if len(values[name]) == 0 || len(values[name]) > maxEvaluations {
			return Header{}, nil, fmt.Errorf("cache of Kernel Tuner: parameter %.40q has %d values, which is none or too many", name, len(values[name]))
		}
		for _, v := range values[name] {
			if err := m.value(name, v); err != nil {
				return Header{}, nil, fmt.Errorf("cache of Kernel Tuner: %w", err)
			}
		}
	}
	objective := "time"
	t.field("objective", &objective)
	for i, raw := range t.cache {
		e, err := ktEvaluation(raw, m.names, objective)
		if err == nil {
			for _, name := range m.names {
				err = errors.Join(err, m.value(name, e.Point[name]))
			}
		}
		if err == nil {
			err = m.add(e)
		}
		if err != nil {
			return Header{}, nil, fmt.Errorf("cache of Kernel Tuner: entry %d: %w", i+1, err)
		}
	}
	var kernel, device string
	t.field("kernel_name", &kernel)
	t.field("device_name", &device)
	h, err := m.header(kernel, device)
	return h, m.list, err
}

func ktEvaluation(raw json.RawMessage, names []string, objective string) (e Evaluation, err error) {
	var entry map[string]any
	if err := json.Unmarshal(raw, &entry); err != nil {
		return e, err
	}
	e.Point = make(map[string]any, len(names))
	for _, name := range names {
		v, ok := entry[name]
		if !ok {
			return e, fmt.Errorf("parameter %.40q is missing", name)
		}
		e.Point[name] = v
	}
	seconds := func(name string) float64 {
		x, _ := entry[name].(float64)
		return max(x, 0) / 1e3
	}
	e.Build, e.Check, e.Measure = seconds("compile_time"), seconds("verification_time"), seconds("benchmark_time")
	stamp, _ := entry["timestamp"].(string)
	e.At = instant(stamp)
	for _, name := range []string{"__error__", objective, "time"} {
		word, isText := entry[name].(string)
		if !isText {
			continue
		}
		status, known := ktErrors[word]
		if !known {
			return e, fmt.Errorf("unknown failure %.40q", word)
		}
		e.Status = status
		return e, nil
	}
	times, err := floats(entry["times"])
	if err != nil {
		return e, err
	}
	if mean, ok := entry["time"].(float64); ok && len(times) == 0 && mean > 0 {
		times = []float64{mean}
	}
	if len(times) == 0 { // the time was NaN
		e.Status, e.Why = RuntimeError, "no time was recorded"
		return e, nil
	}
	e.setTimes(times, nsPerMS)
	return e, nil
}

// floats returns the numbers of a list, without values that were not numbers in Python.
func floats(v any) ([]float64, error) {
	list, _ := v.([]any)
	if len(list) > maxSamples {
		return nil, fmt.Errorf("more than %d times", maxSamples)
	}
	var out []float64
	for _, x := range list {
		switch x := x.(type) {
		case float64:
			out = append(out, x)
		case nil:
		default:
			return nil, fmt.Errorf("%v is not a valid time", x)
		}
	}
	return out, nil
}

// exportKernelTuner writes a cache file, one entry per line, as Kernel Tuner does.
func exportKernelTuner(w io.Writer, h Header, list []Evaluation) error {
	var keys []string
	params := map[string][]any{}
	for _, p := range h.Space.Parameters {
		keys = append(keys, p.Name)
		params[p.Name] = p.Values
	}
	head, err := json.Marshal(struct {
		Schema    string           `json:"schema_version"`
		Device    string           `json:"device_name"`
		Kernel    string           `json:"kernel_name"`
		Size      []int            `json:"problem_size"`
		Keys      []string         `json:"tune_params_keys"`
		Params    map[string][]any `json:"tune_params"`
		Objective string           `json:"objective"`
	}{"1.0.0", h.Device.Name, h.Case, []int{}, keys, params, "time"})
	if err != nil {
		return fmt.Errorf("cannot write a Kernel Tuner cache: %w", err)
	}
	var b strings.Builder
	b.Write(head[:len(head)-1])
	b.WriteString(`,"cache":{`)
	for i, e := range list {
		key, entry, err := ktEntry(e, keys)
		if err != nil {
			return fmt.Errorf("cannot write a Kernel Tuner cache: evaluation %d: %w", e.N, err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n%s: %s", key, entry)
	}
	b.WriteString("}\n}\n")
	_, err = io.WriteString(w, b.String())
	return err
}

func ktEntry(e Evaluation, keys []string) (key, entry []byte, err error) {
	out := map[string]any{
		"compile_time": e.Build * 1e3, "verification_time": e.Check * 1e3, "benchmark_time": e.Measure * 1e3,
		"strategy_time": 0, "framework_time": 0, "timestamp": e.At.Format(time.RFC3339Nano),
	}
	if e.Status == OK {
		sum, times := 0.0, make([]float64, len(e.Samples))
		for i, x := range e.Samples {
			times[i] = x / nsPerMS
			sum += times[i]
		}
		out["times"], out["time"] = times, sum/float64(len(times)) // Kernel Tuner uses the mean
	} else {
		out["time"] = cmp.Or(wordOf(ktErrors, e.Status), "RuntimeFailedConfig") // wrong and timeout: the closest status for a config that ran
	}
	var parts []string
	for _, name := range keys {
		out[name] = e.Point[name]
		parts = append(parts, valueText(e.Point[name]))
	}
	if key, err = json.Marshal(strings.Join(parts, ",")); err != nil {
		return nil, nil, err
	}
	entry, err = json.Marshal(out)
	return key, entry, err
}

// wordOf returns the word for a status; empty if there is none.
func wordOf(statuses map[string]Status, s Status) string {
	for word, status := range statuses {
		if status == s && word != "" {
			return word
		}
	}
	return ""
}

// valueText formats a value for people: 64, 0.5, fast, true.
func valueText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	}
	x, _ := space.Number(v)
	return strconv.FormatFloat(x, 'f', -1, 64)
}
