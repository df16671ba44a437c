package learn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// Mark is something that happened in a session and that its story is about.
type Mark struct {
	Minute float64  `json:"minute"` // from the start
	Kind   MarkKind `json:"kind"`
	Word   string   `json:"word"`           // short: it stands in a picture
	Text   string   `json:"text,omitempty"` // the whole of it; not to be trusted
}

// MarkKind is what kind of thing.
type MarkKind string

// The kinds.
const (
	MarkStop     MarkKind = "stop"     // a gate kept a command from running
	MarkOverride MarkKind = "override" // a person went past it
	MarkMistake  MarkKind = "mistake"  // time or speed was lost
	MarkLost     MarkKind = "lost"     // the host died
	MarkMissed   MarkKind = "missed"   // a gate would have stopped it, had there been gates
)

// Text is what people read.
func (k MarkKind) Text() string {
	if k == MarkMissed {
		return "missed stop"
	}
	return string(k)
}

const (
	brokenAtLeast = 30.0 // minutes of broken builds that are worth a mark
	lateAtLeast   = 15.0 // minutes after which looking at the environment was late
)

// marks finds stops, overrides and mistakes.
func marks(s *journal.Session, t *Tale) []Mark {
	m := marking{session: s}
	for _, e := range s.Entries {
		m.entry(e)
	}
	m.mended(s.Last())
	m.missed()
	for _, try := range t.Tries {
		if len(try.Wrong) > 0 {
			m.add(try.Minute, MarkMistake, strings.Join(try.Wrong, ", "), changesText(try.Changes))
		}
	}
	slices.SortStableFunc(m.list, func(a, b Mark) int { return cmp.Compare(a.Minute, b.Minute) })
	return m.list
}

// marking is what was seen of a session so far.
type marking struct {
	session    *journal.Session
	list       []Mark
	broken     time.Time // of the first of builds that have failed since; zero for none
	brokenWhy  string
	host       string
	moved      bool // work went on on another host
	definition string
	failed     bool // wrong results were found, and nothing right since
	looked     bool // at the environment
	gated      bool // a gate spoke
}

func (m *marking) add(minute float64, kind MarkKind, word, text string) {
	m.list = append(m.list, Mark{minute, kind, word, text})
}

func (m *marking) entry(e journal.Entry) {
	at := since(m.session, e.Time)
	switch {
	case e.Refused != nil:
		m.gated = true
		m.add(at, MarkStop, e.Refused.Gate, e.Refused.Why)
	case e.Overrode != nil:
		m.gated = true
		m.add(at, MarkOverride, "past "+e.Overrode.Gate, e.Overrode.Reason)
	case e.Ended != nil && e.Ended.Outcome == journal.Lost && !m.moved:
		m.add(at, MarkLost, "host lost", e.Ended.Text)
	case e.Did != nil:
		m.did(e.Did, e.Time, at)
	}
}

func (m *marking) did(d *journal.Did, when time.Time, at float64) {
	if d.Host != "" {
		if m.host != "" && m.host != d.Host {
			m.add(at, MarkLost, "host lost", m.host+", then "+d.Host)
			m.moved = true
		}
		m.host = d.Host
	}
	if env := d.Environment; env != nil {
		if !env.OK && !m.looked && at >= lateAtLeast {
			m.add(at, MarkMistake, "environment looked at late", strings.Join(env.Problems, "; "))
		}
		m.looked = true
	}
	m.built(d.Built, when)
	if c := d.Checked; c != nil {
		if bad := c.Failed > 0 || c.NotFinite; bad && !m.failed {
			m.add(at, MarkMistake, wrongWord(c), c.FirstBad)
		}
		m.failed = c.Failed > 0 || c.NotFinite
	}
	if d.Measured != nil && d.Definition != "" {
		if m.definition != "" && m.definition != d.Definition {
			m.add(at, MarkMistake, "measured with something else", "")
		}
		m.definition = d.Definition
	}
}

// built follows builds that fail in a row.
func (m *marking) built(b *journal.Built, when time.Time) {
	switch {
	case b == nil:
	case b.OK:
		m.mended(when)
	case m.broken.IsZero():
		m.broken, m.brokenWhy = when, b.Class
	}
}

// mended ends a row of failing builds.
func (m *marking) mended(when time.Time) {
	if m.broken.IsZero() {
		return
	}
	if took := when.Sub(m.broken).Minutes(); took >= brokenAtLeast {
		m.add(since(m.session, m.broken), MarkMistake, fmt.Sprintf("build broken %.0f min", took), m.brokenWhy)
	}
	m.broken = time.Time{}
}

func wrongWord(c *journal.Checked) string {
	switch {
	case c.NotFinite:
		return "NaN"
	case c.Worst > 0:
		return fmt.Sprintf("wrong by %.3g", c.Worst)
	default:
		return "wrong result"
	}
}

// changesText names what was changed.
func changesText(list []journal.Change) string {
	var names []string
	for _, c := range list {
		text := c.Name
		if c.Before != "" && c.After != "" {
			text += " " + c.Before + " to " + c.After
		}
		names = append(names, text)
	}
	return strings.Join(names, ", ")
}
