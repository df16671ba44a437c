package journal

import "github.com/goatnote-inc/pawl/internal/learn/keep"

func packSummary(p *keep.Pack, s *Summary) {
	p.Flags(s.Open, s.Ended != nil, s.Budget != nil, s.Forecast != nil)
	packStarted(p, &s.Started)
	p.Time(s.Began)
	s.By.Pack(p)
	if e := s.Ended; e != nil {
		p.Text(string(e.Outcome))
		p.Text(e.Text)
		p.Number(e.Speedup)
		p.Text(e.Lesson)
		p.Text(e.Commit)
	}
	p.Number(s.Minutes)
	p.Number(s.Device)
	p.Number(s.Dollars)
	for _, n := range []int{s.Entries, s.Agents, s.Refused, s.Overrode, s.Attempts} {
		p.Count(int64(n))
	}
	p.Text(s.Broken)
	keep.PackList(p, s.Followed, func(p *keep.Pack, a *Attempt) { a.Pack(p) })
}

func packStarted(p *keep.Pack, s *Started) {
	for _, t := range []string{s.ID, s.Goal, s.Benchmark, s.Suite, s.Reference, s.Commit, s.Device, s.GPU} {
		p.Text(t)
	}
	for _, x := range []float64{s.Target, s.Planned, s.Price} {
		p.Number(x)
	}
	if b := s.Budget; b != nil {
		p.Number(b.Seconds)
		p.Number(b.Dollars)
	}
	if s.Forecast != nil {
		s.Forecast.Pack(p)
	}
}

// Pack puts an actor among other things that are kept.
func (a *Actor) Pack(p *keep.Pack) {
	p.Text(string(a.Kind))
	p.Text(a.Name)
}

// Pack puts a forecast among other things that are kept.
func (f *Forecast) Pack(p *keep.Pack) {
	for _, r := range []Range{f.Minutes, f.Speedup} {
		p.Number(r.Value)
		p.Number(r.Low)
		p.Number(r.High)
	}
	p.Count(int64(f.Basis))
}

// Pack puts an attempt among other things that are kept.
func (a *Attempt) Pack(p *keep.Pack) {
	p.Flags(a.Correct, a.Profiled)
	for _, t := range []string{a.Fix, a.Lesson, a.Class, a.GPU, a.Kernel, a.Run} {
		p.Text(t)
	}
	for _, x := range []float64{a.Gain, a.Error, a.Minutes} {
		p.Number(x)
	}
	keep.PackList(p, a.Changes, func(p *keep.Pack, c *Change) {
		for _, t := range []string{string(c.What), c.File, c.Name, c.Before, c.After} {
			p.Text(t)
		}
		p.Count(int64(c.Added))
		p.Count(int64(c.Gone))
	})
}

func unpackSummary(u *keep.Unpack, s *Summary) {
	var ended, budget, forecast bool
	u.Flags(&s.Open, &ended, &budget, &forecast)
	unpackStarted(u, &s.Started, budget, forecast)
	s.Began = u.Time()
	s.By.Unpack(u)
	if ended {
		s.Ended = &Ended{Outcome: Result(u.Text()), Text: u.Text(), Speedup: u.Number(), Lesson: u.Text(), Commit: u.Text()}
	}
	s.Minutes, s.Device, s.Dollars = u.Number(), u.Number(), u.Number()
	for _, n := range []*int{&s.Entries, &s.Agents, &s.Refused, &s.Overrode, &s.Attempts} {
		*n = int(u.Count())
	}
	s.Broken = u.Text()
	s.Followed = keep.UnpackList(u, func(u *keep.Unpack, a *Attempt) { a.Unpack(u) })
}

func unpackStarted(u *keep.Unpack, s *Started, budget, forecast bool) {
	for _, t := range []*string{&s.ID, &s.Goal, &s.Benchmark, &s.Suite, &s.Reference, &s.Commit, &s.Device, &s.GPU} {
		*t = u.Text()
	}
	s.Target, s.Planned, s.Price = u.Number(), u.Number(), u.Number()
	if budget {
		s.Budget = &Budget{Seconds: u.Number(), Dollars: u.Number()}
	}
	if forecast {
		s.Forecast = &Forecast{}
		s.Forecast.Unpack(u)
	}
}

// Unpack reads what Pack wrote.
func (a *Actor) Unpack(u *keep.Unpack) { a.Kind, a.Name = ActorKind(u.Text()), u.Text() }

// Unpack reads what Pack wrote.
func (f *Forecast) Unpack(u *keep.Unpack) {
	for _, r := range []*Range{&f.Minutes, &f.Speedup} {
		r.Value, r.Low, r.High = u.Number(), u.Number(), u.Number()
	}
	f.Basis = int(u.Count())
}

// Unpack reads what Pack wrote.
func (a *Attempt) Unpack(u *keep.Unpack) {
	u.Flags(&a.Correct, &a.Profiled)
	a.Fix, a.Lesson, a.Class, a.GPU, a.Kernel, a.Run = u.Text(), u.Text(), u.Text(), u.Text(), u.Text(), u.Text()
	a.Gain, a.Error, a.Minutes = u.Number(), u.Number(), u.Number()
	a.Changes = keep.UnpackList(u, func(u *keep.Unpack, c *Change) {
		c.What = ChangeKind(u.Text())
		c.File, c.Name, c.Before, c.After = u.Text(), u.Text(), u.Text(), u.Text()
		c.Added, c.Gone = int(u.Count()), int(u.Count())
	})
}
