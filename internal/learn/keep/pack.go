package keep

import (
	"encoding/binary"
	"errors"
	"math"
	"time"
)

// Pack writes values after each other, Unpack reads them in the same order. Ten thousand
// things as JSON take seconds to read; like this, strings are parts of the file as it
// lies in memory. What is packed is only ever read by the pawl that wrote it: see
// Folder.Form.
type Pack []byte

// Number packs a number.
func (p *Pack) Number(x float64) {
	*p = binary.LittleEndian.AppendUint64(*p, math.Float64bits(x))
}

// Count packs a whole number, which is mostly small.
func (p *Pack) Count(n int64) { *p = binary.AppendVarint(*p, n) }

// Text packs a string.
func (p *Pack) Text(s string) { p.Count(int64(len(s))); *p = append(*p, s...) }

// Time packs a moment to the nanosecond, without its zone.
func (p *Pack) Time(t time.Time) { p.Count(t.Unix()); p.Count(int64(t.Nanosecond())) }

// Flags packs up to eight bits.
func (p *Pack) Flags(set ...bool) {
	var b byte
	for i, on := range set {
		if on {
			b |= 1 << i
		}
	}
	*p = append(*p, b)
}

// Open reads what was packed, whole.
func (p Pack) Open(read func(*Unpack)) error {
	u := Unpack{s: string(p)}
	read(&u)
	return u.err()
}

// Unpack reads what Pack wrote; after the first mistake it gives zeros.
type Unpack struct {
	s     string
	wrong bool
}

var errPacked = errors.New("not as it was packed")

// err says that something was wrong, or that something is left.
func (u *Unpack) err() error {
	if u.wrong || u.s != "" {
		return errPacked
	}
	return nil
}

func (u *Unpack) fail() { u.wrong, u.s = true, "" }

func (u *Unpack) take(n int64) string {
	if n < 0 || n > int64(len(u.s)) {
		u.fail()
		n = 0
	}
	t := u.s[:n]
	u.s = u.s[n:]
	return t
}

// Number reads a number.
func (u *Unpack) Number() float64 {
	t := u.take(8)
	if len(t) < 8 {
		return 0
	}
	bits := uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 | uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
	return math.Float64frombits(bits)
}

// Count reads a whole number: binary.Varint of a string.
func (u *Unpack) Count() int64 {
	var x uint64
	for i := range min(len(u.s), binary.MaxVarintLen64) {
		b := u.s[i]
		x |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			u.s = u.s[i+1:]
			return int64(x>>1) ^ -int64(x&1)
		}
	}
	u.fail()
	return 0
}

// Text reads a string.
func (u *Unpack) Text() string { return u.take(u.Count()) }

// Time reads a moment.
func (u *Unpack) Time() time.Time { return time.Unix(u.Count(), u.Count()).UTC() }

// Flags reads bits.
func (u *Unpack) Flags(into ...*bool) {
	t := u.take(1)
	if t == "" {
		return
	}
	for i, on := range into {
		*on = t[0]&(1<<i) != 0
	}
}

// PackList packs things one by one.
func PackList[T any](p *Pack, list []T, one func(*Pack, *T)) {
	p.Count(int64(len(list)))
	for i := range list {
		one(p, &list[i])
	}
}

// UnpackList reads a list, of things of at least one byte each; nil where it is empty.
func UnpackList[T any](u *Unpack, one func(*Unpack, *T)) []T {
	n := u.Count()
	if n < 0 || n > int64(len(u.s)) {
		u.fail()
		return nil
	}
	if n == 0 {
		return nil
	}
	// A thing may be many times as large as its bytes: room is made for what comes.
	list := make([]T, 0, min(n, 1024))
	for range n {
		if u.wrong {
			return nil
		}
		list = append(list, *new(T))
		one(u, &list[len(list)-1])
	}
	return list
}
