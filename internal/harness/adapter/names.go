package adapter

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
)

const maxName = 256 // bytes of a benchmark's, config's or metric's name

// label makes a tool's text fit for a name: one line of printable characters,
// bounded. A cut name ends in a digest of the whole, so that two do not become one.
func label(s string) string { return clip(s, maxName) }

func clip(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= limit {
		return s
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	cut := limit - 20
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%s...%016x", s[:cut], h.Sum64())
}

// split takes a tool's name apart at the first slash, so that the two parts
// joined again, which is how people see a case, are the tool's own spelling.
func split(name string) (benchmark, config string) {
	benchmark, config, _ = strings.Cut(name, "/")
	if benchmark == "" { // a name that begins with a slash
		return name, ""
	}
	return benchmark, config
}

// param is one parameter of a config, in the order the source gives them.
type param struct {
	name  string
	value any // string, float64 or bool
}

// configName spells parameters as a suite does: numbers as NAME and VALUE
// (B32_H8), everything else as NAME-VALUE, joined by underscores.
func configName(params []param) string {
	parts := make([]string, len(params))
	for i, p := range params {
		if v, ok := p.value.(float64); ok {
			parts[i] = clean(p.name) + decimal(v)
			continue
		}
		parts[i] = clean(p.name) + "-" + clean(fmt.Sprint(p.value))
	}
	return strings.Join(parts, "_")
}

// decimal writes whole numbers whole: 1048576, not 1.048576e+06.
func decimal(v float64) string {
	if math.Abs(v) < 1e15 && v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// clean keeps what is safe in file names and globs.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)), r == '.', r == '+', r == '-':
			return r
		default:
			return '-'
		}
	}, s)
}

// betterByName guesses the direction of a metric that a tool does not tell. It is
// only watched, so that a wrong guess colours a report and fails nothing.
func betterByName(name string) measure.Better {
	name = strings.ToLower(name)
	for _, word := range []string{"per_second", "/s", "flop", "bandwidth", "throughput"} {
		if strings.Contains(name, word) {
			return measure.Higher
		}
	}
	return measure.Lower
}

// paramMap is the parameters as a case keeps them.
func paramMap(params []param) map[string]any {
	if len(params) == 0 {
		return nil
	}
	m := make(map[string]any, len(params))
	for _, p := range params {
		m[label(p.name)] = p.value
	}
	return m
}

// scalar reads a number where the text is one.
func scalar(s string) any {
	if v, err := strconv.ParseFloat(s, 64); err == nil && v-v == 0 { // finite
		return v
	}
	return label(s)
}

// kindOf tells the family of a device by its marketing name.
func kindOf(device string) gpu.Kind {
	name := strings.ToLower(device)
	contains := func(word string) bool { return strings.Contains(name, word) }
	switch {
	case slices.ContainsFunc([]string{"nvidia", "tesla", "geforce", "quadro"}, contains):
		return gpu.NVIDIA
	case slices.ContainsFunc([]string{"amd", "radeon", "instinct"}, contains):
		return gpu.AMD
	}
	return ""
}

// nanoseconds gives the factor from a time unit to nanoseconds.
func nanoseconds(unit string) (float64, bool) {
	switch unit {
	case "ns":
		return 1, true
	case "us", "µs", "μs":
		return 1e3, true
	case "ms":
		return 1e6, true
	case "s", "sec":
		return 1e9, true
	}
	return 0, false
}
