package learn

import (
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/keep"
)

func packTale(p *keep.Pack, t *Tale) {
	p.Flags(t.Open, t.Forecast != nil)
	p.Flags(t.Build != nil, t.Reference != nil, t.Bottleneck != nil, t.Gain != nil)
	for _, s := range []string{t.ID, t.Goal, t.Benchmark, t.GPU, string(t.Outcome), t.Text} {
		p.Text(s)
	}
	t.By.Pack(p)
	p.Time(t.Began)
	for _, x := range []float64{t.Minutes, t.Planned, t.Dollars, t.Device, t.Start, t.Speedup} {
		p.Number(x)
	}
	for _, x := range []*float64{t.Build, t.Reference, t.Bottleneck, t.Gain} {
		if x != nil {
			p.Number(*x)
		}
	}
	for _, n := range []int{t.Wrong, t.Stops, t.Overrides, t.Missed} {
		p.Count(int64(n))
	}
	if t.Forecast != nil {
		t.Forecast.Pack(p)
	}
	keep.PackList(p, t.Spans, func(p *keep.Pack, s *Span) { p.Text(s.Phase); p.Number(s.Minutes) })
	keep.PackList(p, t.Marks, func(p *keep.Pack, m *Mark) {
		p.Number(m.Minute)
		p.Text(string(m.Kind))
		p.Text(m.Word)
		p.Text(m.Text)
	})
	keep.PackList(p, t.Tries, func(p *keep.Pack, t *Try) {
		t.Pack(p)
		p.Number(t.Minute)
		p.Number(t.Prior)
		keep.PackList(p, t.Wrong, func(p *keep.Pack, s *string) { p.Text(*s) })
	})
}

func unpackTale(u *keep.Unpack, t *Tale) {
	var forecast bool
	var known [4]bool
	u.Flags(&t.Open, &forecast)
	u.Flags(&known[0], &known[1], &known[2], &known[3])
	t.ID, t.Goal, t.Benchmark, t.GPU = u.Text(), u.Text(), u.Text(), u.Text()
	t.Outcome, t.Text = journal.Result(u.Text()), u.Text()
	t.By.Unpack(u)
	t.Began = u.Time()
	for _, x := range []*float64{&t.Minutes, &t.Planned, &t.Dollars, &t.Device, &t.Start, &t.Speedup} {
		*x = u.Number()
	}
	for i, x := range []**float64{&t.Build, &t.Reference, &t.Bottleneck, &t.Gain} {
		if known[i] {
			*x = new(u.Number())
		}
	}
	for _, n := range []*int{&t.Wrong, &t.Stops, &t.Overrides, &t.Missed} {
		*n = int(u.Count())
	}
	if forecast {
		t.Forecast = &journal.Forecast{}
		t.Forecast.Unpack(u)
	}
	t.Spans = keep.UnpackList(u, func(u *keep.Unpack, s *Span) { s.Phase, s.Minutes = u.Text(), u.Number() })
	t.Marks = keep.UnpackList(u, func(u *keep.Unpack, m *Mark) {
		m.Minute, m.Kind, m.Word, m.Text = u.Number(), MarkKind(u.Text()), u.Text(), u.Text()
	})
	t.Tries = keep.UnpackList(u, func(u *keep.Unpack, t *Try) {
		t.Unpack(u)
		t.Minute, t.Prior = u.Number(), u.Number()
		t.Wrong = keep.UnpackList(u, func(u *keep.Unpack, s *string) { *s = u.Text() })
	})
}
