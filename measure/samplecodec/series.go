package samplecodec

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"

	"github.com/goatnote-inc/pawl/measure"
)

// The encodings of a series. Clocks count in steps, so nearly every series consists of
// whole multiples of a unit. Other series are stored bit by bit.
const (
	empty   = 0 // no numbers
	decimal = 1 // n / 10^k
	single  = 2 // float32(n / 10^k) * 10^m: values of cudaEventElapsedTime in another unit
	exact   = 3 // raw bits
)

var (
	errShort  = errors.New("the samples end early")
	errSeries = errors.New("a series of samples is invalid")
)

// maxDecimals is the max number of decimals of a clock reading.
const maxDecimals = 9

var powers = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}

// form is a number encoding: decimal with its k, or single with k and m.
type form struct {
	kind byte
	k, m int
}

// value returns the number that n encodes.
func (f form) value(n int64) float64 {
	v := float64(n) / powers[f.k]
	if f.kind == single {
		v = float64(float32(v)) * powers[f.m]
	}
	return v
}

// nearestInt returns the integer closest to v in this form; false if it is too large. The caller
// must check that it is exact.
func (f form) nearestInt(v float64) (int64, bool) {
	if f.kind == single {
		v /= powers[f.m]
	}
	n := math.Round(v * powers[f.k])
	if !(math.Abs(n) < 1<<53) {
		return 0, false
	}
	return int64(n), true
}

// encode encodes a series as integers in this form, increasing k as far as needed.
func (f form) encode(s measure.Samples) (form, []int64, bool) {
	list := make([]int64, len(s))
	for i := 0; i < len(s); i++ {
		n, ok := f.nearestInt(s[i])
		if ok && math.Float64bits(f.value(n)) == math.Float64bits(s[i]) {
			list[i] = n
			continue
		}
		if f.k++; f.k > maxDecimals {
			return f, nil, false
		}
		i = -1 // start over: all numbers share the same k
	}
	return f, list, true
}

// appendSeries encodes one series. It distinguishes nil from empty.
func appendSeries(b []byte, s measure.Samples) []byte {
	if len(s) == 0 {
		b = append(b, empty)
		if s == nil {
			return append(b, 0)
		}
		return append(b, 1)
	}
	for _, f := range []form{{decimal, 0, 0}, {single, 0, 0}, {single, 0, 6}, {single, 0, 3}, {single, 0, 9}} {
		if f, list, ok := f.encode(s); ok {
			b = append(b, f.kind, byte(f.k), byte(f.m))
			return appendWhole(binary.AppendUvarint(b, uint64(len(s))), list)
		}
	}
	return appendExact(binary.AppendUvarint(append(b, exact), uint64(len(s))), s)
}

// appendWhole encodes integers as differences, in units of their greatest common divisor. A
// clock that counts in steps of 32 ns then needs no bits for the values between.
func appendWhole(b []byte, list []int64) []byte {
	step := uint64(0)
	for i := 1; i < len(list); i++ {
		step = gcd(step, magnitude(list[i]-list[i-1]))
	}
	step = max(step, 1)
	b = binary.AppendUvarint(b, step)
	b = binary.AppendVarint(b, list[0])
	for i := 1; i < len(list); i++ {
		b = binary.AppendVarint(b, (list[i]-list[i-1])/int64(step))
	}
	return b
}

// appendExact encodes the bits that changed since the previous number, without trailing
// bits that never change.
func appendExact(b []byte, s measure.Samples) []byte {
	changed, before := uint64(0), uint64(0)
	for _, v := range s {
		changed |= math.Float64bits(v) ^ before
		before = math.Float64bits(v)
	}
	shift := bits.TrailingZeros64(changed) & 63
	b, before = append(b, byte(shift)), 0
	for _, v := range s {
		b = binary.AppendUvarint(b, (math.Float64bits(v)^before)>>shift)
		before = math.Float64bits(v)
	}
	return b
}

// decodeSeries decodes one series from the front.
func decodeSeries(b []byte) (measure.Samples, []byte, error) {
	if len(b) < 2 {
		return nil, nil, errShort
	}
	f := form{kind: b[0]}
	switch f.kind {
	case empty:
		if b[1] == 0 {
			return nil, b[2:], nil
		}
		return measure.Samples{}, b[2:], nil
	case decimal, single:
		if len(b) < 3 {
			return nil, nil, errShort
		}
		if f.k, f.m = int(b[1]), int(b[2]); f.k > maxDecimals || f.m > maxDecimals {
			return nil, nil, errSeries
		}
		n, rest, err := cutCount(b[3:])
		if err != nil {
			return nil, nil, err
		}
		return cutWhole(f, n, rest)
	case exact:
		n, rest, err := cutCount(b[1:])
		if err != nil {
			return nil, nil, err
		}
		return cutExact(n, rest)
	default:
		return nil, nil, errSeries
	}
}

// cutCount decodes how many numbers follow. Each takes at least a byte, so it never
// allocates for more than was sent.
func cutCount(b []byte) (int, []byte, error) {
	n, rest, err := cutUvarint(b)
	if err != nil {
		return 0, nil, err
	}
	if n == 0 {
		return 0, nil, errSeries
	}
	if n > uint64(len(rest)) {
		return 0, nil, errShort
	}
	return int(n), rest, nil
}

func cutWhole(f form, count int, b []byte) (measure.Samples, []byte, error) {
	step, b, err := cutUvarint(b)
	if err != nil {
		return nil, nil, err
	}
	if step == 0 || step >= 1<<54 {
		return nil, nil, errSeries
	}
	s := make(measure.Samples, count)
	at := int64(0)
	for i := range s {
		d, n := binary.Varint(b)
		if n <= 0 {
			return nil, nil, errShort
		}
		b = b[n:]
		high, move := bits.Mul64(magnitude(d), step)
		if i == 0 {
			high, move = 0, magnitude(d)
		}
		if high != 0 || move >= 1<<55 {
			return nil, nil, errSeries
		}
		if at += int64(move); d < 0 {
			at -= 2 * int64(move)
		}
		if at >= 1<<53 || at <= -1<<53 {
			return nil, nil, errSeries
		}
		s[i] = f.value(at)
	}
	return s, b, nil
}

func cutExact(count int, b []byte) (measure.Samples, []byte, error) {
	shift := b[0]
	if shift > 63 {
		return nil, nil, errSeries
	}
	b = b[1:]
	s := make(measure.Samples, count)
	before := uint64(0)
	for i := range s {
		x, rest, err := cutUvarint(b)
		if err != nil {
			return nil, nil, err
		}
		b = rest
		before ^= x << shift
		s[i] = math.Float64frombits(before)
	}
	return s, b, nil
}

func cutUvarint(b []byte) (uint64, []byte, error) {
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil, errShort
	}
	return v, b[n:], nil
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
