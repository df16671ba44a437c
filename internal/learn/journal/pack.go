package journal

import (
	"encoding/binary"
	"errors"
	"math"
	"time"
)

// pack writes values after each other, unpack reads them in the same order. Ten thousand
// summaries as JSON take seconds to read; like this, strings are parts of the file as it
// lies in memory. What is packed is only ever read by the pawl that wrote it: see packForm.
type pack []byte

// packForm changes whenever what is packed does.
const packForm = "pawl summaries 3\n"

func (p *pack) number(x float64) {
	*p = binary.LittleEndian.AppendUint64(*p, math.Float64bits(x))
}
func (p *pack) count(n int64) { *p = binary.AppendVarint(*p, n) }
func (p *pack) text(s string) { p.count(int64(len(s))); *p = append(*p, s...) }
func (p *pack) flags(set ...bool) {
	var b byte
	for i, on := range set {
		if on {
			b |= 1 << i
		}
	}
	*p = append(*p, b)
}

func (p *pack) summary(s *Summary) {
	p.flags(s.Open, s.Ended != nil, s.Budget != nil, s.Forecast != nil)
	p.started(&s.Started)
	p.count(s.Began.UnixNano())
	p.text(string(s.By.Kind))
	p.text(s.By.Name)
	if e := s.Ended; e != nil {
		p.text(string(e.Outcome))
		p.text(e.Text)
		p.number(e.Speedup)
		p.text(e.Lesson)
		p.text(e.Commit)
	}
	p.number(s.Minutes)
	p.number(s.Device)
	p.number(s.Dollars)
	for _, n := range []int{s.Entries, s.Agents, s.Refused, s.Overrode, s.Attempts} {
		p.count(int64(n))
	}
	p.text(s.Broken)
	p.count(int64(len(s.Followed)))
	for i := range s.Followed {
		p.attempt(&s.Followed[i])
	}
}

func (p *pack) started(s *Started) {
	for _, t := range []string{s.ID, s.Goal, s.Benchmark, s.Suite, s.Reference, s.Commit, s.Device, s.GPU} {
		p.text(t)
	}
	for _, x := range []float64{s.Target, s.Planned, s.Price} {
		p.number(x)
	}
	if b := s.Budget; b != nil {
		p.number(b.Seconds)
		p.number(b.Dollars)
	}
	if f := s.Forecast; f != nil {
		for _, r := range []Range{f.Minutes, f.Speedup} {
			p.number(r.Value)
			p.number(r.Low)
			p.number(r.High)
		}
		p.count(int64(f.Basis))
	}
}

func (p *pack) attempt(a *Attempt) {
	p.flags(a.Correct, a.Profiled)
	for _, t := range []string{a.Fix, a.Lesson, a.Class, a.GPU, a.Kernel, a.Run} {
		p.text(t)
	}
	for _, x := range []float64{a.Gain, a.Error, a.Minutes} {
		p.number(x)
	}
	p.count(int64(len(a.Changes)))
	for i := range a.Changes {
		c := &a.Changes[i]
		for _, t := range []string{string(c.What), c.File, c.Name, c.Before, c.After} {
			p.text(t)
		}
		p.count(int64(c.Added))
		p.count(int64(c.Gone))
	}
}

// unpack reads what pack wrote; after the first mistake it gives zeros.
type unpack struct {
	s     string
	wrong bool
}

var errPacked = errors.New("not as it was packed")

func (u *unpack) take(n int) string {
	if n < 0 || n > len(u.s) {
		u.wrong, u.s, n = true, "", 0
	}
	t := u.s[:n]
	u.s = u.s[n:]
	return t
}

func (u *unpack) number() float64 {
	t := u.take(8)
	if len(t) < 8 {
		return 0
	}
	bits := uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 | uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
	return math.Float64frombits(bits)
}

// count is binary.Varint of a string.
func (u *unpack) count() int64 {
	var x uint64
	for i := range min(len(u.s), binary.MaxVarintLen64) {
		b := u.s[i]
		x |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			u.s = u.s[i+1:]
			return int64(x>>1) ^ -int64(x&1)
		}
	}
	u.wrong, u.s = true, ""
	return 0
}

func (u *unpack) text() string { return u.take(int(u.count())) }

// length is that of a list of things of at least one byte each.
func (u *unpack) length() int {
	n := u.count()
	if n < 0 || n > int64(len(u.s)) {
		u.wrong, u.s = true, ""
		return 0
	}
	return int(n)
}

func (u *unpack) flags() (a, b, c, d bool) {
	t := u.take(1)
	if t == "" {
		return false, false, false, false
	}
	return t[0]&1 != 0, t[0]&2 != 0, t[0]&4 != 0, t[0]&8 != 0
}

func (u *unpack) summary(s *Summary) error {
	open, ended, budget, forecast := u.flags()
	s.Open = open
	u.started(&s.Started, budget, forecast)
	s.Began = time.Unix(0, u.count()).UTC()
	s.By = Actor{ActorKind(u.text()), u.text()}
	if ended {
		s.Ended = &Ended{Outcome: Result(u.text()), Text: u.text(), Speedup: u.number(), Lesson: u.text(), Commit: u.text()}
	}
	s.Minutes, s.Device, s.Dollars = u.number(), u.number(), u.number()
	s.Entries, s.Agents, s.Refused, s.Overrode, s.Attempts = int(u.count()), int(u.count()), int(u.count()), int(u.count()), int(u.count())
	s.Broken = u.text()
	if n := u.length(); n > 0 {
		s.Followed = make([]Attempt, n)
		for i := range s.Followed {
			u.attempt(&s.Followed[i])
		}
	}
	if u.wrong || u.s != "" {
		return errPacked
	}
	return nil
}

func (u *unpack) started(s *Started, budget, forecast bool) {
	for _, t := range []*string{&s.ID, &s.Goal, &s.Benchmark, &s.Suite, &s.Reference, &s.Commit, &s.Device, &s.GPU} {
		*t = u.text()
	}
	s.Target, s.Planned, s.Price = u.number(), u.number(), u.number()
	if budget {
		s.Budget = &Budget{Seconds: u.number(), Dollars: u.number()}
	}
	if forecast {
		r := func() Range { return Range{Value: u.number(), Low: u.number(), High: u.number()} }
		s.Forecast = &Forecast{Minutes: r(), Speedup: r(), Basis: int(u.count())}
	}
}

func (u *unpack) attempt(a *Attempt) {
	a.Correct, a.Profiled, _, _ = u.flags()
	a.Fix, a.Lesson, a.Class, a.GPU, a.Kernel, a.Run = u.text(), u.text(), u.text(), u.text(), u.text(), u.text()
	a.Gain, a.Error, a.Minutes = u.number(), u.number(), u.number()
	if n := u.length(); n > 0 {
		a.Changes = make([]Change, n)
		for i := range a.Changes {
			c := &a.Changes[i]
			c.What = ChangeKind(u.text())
			c.File, c.Name, c.Before, c.After = u.text(), u.text(), u.text(), u.text()
			c.Added, c.Gone = int(u.count()), int(u.count())
		}
	}
}
