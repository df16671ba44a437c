package gates

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// Now is what is known at this moment beside the journal. Everything in it may be missing.
type Now struct {
	Time time.Time
	// Did is the command that would run: its host, the source and definition that lie
	// there, and how they differ from those of the last measurement.
	Did journal.Did
	// Committed says that the sources are those of a commit.
	Committed bool
	// Configs are the cases of the suite from the smallest to the largest.
	Configs []string
}

// Learn takes from a session what the gates ask for, as it was after its last entry.
func Learn(s *journal.Session) Facts { return LearnNow(s, Now{}) }

// LearnNow takes from a session, and from what is known now, what the gates ask for.
func LearnNow(s *journal.Session, now Now) Facts {
	l := learner{
		session: s, now: now,
		numbers: map[string]float64{}, texts: map[string]string{},
	}
	for _, f := range facts {
		if f.Always {
			l.numbers[f.Name] = 0
		}
	}
	l.walk()
	l.moment()
	l.build()
	l.checks()
	l.times()
	l.attempts()
	return Facts{Numbers: l.numbers, Texts: l.texts}
}

// learner reads a journal once and keeps the entries that later questions are about.
type learner struct {
	session *journal.Session
	now     Now
	numbers map[string]float64
	texts   map[string]string

	last         *journal.Did // that ran
	environment  *journal.Did // the last look at it
	unfit        bool         // what was built since did not load
	built        *journal.Did // the last build
	brokenSince  time.Time    // of the builds that failed in a row; zero while it works
	ran          bool         // it was built, or ran, at least once
	limits       *journal.Limits
	measurements []*journal.Did
	checked      []*journal.Did
	profiled     []*journal.Did
	order        map[*journal.Did]int // place among the entries
	source       string               // the present one
	definition   string
	changes      []journal.Change // since the last measurement
	silentSince  time.Time
}

func (l *learner) set(name string, yes bool) {
	l.numbers[name] = 0
	if yes {
		l.numbers[name] = 1
	}
}

// walk goes through the entries in order.
func (l *learner) walk() {
	l.order = map[*journal.Did]int{}
	l.silentSince = l.session.Began
	for i, e := range l.session.Entries {
		l.silentSince = e.Time
		if e.Refused != nil && e.Refused.Changes != nil {
			l.changes = e.Refused.Changes
		}
		if e.Did == nil {
			continue
		}
		d := e.Did
		l.last, l.order[d] = d, i
		l.take(d, e.Time)
	}
	if l.now.Did.Source != "" {
		l.source, l.changes = l.now.Did.Source, l.now.Did.Changes
	}
	if l.now.Did.Definition != "" {
		l.definition = l.now.Did.Definition
	}
	if l.now.Did.Changes != nil {
		l.changes = l.now.Did.Changes
	}
}

// take keeps what one command found.
func (l *learner) take(d *journal.Did, at time.Time) {
	if d.Source != "" {
		l.source, l.changes = d.Source, d.Changes
	}
	if d.Definition != "" {
		l.definition = d.Definition
	}
	if d.Environment != nil {
		l.environment, l.unfit = d, false
	}
	if d.Built != nil {
		l.builds(d, at)
	}
	if d.Limits != nil {
		l.limits = d.Limits
		if problem(d.Limits, "symbols") {
			l.built = &journal.Did{Built: &journal.Built{Class: journal.UndefinedSymbol}, Source: d.Source}
		}
	}
	if d.Checked != nil && d.Checked.Points > 0 {
		l.checked = append(l.checked, d)
		l.ran = true
	}
	if d.Command == "fuzz" && d.Exit == 2 && d.Checked == nil && len(d.Args) == 0 {
		l.set("unchecked", true)
	}
	if d.Profiled != nil {
		l.profiled = append(l.profiled, d)
	}
	if d.Measures() {
		l.measurements = append(l.measurements, d)
		l.ran, l.changes = true, nil
		l.works(d)
	}
}

// builds keeps what one build came to. What does not load is the environment's fault, as
// long as nobody has looked at that again.
func (l *learner) builds(d *journal.Did, at time.Time) {
	if d.Built.OK {
		l.works(d)
		return
	}
	l.built = d
	if l.brokenSince.IsZero() {
		l.brokenSince = at.Add(-time.Duration(d.Seconds * float64(time.Second)))
	}
	c := class(d.Built)
	l.unfit = c == journal.ABI || c == journal.Toolchain
}

func (l *learner) works(d *journal.Did) {
	l.ran, l.unfit, l.brokenSince = true, false, time.Time{}
	l.built = &journal.Did{Built: &journal.Built{OK: true}, Source: d.Source}
}

// moment is the clock, the host and the purse.
func (l *learner) moment() {
	at := l.now.Time
	if at.IsZero() {
		at = l.silentSince
	}
	l.now.Time = at
	n := l.numbers
	n["minutes"] = max(0, at.Sub(l.session.Began).Minutes())
	n["minutes_silent"] = max(0, at.Sub(l.silentSince).Minutes())
	seconds, dollars := l.session.Spent()
	n["device_seconds"], n["dollars"] = seconds, dollars
	if b := l.session.Budget; b != nil {
		left := math.Inf(1)
		if b.Seconds > 0 {
			left = min(left, 1-seconds/b.Seconds)
		}
		if b.Dollars > 0 {
			left = min(left, 1-dollars/b.Dollars)
		}
		if !math.IsInf(left, 0) {
			n["budget_left"] = left
		}
	}
	l.set("gpu", l.session.GPU != "" && l.session.GPU != "cpu")
	l.set("committed", l.now.Committed)
	l.texts["good"] = name(l.session.Commit)
	l.host()
}

// host compares where the work goes on with where it was.
func (l *learner) host() {
	here := l.now.Did.Host
	if l.last != nil {
		if here == "" {
			here = l.last.Host
		}
		l.texts["last_command"], l.texts["last_host"] = "pawl "+name(l.last.Command), name(l.last.Host)
	}
	l.texts["host"] = name(here)
	looked := l.last
	if l.environment != nil {
		looked = l.environment
	}
	moved := looked != nil && looked.Host != "" && here != "" && looked.Host != here
	l.set("host_changed", moved)
	if l.environment != nil && !moved {
		e := l.environment.Environment
		l.set("environment_ok", e.OK)
		if !e.OK {
			l.texts["problems"] = plural(len(e.Problems), "problem")
		}
	}
}

// build is whether it can be built, and what keeps it from that.
func (l *learner) build() {
	l.set("abi_ok", !l.unfit)
	if l.built != nil {
		ok := l.built.Built.OK
		c := class(l.built.Built)
		l.set("build_ok", ok)
		l.set("claims_verified", ok || l.ran)
		if !ok && !l.ran {
			l.texts["claim_words"] = "It does not build here"
		}
		l.set("sources_ok", ok || c != journal.MissingFile)
		l.set("symbols_ok", ok || c != journal.UndefinedSymbol && c != journal.Instantiation)
		if !ok {
			l.texts["build_class"], l.texts["build_where"] = cmp.Or(c, "compile error"), name(l.built.Built.Where)
		}
	} else if l.ran {
		l.set("claims_verified", true)
	}
	if !l.brokenSince.IsZero() {
		l.numbers["build_minutes_broken"] = max(0, l.now.Time.Sub(l.brokenSince).Minutes())
	}
	if m := l.limits; m != nil {
		l.set("limits_known", true)
		l.set("fits", m.Fits)
		l.numbers["shared_memory"], l.numbers["shared_limit"] = m.SharedMemory, m.SharedLimit
		if m.SharedLimit == 0 {
			l.numbers["shared_limit"] = math.Inf(1) // nobody knows one
		}
		if m.Minimum > 0 {
			l.numbers["minimum_ns"] = m.Minimum
		}
		if problem(m, "claims") && len(l.measurements) == 0 {
			l.set("claims_verified", false)
			l.texts["claim_words"] = "The suite claims more than the device can do"
		}
	}
}

// problem tells whether preflight stopped at one of its own gates.
func problem(m *journal.Limits, gate string) bool {
	return slices.ContainsFunc(m.Problems, func(p string) bool { return strings.HasPrefix(p, gate+":") })
}

// class is what kind of mistake a build failed with, in words that sentences may have.
func class(b *journal.Built) string {
	switch b.Class {
	case journal.MissingFile, journal.UndefinedSymbol, journal.Instantiation, journal.Toolchain, journal.ABI:
		return b.Class
	}
	return ""
}
