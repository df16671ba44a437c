package tune

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/tune/space"
	"github.com/goatnote-inc/pawl/stats"
)

// Limits on files of other tools.
const (
	maxFile    = 256 << 20 // bytes, uncompressed
	maxSamples = 10_000    // of one evaluation
	maxText    = 200       // bytes of a name or a text value
)

// The formats of other tools that a search can be imported from and exported to.
const (
	KernelTuner = "kernel-tuner" // cache file of Kernel Tuner
	T4          = "t4"           // results in the common autotuner format
)

// Formats are the names that Export accepts.
var Formats = []string{KernelTuner, T4}

// Import reads a search from pawl's journal, a Kernel Tuner cache file or T4 results, with
// or without gzip. For other tools the space contains only what the file says: no
// constraints, and no number of points.
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
	// A journal is identified by its first bytes, and read line by line.
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
		return Header{}, nil, fmt.Errorf("not a tuning journal, Kernel Tuner cache or T4 results: %w", err)
	}
	switch {
	case top.cache != nil:
		return top.kernelTuner()
	case top.results != nil:
		return top.t4()
	}
	return Header{}, nil, errors.New("not a tuning journal, whose first line has " + Format + ", nor a Kernel Tuner cache, which has the key cache, nor T4 results, which have the key results")
}

// Export writes a search for another tool. Both formats lose constraints. Kernel Tuner's
// also cannot express wrong results and timeouts, which become runtime failures.
func Export(w io.Writer, format string, h Header, list []Evaluation) error {
	switch format {
	case KernelTuner:
		return exportKernelTuner(w, h, list)
	case T4:
		return exportT4(w, h, list)
	}
	return fmt.Errorf("unknown export format %q (known: %s)", format, strings.Join(Formats, ", "))
}

// topLevel is a parsed file of another tool, with its long part in file order.
type topLevel struct {
	fields  map[string]json.RawMessage
	cache   []json.RawMessage // nil if absent
	results []json.RawMessage
}

// read parses the file. An interrupted Kernel Tuner leaves a truncated file; all complete
// entries count.
func (t *topLevel) read(d *json.Decoder) error {
	t.fields = map[string]json.RawMessage{}
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return fmt.Errorf("it is not a JSON object: %w", orUnexpected(err))
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return t.ignoreTruncation(err)
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
			return t.ignoreTruncation(err)
		}
	}
	return nil
}

func orUnexpected(err error) error {
	if err == nil {
		return errors.New("it starts with something else")
	}
	return err
}

// ignoreTruncation ignores an end of file inside the cache.
func (t *topLevel) ignoreTruncation(err error) error {
	if t.cache != nil && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
		return nil
	}
	return err
}

// members collects the raw members of an object or a list.
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

// field decodes one of the short parts; false if it is missing or has another type.
func (t *topLevel) field(name string, into any) bool {
	raw, ok := t.fields[name]
	return ok && json.Unmarshal(raw, into) == nil
}

// imported collects evaluations of another tool, each point once, and their parameter
// values.
type imported struct {
	names  []string // of the parameters, in order of appearance
	values map[string][]any
	known  map[string]map[string]bool
	seen   map[string]bool
	list   []Evaluation
}

func newImported() *imported {
	return &imported{values: map[string][]any{}, known: map[string]map[string]bool{}, seen: map[string]bool{}}
}

// value records a value of a parameter.
func (m *imported) value(name string, v any) error {
	switch v := v.(type) {
	case bool:
	case float64:
	case string:
		if len(v) > maxText {
			return fmt.Errorf("a value of %.40q is longer than %d bytes", name, maxText)
		}
	default:
		return fmt.Errorf("a value of %.40q is not a number, text or boolean", name)
	}
	if m.known[name] == nil {
		if len(m.names) == maxParameters || len(name) > maxText || name == "" {
			return fmt.Errorf("parameter %.40q: there can be at most %d parameters, with names of 1 to %d bytes", name, maxParameters, maxText)
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

// add numbers and checks an evaluation. A repeated point counts once.
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

// header returns what is known about another tool's search.
func (m *imported) header(kernel, device string) (Header, error) {
	h := Header{Format: Format, Case: kernel, Device: gpu.Identity{Name: device}}
	if h.Case == "" {
		h.Case = "kernel"
	}
	for _, name := range m.names {
		values := space.Sorted(m.values[name])
		h.Space.Parameters = append(h.Space.Parameters, space.Parameter{Name: name, Values: values, Default: values[0]})
	}
	h.Space = h.Space.WithDigest()
	return h, h.check()
}

// setTimes sets times given in a unit of the given number of nanoseconds. It rounds to a
// thousandth of a nanosecond; anything smaller is conversion error.
func (e *Evaluation) setTimes(times []float64, unit float64) {
	e.Status, e.Samples = OK, make([]float64, len(times))
	for i, x := range times {
		e.Samples[i] = math.Round(x*unit*1e3) / 1e3
	}
	e.Value = stats.Median(e.Samples)
}

// instant parses timestamps as written by Python.
func instant(text string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"} {
		if at, err := time.Parse(layout, text); err == nil && at.Year() > 0 && at.Year() < 10000 {
			return at
		}
	}
	return time.Time{}
}

// withoutNaN writes null for numbers from Python that JSON does not support.
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
