package profile

import (
	"math"
	"strconv"
	"strings"
)

// setValue puts what a tool printed as a metric's value into it: as a number where it
// is one, as text where it is none, and as both where the number alone would lose some
// of it (the values of every instance behind it, or more digits than a float has).
func (m *Metric) setValue(cell string, into *float64) {
	if v, digits, ok := parseNumber(cell); ok {
		*into = v
		m.Value = into
		if digits > 15 {
			m.Text = strings.Clone(cell)
		}
		return
	}
	// With the values of all instances a cell is "12 (3; 4; 5)".
	if total, _, more := strings.Cut(cell, " ("); more && strings.HasSuffix(cell, ")") {
		if v, _, ok := parseNumber(total); ok {
			*into = v
			m.Value = into
		}
	}
	m.Text = strings.Clone(cell)
}

// parseNumber reads a decimal number, with commas between the thousands or without,
// and counts its digits. What else strconv takes for one (inf, 0x1p4) is none here.
func parseNumber(s string) (v float64, digits int, ok bool) {
	if len(s) > 64 {
		return 0, 0, false
	}
	commas := false
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c == ',':
			commas = true
		case c == '.', c == '-', c == '+', c == 'e', c == 'E':
		default:
			return 0, 0, false
		}
	}
	if digits == 0 {
		return 0, 0, false
	}
	if commas {
		if !grouped(s) {
			return 0, 0, false
		}
		s = strings.ReplaceAll(s, ",", "")
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(v, 0) {
		return 0, 0, false
	}
	return v, digits, true
}

// grouped tells whether the commas of a number stand between thousands: 12,345.67. In
// some languages a comma is the decimal point, and 1,5 must not become 15.
func grouped(s string) bool {
	whole, _, _ := strings.Cut(strings.TrimLeft(s, "+-"), ".")
	for i, group := range strings.Split(whole, ",") {
		if len(group) != 3 && (i > 0 || len(group) == 0 || len(group) > 3) || strings.Trim(group, "0123456789") != "" {
			return false
		}
	}
	return true
}
