package profile

import (
	"math"
	"strconv"
	"strings"
)

// setValue sets a metric's value from a tool's output: a number if it is one, else text. It sets
// both if the number alone would lose something (values of every instance that follow it, or more
// digits than a float has).
func (m *Metric) setValue(cell string, into *float64) {
	if v, digits, ok := parseNumber(cell); ok {
		*into = v
		m.Value = into
		if digits > 15 {
			m.Text = strings.Clone(cell)
		}
		return
	}
	// A cell with the values of all instances looks like "12 (3; 4; 5)".
	if total, _, more := strings.Cut(cell, " ("); more && strings.HasSuffix(cell, ")") {
		if v, _, ok := parseNumber(total); ok {
			*into = v
			m.Value = into
		}
	}
	m.Text = strings.Clone(cell)
}

// parseNumber reads a decimal number, with or without commas between thousands, and counts its
// digits. It rejects other forms that strconv accepts (inf, 0x1p4).
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

// grouped reports whether the commas of a number separate thousands: 12,345.67. In some languages a
// comma is the decimal point, and 1,5 must not become 15.
func grouped(s string) bool {
	whole, _, _ := strings.Cut(strings.TrimLeft(s, "+-"), ".")
	for i, group := range strings.Split(whole, ",") {
		if len(group) != 3 && (i > 0 || len(group) == 0 || len(group) > 3) || strings.Trim(group, "0123456789") != "" {
			return false
		}
	}
	return true
}
