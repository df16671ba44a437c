package gates

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// Now is what is known at this moment besides the journal. All of it may be missing.
type Now struct {
	Time time.Time
	// Did is the command that would run: its host, the present source and definition, and how
	// they differ from those of the last measurement.
	Did     journal.Did
	Configs []string // cases of the suite from the smallest to the largest
}

// Learn returns the facts of a session.
func Learn(s *journal.Session, now Now) Facts {
	l := learner{
		session: s, now: now, measurements: s.Measurements(), begin: s.Beginning(), order: map[*journal.Did]int{},
		Facts: Facts{Numbers: map[string]float64{}, Texts: map[string]string{}},
	}
	for _, always := range []string{"unchecked", "not_finite", "profiled", "no_profiler", "repairing", "definition_changed", "reached", "smallest_measured"} {
		l.set(always, false)
	}
	l.walk()
	l.moment()
	l.build()
	l.checks()
	l.times()
	l.attempts()
	return l.Facts
}

// learner reads a journal once and keeps the entries that later questions are about.
type learner struct {
	Facts
	session *journal.Session
	now     Now
	begin   map[string]float64

	last         *journal.Did
	lastTime     time.Time
	environment  *journal.Did // last check
	unfit        bool         // what was built since did not load
	built        *journal.Built
	builtSource  string
	brokenSince  time.Time // of the failed builds in a row; zero while it works
	ran          bool      // it was built or ran at least once
	limits       *journal.Limits
	measurements []*journal.Did
	checked      []*journal.Did
	profiled     []*journal.Did
	order        map[*journal.Did]int // place among the entries
	source       string               // present
	definition   string
	changes      []journal.Change // since the last measurement
}

func (l *learner) set(name string, yes bool) {
	l.Numbers[name] = 0
	if yes {
		l.Numbers[name] = 1
	}
}

// walk reads the entries in order.
func (l *learner) walk() {
	l.lastTime = l.session.Began
	for i, e := range l.session.Entries {
		l.lastTime = e.Time
		if e.Did != nil {
			l.last, l.order[e.Did] = e.Did, i
			l.take(e.Did, e.Time)
		}
	}
	if d := l.now.Did; d.Source != "" {
		l.source, l.changes = d.Source, d.Changes
	}
	l.definition = cmp.Or(l.now.Did.Definition, l.definition)
}

// take keeps what one command found.
func (l *learner) take(d *journal.Did, at time.Time) {
	if d.Source != "" {
		l.source, l.changes = d.Source, d.Changes
	}
	l.definition = cmp.Or(d.Definition, l.definition)
	if d.Environment != nil {
		l.environment, l.unfit = d, false
	}
	if d.Built != nil {
		l.builds(d, at)
	}
	if d.Limits != nil {
		l.limits = d.Limits
		if problem(d.Limits, "symbols") {
			l.built, l.builtSource = &journal.Built{Class: journal.UndefinedSymbol}, d.Source
		}
	}
	if d.Checked != nil && d.Checked.Points > 0 {
		l.checked, l.ran = append(l.checked, d), true
	}
	if d.Command == "fuzz" && d.Exit == 2 && d.Checked == nil && len(d.Args) == 0 {
		l.set("unchecked", true)
	}
	if d.Profiled != nil {
		l.profiled = append(l.profiled, d)
		l.set("no_profiler", false)
	} else if d.CannotProfile() {
		l.set("no_profiler", true)
	}
	if d.Measures() {
		l.changes = nil
		l.works(d)
	}
}

// builds keeps the result of a build. What does not load is the fault of the environment until that is
// checked again.
func (l *learner) builds(d *journal.Did, at time.Time) {
	if d.Built.OK {
		l.works(d)
		return
	}
	l.built, l.builtSource = d.Built, d.Source
	if l.brokenSince.IsZero() {
		l.brokenSince = at.Add(-time.Duration(d.Seconds * float64(time.Second)))
	}
	l.unfit = d.Built.Class == journal.ABI || d.Built.Class == journal.Toolchain
}

func (l *learner) works(d *journal.Did) {
	l.ran, l.unfit, l.brokenSince = true, false, time.Time{}
	l.built, l.builtSource = &journal.Built{OK: true}, d.Source
}

// moment sets the facts of clock, host and budget.
func (l *learner) moment() {
	n := l.Numbers
	if l.now.Time.IsZero() {
		l.now.Time = l.lastTime
	}
	n["minutes"] = max(0, l.now.Time.Sub(l.session.Began).Minutes())
	n["minutes_silent"] = max(0, l.now.Time.Sub(l.lastTime).Minutes())
	n["device_seconds"], n["dollars"] = l.session.Spent()
	if b := l.session.Budget; b != nil {
		left := math.Inf(1)
		if b.Seconds > 0 {
			left = min(left, 1-n["device_seconds"]/b.Seconds)
		}
		if b.Dollars > 0 {
			left = min(left, 1-n["dollars"]/b.Dollars)
		}
		if !math.IsInf(left, 0) {
			n["budget_left"] = left
		}
	}
	l.set("gpu", l.session.GPU != "" && l.session.GPU != "cpu")
	l.Texts["good"] = name(l.session.Commit)
	here := l.now.Did.Host
	if here == "" && l.last != nil {
		here = l.last.Host
	}
	looked := l.last
	if l.environment != nil {
		looked = l.environment
	}
	moved := looked != nil && looked.Host != "" && here != "" && looked.Host != here
	l.set("host_changed", moved)
	l.Texts["host"] = name(here)
	if moved {
		l.Texts["last_host"] = name(looked.Host)
	}
	if l.environment != nil && !moved {
		e := l.environment.Environment
		l.set("environment_ok", e.OK)
		l.Texts["problems"] = fmt.Sprintf("%d problems", len(e.Problems))
		if len(e.Problems) == 1 {
			l.Texts["problems"] = "1 problem"
		}
	}
}

// build sets whether it builds, and what keeps it from that.
func (l *learner) build() {
	l.set("abi_ok", !l.unfit)
	if b := l.built; b != nil {
		l.set("claims_verified", b.OK || l.ran)
		if l.builtSource == l.source || l.builtSource == "" { // another source may build
			l.set("build_ok", b.OK)
			l.set("sources_ok", b.Class != journal.MissingFile)
			l.set("symbols_ok", b.Class != journal.UndefinedSymbol && b.Class != journal.Instantiation)
		}
		if !b.OK {
			if b.Class != journal.OtherMistake {
				l.Texts["build_class"] = b.Class
			}
			l.Texts["build_where"] = name(b.Where)
		}
	} else if l.ran {
		l.set("claims_verified", true)
	}
	l.Numbers["build_minutes_broken"] = 0
	if !l.brokenSince.IsZero() {
		l.Numbers["build_minutes_broken"] = max(0, l.now.Time.Sub(l.brokenSince).Minutes())
	}
	m := l.limits
	if m == nil {
		return
	}
	l.set("limits_known", true)
	l.set("fits", m.Fits)
	l.Numbers["shared_memory"] = m.SharedMemory
	if m.SharedLimit > 0 {
		l.Numbers["shared_limit"] = m.SharedLimit
	}
	if m.Minimum > 0 {
		l.Numbers["minimum_ns"] = m.Minimum
	}
	if problem(m, "claims") && len(l.measurements) == 0 {
		l.set("claims_verified", false)
		l.Texts["claim_words"] = "The suite claims more than the device can do"
	}
}

// problem reports whether preflight stopped at one of its own gates.
func problem(m *journal.Limits, gate string) bool {
	return slices.ContainsFunc(m.Problems, func(p string) bool { return strings.HasPrefix(p, gate+":") })
}

// checks sets what is known of the results.
func (l *learner) checks() {
	if len(l.checked) == 0 {
		return
	}
	c := l.checked[len(l.checked)-1].Checked
	n := l.Numbers
	n["points"], n["failed_points"], n["max_difference"] = float64(c.Points), float64(c.Failed), c.Worst
	l.set("smallest_correct", c.SmallestOK)
	l.set("not_finite", c.NotFinite)
	if c.Failed > 0 {
		l.Texts["first_bad"], l.Texts["replay"] = name(c.FirstBad), replay(c.Replay)
		if c.Tiles > 0 {
			n["first_bad_tiles"] = c.Tiles
		}
		switch {
		case c.NotFinite:
			l.Texts["difference_words"] = "NaN or infinity among the results; accumulate in FP32"
		case c.Worst >= wrongAbove:
			l.Texts["difference_words"] = fmt.Sprintf("off by up to %s, which is a bug and not imprecision", short(c.Worst))
		case c.Worst > 0:
			l.Texts["difference_words"] = fmt.Sprintf("off by up to %s", short(c.Worst))
		}
	}
	var last *journal.Did
	if len(l.measurements) > 0 {
		last = l.measurements[len(l.measurements)-1]
	}
	for _, d := range l.checked {
		bad := d.Checked.Wrong()
		after := last == nil || l.order[d] > l.order[last]
		if l.source != "" && d.Source == l.source || d.Source == "" && after {
			if ok, seen := n["correct_since_change"]; seen && ok == 0 && d.Source != "" {
				bad = true // wrong once is wrong, whatever else is checked
			}
			l.set("correct_since_change", !bad)
		}
		if last != nil && bad && d.Source != "" && d.Source == last.Source {
			l.set("repairing", true)
		}
	}
}

// attempts sets what was changed, and the results.
func (l *learner) attempts() {
	n := l.Numbers
	n["changed"] = float64(len(l.changes))
	l.Texts["changes"] = Changed(l.changes)
	all := journal.Attempts(l.session)
	n["attempts_without_20"] = 0
	for _, a := range slices.Backward(all) {
		if a.Correct() && a.Gain >= math.Log(enough) {
			break
		}
		n["attempts_without_20"]++
	}
	if len(all) > 0 {
		n["last_gain"] = all[len(all)-1].Gain
	}
	if speedup, known := n["speedup"]; known {
		l.set("reached", speedup >= cmp.Or(l.session.Target, enough) && n["repairing"] == 0 && n["changed"] == 0)
	}
	if len(l.measurements) == 0 {
		return
	}
	last := l.measurements[len(l.measurements)-1]
	for _, p := range l.profiled {
		if p.Source != "" && (p.Source == last.Source || p.Source == l.source) || p.Source == "" && l.order[p] > l.order[last] {
			l.set("profiled", true)
			l.Texts["bottleneck"] = name(p.Profiled.Bottleneck)
		}
	}
	first := l.measurements[0].Definition
	l.set("definition_changed", first != "" && l.definition != "" && l.definition != first)
}
