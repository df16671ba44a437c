package journal

import (
	"math"
	"path"
	"strings"
	"time"
)

// Attempt is two measurements after each other with a change between them: what the model
// learns from.
type Attempt struct {
	Fix      string   `json:"fix,omitempty"`    // that was tried, as noted before
	Lesson   string   `json:"lesson,omitempty"` // that was followed
	Class    string   `json:"class,omitempty"`  // bottleneck of the last profile before it
	GPU      string   `json:"gpu,omitempty"`
	Kernel   string   `json:"kernel,omitempty"` // the benchmark
	Gain     float64  `json:"gain"`             // logarithm of before over after
	Error    float64  `json:"error,omitempty"`  // its standard error; 0 where nobody can tell
	Changes  []Change `json:"changes,omitempty"`
	Correct  bool     `json:"correct"`           // it was measured, and nothing wrong was found after the change
	Profiled bool     `json:"profiled"`          // the source it changed had been profiled
	Minutes  float64  `json:"minutes,omitempty"` // since the measurement before
	Run      string   `json:"run,omitempty"`     // that shows the gain
}

// Measures tells a command that measured the candidate as it lies in the working tree.
func (d *Did) Measures() bool {
	return d != nil && d.Measured != nil && (d.Command == "bench" || d.Command == "run") && d.Measured.candidate()
}

func (m *Measured) candidate() bool {
	for _, c := range m.Cases {
		if c.Candidate > 0 {
			return true
		}
	}
	return false
}

// unknownError is the standard error of a gain of which the spread was not kept: two
// medians of a quiet device differ by so much.
const unknownError = 0.02

// Attempts are what was tried in a session, in order. A search for parameters whose best
// point was proved is one too; putting that point into the suite afterwards is none.
func Attempts(s *Session) []Attempt {
	t := trail{session: s}
	for _, e := range s.Entries {
		t.see(e)
	}
	return t.list
}

// trail is what is known while a journal is read from the front.
type trail struct {
	session *Session
	list    []Attempt

	last     *Did // the last measurement
	lastTime time.Time
	class    string            // of the last profile
	profiled map[string]bool   // sources of which there is a profile
	since    bool              // there is one since the last measurement
	noted    Noted             // what is tried next
	wrong    map[string]bool   // sources of which a result was wrong
	tuned    map[string]string // the point that the last search proved
}

func (t *trail) see(e Entry) {
	if e.Noted != nil && (e.Noted.Fix != "" || e.Noted.Lesson != "") {
		t.noted.Fix, t.noted.Lesson = e.Noted.Fix, e.Noted.Lesson
	}
	d := e.Did
	if d == nil {
		return
	}
	if d.Profiled != nil {
		t.class = d.Profiled.Bottleneck
		if t.profiled == nil {
			t.profiled = map[string]bool{}
		}
		t.profiled[d.Source], t.since = true, true
	}
	if d.Checked != nil && (d.Checked.Failed > 0 || d.Checked.NotFinite) {
		t.mark(d.Source)
	}
	if d.Tuned != nil && d.Tuned.Speedup > 0 {
		t.searched(d)
	}
	if d.Measures() {
		t.measured(d, e.Time)
	}
}

// mark tells that a source gives wrong results, also of an attempt that was measured before
// anybody looked.
func (t *trail) mark(source string) {
	if t.wrong == nil {
		t.wrong = map[string]bool{}
	}
	t.wrong[source] = true
	if n := len(t.list); n > 0 && t.last != nil && t.last.Source == source {
		t.list[n-1].Correct = false
	}
}

func (t *trail) measured(d *Did, at time.Time) {
	before, since := t.last, t.lastTime
	profiled := before != nil && (t.since || before.Source != "" && t.profiled[before.Source])
	t.last, t.lastTime, t.since = d, at, false
	if before == nil || len(d.Changes) == 0 {
		return
	}
	if t.applied(d.Changes) {
		t.tuned = nil
		return
	}
	gain, err, ok := gainOf(before.Measured, d.Measured)
	if !ok {
		return
	}
	t.add(Attempt{
		Gain: gain, Error: err, Changes: d.Changes, Run: d.Measured.Run,
		Kernel: t.kernel(d.Measured), Correct: !t.wrong[d.Source] && d.Measured.Verdict != "broken", Profiled: profiled,
		Minutes: max(0, at.Sub(since).Minutes()),
	})
}

// searched is a search that proved a point.
func (t *trail) searched(d *Did) {
	benchmark, _, _ := strings.Cut(d.Tuned.Case, "/")
	a := Attempt{
		Gain: math.Log(d.Tuned.Speedup), Error: unknownError, Kernel: benchmark, Run: d.Tuned.Run,
		Correct: !t.wrong[d.Source], Profiled: t.since || d.Source != "" && t.profiled[d.Source], Minutes: d.Seconds / 60,
	}
	for _, name := range keysOf(d.Tuned.Point, nil) {
		a.Changes = append(a.Changes, Change{What: Parameter, Name: name, After: d.Tuned.Point[name]})
	}
	t.tuned = d.Tuned.Point
	t.add(a)
}

// applied tells that all that changed is the point of the last search.
func (t *trail) applied(changes []Change) bool {
	for _, c := range changes {
		v, ok := t.tuned[path.Base(c.Name)]
		if c.What != Parameter && c.What != Constant || !ok || v != c.After {
			return false
		}
	}
	return true
}

func (t *trail) add(a Attempt) {
	a.Fix, a.Lesson, a.Class, a.GPU = t.noted.Fix, t.noted.Lesson, t.class, t.session.GPU
	t.noted = Noted{}
	t.list = append(t.list, a)
}

// kernel is the benchmark worked on, or the one measured.
func (t *trail) kernel(m *Measured) string {
	if t.session.Benchmark != "" || len(m.Cases) == 0 {
		return t.session.Benchmark
	}
	benchmark, _, _ := strings.Cut(m.Cases[0].Case, "/")
	return benchmark
}

// gainOf is what a measurement shows against the one before: side by side where its base is
// what was measured before, else by the medians of the cases that both have.
func gainOf(before, after *Measured) (gain, stderr float64, ok bool) {
	if after.BaseBefore {
		if gain, stderr, ok := paired(after); ok {
			return gain, stderr, true
		}
	}
	was := map[string]MeasuredCase{}
	for _, c := range before.Cases {
		was[c.Case] = c
	}
	var sum, variance float64
	n := 0
	for _, c := range after.Cases {
		b, there := was[c.Case]
		if !there || b.Candidate <= 0 || c.Candidate <= 0 {
			continue
		}
		sum += math.Log(b.Candidate / c.Candidate)
		variance += spread(b)*spread(b) + spread(c)*spread(c)
		n++
	}
	if n == 0 {
		return 0, 0, false
	}
	// Two runs have something of their own, which more cases do not average out.
	return sum / float64(n), math.Sqrt(variance/float64(n*n) + unknownError*unknownError), true
}

// paired is the mean gain over cases that were measured beside their base.
func paired(m *Measured) (gain, stderr float64, ok bool) {
	var variance float64
	n := 0
	for _, c := range m.Cases {
		if c.Gain != nil {
			gain += *c.Gain
			variance += c.Error * c.Error
			n++
		}
	}
	if n == 0 {
		return 0, 0, false
	}
	return gain / float64(n), math.Sqrt(variance) / float64(n), true
}

// spread is the standard error of the logarithm of a median.
func spread(c MeasuredCase) float64 {
	if c.Spread > 0 {
		return c.Spread
	}
	return unknownError / math.Sqrt2
}
