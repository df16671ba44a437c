package measure

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// Samples is a series of readings in the order they were taken. It is never sorted in place, because the
// order shows drift, warm-up and throttling.
type Samples []float64

// MarshalJSON encodes the series as an array of numbers, each in its shortest exact form.
func (s Samples) MarshalJSON() ([]byte, error) {
	return s.append(make([]byte, 0, 2+12*len(s)))
}

func (s Samples) append(b []byte) ([]byte, error) {
	b = append(b, '[')
	for i, v := range s {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("sample %d is %v: a record can hold only finite numbers", i, v)
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = appendNumber(b, v)
	}
	return append(b, ']'), nil
}

// appendNumber avoids the general float formatter for the most common values: whole nanoseconds, and
// single-precision device times with few decimals. Its output reads back as the same bits.
func appendNumber(b []byte, v float64) []byte {
	if v >= 0 && v < 1<<53 && v == math.Trunc(v) {
		return strconv.AppendUint(b, uint64(v), 10)
	}
	const scale = 1e7
	if s := v * scale; v >= 1 && s < 1<<53 && s == math.Trunc(s) && s/scale == v {
		return appendDecimals(b, uint64(s))
	}
	if a := math.Abs(v); a >= 1e-6 && a < 1e21 {
		return strconv.AppendFloat(b, v, 'f', -1, 64)
	}
	return strconv.AppendFloat(b, v, 'e', -1, 64)
}

// appendDecimals writes n / 10^7 without trailing zeros.
func appendDecimals(b []byte, n uint64) []byte {
	b = strconv.AppendUint(b, n/1e7, 10)
	decimals := n % 1e7
	b = append(b, '.')
	for unit := uint64(1e6); decimals > 0; unit /= 10 {
		b = append(b, byte('0'+decimals/unit))
		decimals %= unit
	}
	return b
}

// UnmarshalJSON decodes an array of numbers. It treats null as an empty series.
func (s *Samples) UnmarshalJSON(b []byte) error {
	parsed, err := parseSamples(bytes.TrimSpace(b))
	if err == nil {
		*s = parsed
	}
	return err
}

// parseSamples parses a valid JSON value. It is optimized for arrays of millions of numbers: one pass, no
// reflection, and strconv only for unusual numbers.
func parseSamples(b []byte) (Samples, error) {
	if string(b) == "null" {
		return nil, nil
	}
	if len(b) < 2 || b[0] != '[' || b[len(b)-1] != ']' {
		return nil, fmt.Errorf("samples: expected an array of numbers, got %.20q", b)
	}
	b = bytes.TrimSpace(b[1 : len(b)-1])
	if len(b) == 0 {
		return Samples{}, nil
	}
	s := make(Samples, 0, bytes.Count(b, []byte{','})+1)
	for i := 0; i <= len(b); i++ {
		v, n := simpleNumber(b[i:])
		if end := i + n; n > 0 && (end == len(b) || b[end] == ',') {
			i = end
		} else {
			end := len(b)
			if n := bytes.IndexByte(b[i:], ','); n >= 0 {
				end = i + n
			}
			var err error
			if v, err = parseNumber(bytes.TrimSpace(b[i:end])); err != nil {
				return nil, fmt.Errorf("samples: number %d: %w", len(s), err)
			}
			i = end
		}
		s = append(s, v)
	}
	return s, nil
}

// tens holds the powers of ten that a float64 represents exactly.
var tens = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// simpleNumber parses a number of at most 15 digits without sign or exponent. It also returns its length,
// or 0 if the number is not that simple. Digits and power of ten are both exact in a float64, so their
// quotient is the correctly rounded value.
func simpleNumber(b []byte) (float64, int) {
	var digits uint64
	point := -1
	i := 0
	for ; i < len(b) && i < 17; i++ {
		switch c := b[i]; {
		case c >= '0' && c <= '9':
			digits = digits*10 + uint64(c-'0')
		case c == '.' && point < 0:
			point = i
		default:
			return finishSimple(digits, point, i)
		}
	}
	return finishSimple(digits, point, i)
}

func finishSimple(digits uint64, point, length int) (float64, int) {
	if point < 0 {
		if length == 0 || length > 15 {
			return 0, 0
		}
		return float64(digits), length
	}
	if point == 0 || length-point < 2 || length > 16 {
		return 0, 0
	}
	return float64(digits) / tens[length-point-1], length
}

// parseNumber parses any JSON number. strconv also accepts "inf", "0x1p4" and "1_000", which are not JSON,
// so the characters are checked first.
func parseNumber(b []byte) (float64, error) {
	for _, c := range b {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return 0, fmt.Errorf("%.20q is not a number", b)
		}
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return 0, fmt.Errorf("%.40q: %w", b, err)
	}
	return v, nil
}
