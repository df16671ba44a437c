package tune

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/stats"
)

// Limits on a file of another tool.
const (
	maxFile    = 256 << 20 // bytes, unpacked
	maxSamples = 10_000    // of one evaluation
	maxText    = 200       // bytes of a name or a text value
)

// The other formats that a search can be read from and written to.
const (
	KernelTuner = "kernel-tuner" // the cache file of Kernel Tuner
	T4          = "t4"           // results in the common format of autotuners
)

// Formats are the names that Export knows.
var Formats = []string{KernelTuner, T4}

// Import reads a search from whatever wrote it: pawl's journal, a cache file of Kernel Tuner
// or T4 results, each packed with gzip or not. Of a search elsewhere the space is what the file
// tells of it: no constraints, and no number of points.
func Import(r io.Reader) (Header, []Evaluation, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return Header{}, nil, fmt.Errorf("unpack: %w", err)
		}
		defer z.Close()
		in = bufio.NewReaderSize(z, 1<<16)
	}
	// A journal says so in its first bytes, and is read line by line.
	if start, _ := in.Peek(64); bytes.HasPrefix(start, []byte(`{"format":"`+Format+`"`)) {
		return Read(io.LimitReader(in, maxFile))
	}
	text, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	switch {
	case err != nil:
		return Header{}, nil, err
	case len(text) > maxFile:
		return Header{}, nil, fmt.Errorf("larger than %d MiB", maxFile>>20)
	}
	text = withoutNaN(text)
	d := json.NewDecoder(bytes.NewReader(text))
	top := &topLevel{}
	if err := top.read(d); err != nil {
		return Header{}, nil, fmt.Errorf("neither a tuning journal nor a Kernel Tuner cache nor T4 results: %w", err)
	}
	switch {
	case top.cache != nil:
		return top.kernelTuner()
	case top.results != nil:
		return top.t4()
	}
	return Header{}, nil, errors.New("neither a tuning journal, whose first line says " + Format + ", nor a Kernel Tuner cache, which has cache, nor T4 results, which have results")
}

// Export writes a search for another tool. What it costs: constraints are lost in both formats, and
// Kernel Tuner's has no words for a wrong result and a timeout, which become failures at run time.
func Export(w io.Writer, format string, h Header, list []Evaluation) error {
	switch format {
	case KernelTuner:
		return exportKernelTuner(w, h, list)
	case T4:
		return exportT4(w, h, list)
	}
	return fmt.Errorf("there is no format %q to export to: choose one of %s", format, strings.Join(Formats, ", "))
}

// topLevel is a file of another tool, with its long part in the order of the file.
type topLevel struct {
	fields  map[string]json.RawMessage
	cache   []json.RawMessage // nil for none
	results []json.RawMessage
}

// read takes the file apart. A file whose end is missing is what an interrupted Kernel Tuner
// leaves: everything that is whole counts.
func (t *topLevel) read(d *json.Decoder) error {
	t.fields = map[string]json.RawMessage{}
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return fmt.Errorf("it is no JSON object: %w", orUnexpected(err))
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return t.torn(err)
		}
		switch name, _ := key.(string); name {
		case "cache":
			t.cache = []json.RawMessage{}
			err = t.members(d, '{', &t.cache)
		case "results":
			t.results = []json.RawMessage{}
			err = t.members(d, '[', &t.results)
		default:
			var value json.RawMessage
			err = d.Decode(&value)
			t.fields[name] = value
		}
		if err != nil {
			return t.torn(err)
		}
	}
	return nil
}

func orUnexpected(err error) error {
	if err == nil {
		return errors.New("it begins with something else")
	}
	return err
}

// torn forgives an end of the file inside the cache.
func (t *topLevel) torn(err error) error {
	if t.cache != nil && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
		return nil
	}
	return err
}

// members collects what stands in an object or a list, as it is.
func (t *topLevel) members(d *json.Decoder, open json.Delim, into *[]json.RawMessage) error {
	if begin, err := d.Token(); err != nil || begin != open {
		return fmt.Errorf("want %v: %w", open, orUnexpected(err))
	}
	for d.More() {
		if open == '{' {
			if _, err := d.Token(); err != nil {
				return err
			}
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		if len(*into) == maxEvaluations {
			return fmt.Errorf("more than %d evaluations", maxEvaluations)
		}
		*into = append(*into, value)
	}
	_, err := d.Token()
	return err
}

// field reads one of the short parts; false where it is not there or of another kind.
func (t *topLevel) field(name string, into any) bool {
	raw, ok := t.fields[name]
	return ok && json.Unmarshal(raw, into) == nil
}

// imported collects evaluations of another tool, each point once, and the values they have.
type imported struct {
	names  []string // of the parameters, in the order they came
	values map[string][]any
	known  map[string]map[string]bool
	seen   map[string]bool
	list   []Evaluation
}

func newImported() *imported {
	return &imported{values: map[string][]any{}, known: map[string]map[string]bool{}, seen: map[string]bool{}}
}

// value notes a value of a parameter.
func (m *imported) value(name string, v any) error {
	switch v := v.(type) {
	case bool:
	case float64:
	case string:
		if len(v) > maxText {
			return fmt.Errorf("a value of %.40q is longer than %d bytes", name, maxText)
		}
	default:
		return fmt.Errorf("a value of %.40q is neither a number nor text nor true or false", name)
	}
	if m.known[name] == nil {
		if len(m.names) == maxParameters || len(name) > maxText || name == "" {
			return fmt.Errorf("parameter %.40q: want at most %d parameters with names of 1 to %d bytes", name, maxParameters, maxText)
		}
		m.names = append(m.names, name)
		m.known[name] = map[string]bool{}
	}
	if key := fmt.Sprintf("%T %v", v, v); !m.known[name][key] {
		m.known[name][key] = true
		m.values[name] = append(m.values[name], v)
	}
	return nil
}

// add numbers an evaluation and checks it. A point that was tried twice counts once.
func (m *imported) add(e Evaluation) error {
	e.N = len(m.list)
	if len(e.Samples) > maxSamples {
		return fmt.Errorf("evaluation %d has more than %d samples", e.N, maxSamples)
	}
	if err := e.check(); err != nil {
		return err
	}
	if key := Key(e.Point); !m.seen[key] {
		m.seen[key] = true
		m.list = append(m.list, e)
	}
	return nil
}

// header says of another tool's file what is known of it.
func (m *imported) header(kernel, device string) (Header, error) {
	h := Header{Format: Format, Case: kernel, Device: gpu.Identity{Name: device}}
	if h.Case == "" {
		h.Case = "kernel"
	}
	for _, name := range m.names {
		values := m.values[name]
		if slices.IndexFunc(values, func(v any) bool { _, is := number(v); return !is }) < 0 {
			slices.SortFunc(values, func(a, b any) int {
				x, _ := number(a)
				y, _ := number(b)
				return cmp.Compare(x, y)
			})
		}
		h.Space.Parameters = append(h.Space.Parameters, Parameter{Name: name, Values: values, Default: values[0]})
	}
	h.Space = h.Space.Sealed()
	return h, h.check()
}

// measured fills in times that were given in a unit of so many nanoseconds. What is left of a
// thousandth of a nanosecond is an error of the conversion.
func (e *Evaluation) measured(times []float64, unit float64) {
	e.Status, e.Samples = OK, make([]float64, len(times))
	for i, x := range times {
		e.Samples[i] = math.Round(x*unit*1e3) / 1e3
	}
	e.Value = stats.Median(e.Samples)
}

// instant reads the times that Python writes.
func instant(text string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"} {
		if at, err := time.Parse(layout, text); err == nil && at.Year() > 0 && at.Year() < 10000 {
			return at
		}
	}
	return time.Time{}
}

// withoutNaN writes null where Python wrote a number that JSON does not have.
func withoutNaN(text []byte) []byte {
	if !bytes.Contains(text, []byte("NaN")) && !bytes.Contains(text, []byte("Infinity")) {
		return text
	}
	out := make([]byte, 0, len(text))
	for i, quoted := 0, false; i < len(text); {
		if quoted && text[i] == '\\' && i+1 < len(text) {
			out = append(out, text[i], text[i+1])
			i += 2
			continue
		}
		quoted = quoted != (text[i] == '"')
		if word := pythonNumber(text[i:]); !quoted && word > 0 {
			out = append(out, "null"...)
			i += word
			continue
		}
		out = append(out, text[i])
		i++
	}
	return out
}

func pythonNumber(text []byte) int {
	for _, word := range []string{"NaN", "-Infinity", "Infinity"} {
		if bytes.HasPrefix(text, []byte(word)) {
			return len(word)
		}
	}
	return 0
}
