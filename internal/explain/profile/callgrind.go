package profile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ReadCallgrind reads the output of valgrind --tool=callgrind. The record has one launch: the sum
// over everything collected, named after the function with the most instructions of its own, which
// is the kernel. Callgrind counts events; it has no times.
func ReadCallgrind(r io.Reader) (*Profile, error) { return readAs(r, readCallgrind) }

func isCallgrind(data []byte) bool {
	return bytes.HasPrefix(data, []byte("# callgrind format")) || bytes.Contains(data[:min(len(data), 1024)], []byte("creator: callgrind-"))
}

// ErrNothingCollected means that a callgrind file has no counted instruction: the function that
// switches collection on never ran.
var ErrNothingCollected = errors.New("callgrind collected nothing: the function to be watched never ran")

// Limits of a callgrind file, beside its size.
const (
	mostEvents     = 64
	maxFunctions   = 1 << 20
	maxHottest     = 12 // max functions in the list of the hottest
	maxFunctionLen = 2000
)

func readCallgrind(data []byte) (*Profile, error) {
	c, err := parseCallgrind(data)
	if err != nil {
		return nil, err
	}
	return c.profile()
}

func parseCallgrind(data []byte) (*callgrind, error) {
	c := &callgrind{names: map[string]string{}, self: map[string]float64{}, positions: 1, files: map[string]string{}, lines: map[SourceLine]float64{}}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if err := c.line(strings.TrimSpace(string(line))); err != nil {
			return nil, fmt.Errorf("cannot read callgrind file: line %d: %w", number, err)
		}
	}
	return c, nil
}

// callgrind is the state of the reader.
type callgrind struct {
	version, command string
	settings         []Setting
	events           []string
	positions        int // columns before the costs: a line, an address, or both
	totals           []float64
	names            map[string]string // names of functions, by their number in the file
	self             map[string]float64
	function         string
	call             bool // the next costs belong to a call, not to the function itself
	files            map[string]string
	at               SourceLine // of the last costs
	lines            map[SourceLine]float64
}

func (c *callgrind) line(line string) error {
	if line == "" || line[0] == '#' {
		return nil
	}
	if line[0] >= '0' && line[0] <= '9' || line[0] == '+' || line[0] == '-' || line[0] == '*' {
		return c.costs(line)
	}
	if name, value, ok := strings.Cut(line, "="); ok && !strings.ContainsAny(name, ": ") {
		return c.position(name, value)
	}
	if name, value, ok := strings.Cut(line, ":"); ok {
		return c.header(name, strings.TrimSpace(value))
	}
	return fmt.Errorf("%.60q is not a line of a callgrind file", line)
}

func (c *callgrind) header(name, value string) (err error) {
	switch name {
	case "creator":
		c.version = truncated(strings.TrimPrefix(value, "callgrind-"), 100)
	case "cmd":
		c.command = truncated(value, maxFunctionLen)
	case "positions":
		c.positions = min(len(strings.Fields(value)), 3)
	case "events":
		if c.events = strings.Fields(value); len(c.events) > mostEvents {
			return fmt.Errorf("more than %d events", mostEvents)
		}
		for i, event := range c.events {
			c.events[i] = truncated(event, 100)
		}
	case "desc":
		// The geometry of the simulated caches defines what a miss is.
		if what, size, ok := strings.Cut(value, ":"); ok && strings.HasSuffix(what, " cache") && len(c.settings) < 8 {
			c.settings = append(c.settings, Setting{Name: truncated(what, 100), Value: truncated(strings.TrimSpace(size), 200)})
		}
	case "totals", "summary":
		if c.totals, err = c.numbers(strings.Fields(value)); err != nil {
			return err
		}
	}
	return nil
}

// position parses lines such as fn=(12) name. A name appears once; later lines have only its number.
func (c *callgrind) position(key, value string) error {
	switch key {
	case "fn":
		name, err := c.name(value)
		c.function, c.call = name, false
		return err
	case "cfn":
		_, err := c.name(value)
		return err
	case "calls":
		c.call = true
	case "fl", "fi", "fe":
		c.at.File = c.file(value)
	case "cfi", "cfl":
		c.file(value) // later lines may have only its number
	}
	return nil // objects are not needed
}

func (c *callgrind) name(value string) (string, error) {
	id, name, ok := strings.Cut(value, ")")
	if !ok || !strings.HasPrefix(id, "(") {
		return truncated(value, maxFunctionLen), nil // names are not compressed
	}
	name = truncated(strings.TrimSpace(name), maxFunctionLen)
	if name == "" {
		if c.names[id] == "" {
			return "", fmt.Errorf("function %s) has no name", id)
		}
		return c.names[id], nil
	}
	if len(c.names) >= maxFunctions {
		return "", fmt.Errorf("more than %d functions", maxFunctions)
	}
	c.names[id] = name
	return name, nil
}

// costs adds a line of costs to its function. Costs of a call belong to other
// functions, which have their own lines.
func (c *callgrind) costs(line string) error {
	fields := strings.Fields(line)
	c.move(fields[min(c.positions, len(fields))-1])
	if c.call {
		c.call = false
		return nil
	}
	if len(fields) <= c.positions || c.function == "" {
		return nil // a line without costs
	}
	values, err := c.numbers(fields[c.positions:])
	if err != nil {
		return err
	}
	c.self[c.function] += values[0] // the first event is instructions
	if c.at.Line > 0 && c.at.File != "" && (len(c.lines) < maxLines || c.lines[c.at] > 0) {
		c.lines[c.at] += values[0]
	}
	return nil
}

func (c *callgrind) numbers(fields []string) ([]float64, error) {
	if len(fields) > len(c.events) {
		return nil, fmt.Errorf("%d values for %d events", len(fields), len(c.events))
	}
	values := make([]float64, len(c.events)) // trailing zeros are omitted in the file
	for i, field := range fields {
		v, err := strconv.ParseFloat(field, 64)
		if err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			return nil, fmt.Errorf("%.40q is not a count", field)
		}
		values[i] = v
	}
	return values, nil
}

func (c *callgrind) profile() (*Profile, error) {
	if len(c.events) == 0 || c.events[0] != "Ir" {
		return nil, errors.New("cannot read callgrind file: its first event is not Ir (instructions); is the file complete?")
	}
	if len(c.totals) == 0 || c.totals[0] == 0 {
		return nil, fmt.Errorf("cannot read callgrind file of %q: %w", c.command, ErrNothingCollected)
	}
	functions := make([]function, 0, len(c.self))
	for name, n := range c.self {
		functions = append(functions, function{name, n})
	}
	slices.SortFunc(functions, func(a, b function) int {
		return cmp.Or(cmp.Compare(b.instructions, a.instructions), cmp.Compare(a.name, b.name))
	})
	l := Launch{ID: 0}
	for i, event := range c.events {
		l.Metrics = append(l.Metrics, Metric{Name: event, Value: &c.totals[i]})
	}
	for i, f := range functions[:min(len(functions), maxHottest)] {
		if i == 0 {
			l.Kernel = f.name
		}
		share := 100 * f.instructions / c.totals[0]
		l.Metrics = append(l.Metrics, Metric{Section: "functions", Label: f.name, Unit: percent, Value: &share})
	}
	if c.command != "" {
		l.Fields = []Field{{Name: "command", Text: c.command}}
	}
	return &Profile{Format: Format, Tool: Tool{Name: "callgrind", Version: c.version, Settings: c.settings}, Launches: []Launch{l}}, nil
}

type function struct {
	name         string
	instructions float64 // its own, without the functions it calls
}

func truncated(s string, n int) string { return strings.ToValidUTF8(s[:min(len(s), n)], "\uFFFD") }
