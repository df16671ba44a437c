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

const maxName = 256 // max bytes of the name of a benchmark, config or metric

// label turns a tool's text into a name: one bounded line of printable characters.
// A truncated name ends in a digest of the whole text, so that names stay distinct.
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

// split splits a tool's name at the first slash. Joined again, as users see a case,
// the two parts are the tool's own spelling.
func split(name string) (benchmark, config string) {
	benchmark, config, _ = strings.Cut(name, "/")
	if benchmark == "" { // a name that starts with a slash
		return name, ""
	}
	return benchmark, config
}

// param is one parameter of a config. Parameters keep the order of the source.
type param struct {
	name  string
	value any // string, float64 or bool
}

// configName spells parameters as a suite does: numbers as NAME and VALUE
// (B32_H8), all others as NAME-VALUE, joined by underscores.
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

// decimal formats whole numbers without exponent: 1048576, not 1.048576e+06.
func decimal(v float64) string {
	if math.Abs(v) < 1e15 && v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// clean replaces characters that are not safe in file names and globs.
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

// guessBetter guesses the direction of a metric if the tool does not give it. Such a
// metric is only watched: a wrong guess miscolors a report but fails nothing.
func guessBetter(name string) measure.Better {
	name = strings.ToLower(name)
	for _, word := range []string{"per_second", "/s", "flop", "bandwidth", "throughput", "accuracy", "speedup"} {
		if strings.Contains(name, word) {
			return measure.Higher
		}
	}
	return measure.Lower
}

// paramMap returns the parameters in the form that a case stores.
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

// scalar returns a number if the text is one, else the text.
func scalar(s string) any {
	if v, err := strconv.ParseFloat(s, 64); err == nil && v-v == 0 { // finite
		return v
	}
	return label(s)
}

// kindOf returns the family of a device from its marketing name.
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

// nanoseconds returns the factor from a time unit to nanoseconds.
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
