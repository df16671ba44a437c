package journal

import (
	"fmt"
	"math"
	"path"
	"slices"
)

// Attempt is a measured change: what the recommendation learns from.
type Attempt struct {
	Fix     string   `json:"fix,omitempty"`    // that was tried, as noted before
	Lesson  string   `json:"lesson,omitempty"` // that was followed
	Note    string   `json:"note,omitempty"`   // last note before it; untrusted
	Class   string   `json:"class,omitempty"`  // bottleneck in the last profile before it
	Gain    float64  `json:"gain"`             // logarithm of before over after
	Error   float64  `json:"error,omitempty"`  // its standard error
	Verdict string   `json:"verdict,omitempty"`
	Changes []Change `json:"changes,omitempty"`
	Diff    string   `json:"diff,omitempty"` // untrusted
	Run     string   `json:"run,omitempty"`
	Wrong   []string `json:"wrong,omitempty"` // what makes it a wrong optimization; empty for none
}

// unknownError is the standard error of a gain whose spread is unknown: medians of two runs on
// a quiet device differ by so much.
const unknownError = 0.02

// Attempts returns what was tried in a session, in order. A search for parameters with a proven
// best point is an attempt too; applying that point afterwards is none.
func Attempts(s *Session) []Attempt {
	t := trail{profiled: map[string]bool{}, bad: map[string]bool{}}
	for _, e := range s.Entries {
		t.add(e)
	}
	return t.list
}

// trail is the state while a journal is read from the front.
type trail struct {
	list []Attempt

	last     *Did            // measurement
	class    string          // of the last profile
	profiled map[string]bool // sources with a profile
	fresh    bool            // there is a profile since the last measurement
	noTool   bool            // profiling was tried and cannot work here
	noted    Noted
	bad      map[string]bool   // sources with a wrong result
	tuned    map[string]string // point that the last search proved
}

func (t *trail) add(e Entry) {
	if n := e.Noted; n != nil {
		if n.Fix != "" || n.Lesson != "" {
			t.noted.Fix, t.noted.Lesson = n.Fix, n.Lesson
		}
		if n.Text != "" {
			t.noted.Text = n.Text
		}
	}
	d := e.Did
	if d == nil {
		return
	}
	if d.Profiled != nil {
		t.class, t.profiled[d.Source], t.fresh, t.noTool = d.Profiled.Bottleneck, true, true, false
	}
	t.noTool = t.noTool || d.CannotProfile()
	if d.Checked != nil && d.Checked.Wrong() {
		t.mark(d.Source)
	}
	if d.Tuned != nil && d.Tuned.Speedup > 0 {
		t.searched(d)
	}
	if d.Measures() {
		t.measured(d)
	}
}

// CannotProfile reports whether profiling was tried and no profiler works here.
func (d *Did) CannotProfile() bool {
	return d != nil && d.Command == "profile" && d.Profiled == nil && d.Exit == 3
}

const wrongResult = "wrong result"

// mark records that a source gives wrong results, also for the attempt that was measured before
// the check.
func (t *trail) mark(source string) {
	t.bad[source] = true
	if n := len(t.list); n > 0 && t.last != nil && t.last.Source == source && t.list[n-1].Correct() {
		t.list[n-1].Wrong = append(t.list[n-1].Wrong, wrongResult)
	}
}

// Correct reports whether no result of the attempt was found wrong.
func (a Attempt) Correct() bool { return !slices.Contains(a.Wrong, wrongResult) }

func (t *trail) measured(d *Did) {
	before := t.last
	blind := before != nil && !t.fresh && (before.Source == "" || !t.profiled[before.Source]) && !t.noTool
	t.last, t.fresh = d, false
	a := Attempt{Changes: d.Changes, Diff: d.Diff, Run: d.Measured.Run, Verdict: d.Measured.Verdict}
	ok := false
	switch {
	case before == nil: // the change was made before the session: only a decided difference counts
		a.Gain, a.Error, ok = paired(d.Measured)
		ok = ok && (a.Verdict == "regression" || a.Verdict == "improvement")
	case len(d.Changes) == 0:
	case t.applied(d.Changes):
		t.tuned = nil
	default:
		a.Gain, a.Error, ok = gainOf(before.Measured, d.Measured)
	}
	if !ok {
		return
	}
	if blind {
		a.Wrong = append(a.Wrong, "no profile")
	}
	t.judge(&a, d)
}

// searched adds a search that proved a point.
func (t *trail) searched(d *Did) {
	a := Attempt{Gain: math.Log(d.Tuned.Speedup), Error: unknownError, Run: d.Tuned.Run, Verdict: "improvement"}
	for _, name := range differing(d.Tuned.Point, nil) {
		a.Changes = append(a.Changes, Change{What: Parameter, Name: name, After: d.Tuned.Point[name]})
	}
	t.tuned = d.Tuned.Point
	t.judge(&a, d)
}

// judge adds an attempt with what is wrong about it.
func (t *trail) judge(a *Attempt, d *Did) {
	if n := len(a.Changes); n > 1 && d.Tuned == nil {
		a.Wrong = append(a.Wrong, fmt.Sprintf("%d variables at once", n))
	}
	if t.bad[d.Source] || a.Verdict == "broken" {
		a.Wrong = append(a.Wrong, wrongResult)
	}
	if a.Verdict == "regression" && a.Gain < 0 || a.Gain < -max(2*a.Error, unknownError) {
		a.Wrong = append(a.Wrong, fmt.Sprintf("%.2fx slower", math.Exp(-a.Gain)))
	}
	a.Fix, a.Lesson, a.Note, a.Class = t.noted.Fix, t.noted.Lesson, t.noted.Text, t.class
	t.noted = Noted{}
	t.list = append(t.list, *a)
}

// applied reports whether all changes are the point of the last search.
func (t *trail) applied(changes []Change) bool {
	for _, c := range changes {
		if v, ok := t.tuned[path.Base(c.Name)]; c.What != Parameter || !ok || v != c.After {
			return false
		}
	}
	return true
}

// gainOf returns the gain from one measurement to the next: side by side if the base of the second
// is what was measured before, or else from the medians of the cases that both have.
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
		b := was[c.Case]
		if b.Candidate <= 0 || c.Candidate <= 0 {
			continue
		}
		sum += math.Log(b.Candidate / c.Candidate)
		variance += b.Spread*b.Spread + c.Spread*c.Spread
		n++
	}
	if n == 0 {
		return 0, 0, false
	}
	// Two runs differ by something that more cases do not average out.
	return sum / float64(n), math.Sqrt(variance/float64(n*n) + unknownError*unknownError), true
}

// paired returns the mean gain over the cases that were measured side by side with their base.
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
