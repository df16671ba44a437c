package page

import (
	_ "embed" // the page's text
	"io"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

//go:embed html/session.html
var sessionText string

var sessionPage = parsed("session", sessionText)

// Session writes what was done in a session, what it cost, what was claimed and what the
// records say, as one file without script. chain is what is wrong with its journal, nil
// where nothing is; now counts while the session goes on.
func Session(w io.Writer, s *journal.Session, chain error, now time.Time) error {
	return write(w, sessionPage, "a session", newSessionView(s, chain, now))
}

// sessionView is the page of a session. All text in it is plain.
type sessionView struct {
	frame
	Head        headView
	Badge       string
	Counts      []countView
	Claims      []claimView
	Refusals    []refusalView
	Overrides   []overrideView
	Definitions []definitionView
	Records     []recordView
	Timeline    []event
	Left        int // entries that the timeline leaves out
	Facts       []factView
	Self        bool // a program measured by itself: nobody vouches for it
}

type (
	countView   struct{ Number, Words, Class, To string }
	factView    struct{ Label, Text string }
	refusalView struct {
		Clock, Stamp, Who, Run, Gate, Why, Instead string
		Program                                    bool
		Then                                       string // what was run next
	}
	overrideView struct{ Clock, Stamp, Who, Gate, Reason, Class string }
	recordView   struct {
		Clock, Stamp, Who, Run, Verdict, Class, Trust, Reference, Base, Changed string
	}
)

// shownEntries is how much of a journal a page tells: a program can write one without end.
const shownEntries = 2000

func newSessionView(s *journal.Session, chain error, now time.Time) sessionView {
	v := sessionView{frame: still(), Head: newHead(s, chain, now), Claims: claims(s), Definitions: definitionChanges(s), Timeline: timeline(s)}
	v.Badge = v.Head.Outcome
	if v.Badge == "" {
		v.Badge, v.Head.OutcomeClass = "goes on", "no-answer"
	}
	if n := len(v.Claims); s.Ended != nil && n > 0 && (v.Claims[n-1].Class == "fail" || v.Claims[n-1].Class == "no-answer") {
		v.Badge, v.Head.OutcomeClass = "claimed: "+v.Badge, v.Claims[n-1].Class // no more than that
	}
	for i, e := range s.Entries {
		switch {
		case e.Refused != nil:
			v.Refusals = append(v.Refusals, newRefusal(s, i))
		case e.Overrode != nil:
			o := overrideView{Clock: clock(e.Time), Stamp: stamp(e.Time), Who: actor(e.Actor), Gate: words.Sanitize(e.Overrode.Gate), Reason: words.Sanitize(e.Overrode.Reason), Class: "over"}
			if e.Actor.Kind != journal.Person { // pawl lets none through: somebody wrote it by hand
				o.Class = "fail"
			}
			v.Overrides = append(v.Overrides, o)
		}
	}
	v.records(s)
	if n := len(v.Timeline); n > shownEntries {
		v.Left, v.Timeline = n-shownEntries, v.Timeline[:shownEntries]
	}
	v.count()
	v.facts()
	return v
}

func newRefusal(s *journal.Session, at int) refusalView {
	e := s.Entries[at]
	r := *e.Refused
	v := refusalView{
		Clock: clock(e.Time), Stamp: stamp(e.Time), Who: actor(e.Actor), Program: e.Actor.Kind != journal.Person,
		Run: commandLine(r.Command, r.Args), Gate: words.Sanitize(r.Gate), Why: words.Sanitize(r.Why), Instead: words.Sanitize(r.Instead),
	}
	for _, next := range s.Entries[at+1:] {
		switch {
		case next.Did != nil:
			v.Then = commandLine(next.Did.Command, next.Did.Args)
		case next.Refused != nil:
			v.Then = commandLine(next.Refused.Command, next.Refused.Args) + ", refused as well"
		case next.Overrode != nil:
			v.Then = "an override by " + actor(next.Actor)
		case next.Ended != nil:
			v.Then = "the end of the session"
		default:
			continue
		}
		break
	}
	return v
}

func (v *sessionView) records(s *journal.Session) {
	for _, m := range measurements(s) {
		e := s.Entries[m.at]
		reference, base := speedups(m.value)
		r := recordView{
			Clock: clock(e.Time), Stamp: stamp(e.Time), Who: actor(m.by), Run: words.Sanitize(m.value.Run),
			Verdict: words.Sanitize(m.value.Verdict), Class: verdictClass(m.value.Verdict), Trust: words.Sanitize(m.value.Trust),
			Reference: times(reference), Base: times(base),
		}
		if list := changes(m.did.Changes); len(list) > 0 {
			r.Changed = list[0]
		}
		v.Self = v.Self || m.by.Kind == journal.Agent
		v.Records = append(v.Records, r)
	}
}

func verdictClass(verdict string) string {
	switch verdict {
	case "improvement":
		return "pass"
	case "regression", "broken", "missing":
		return "fail"
	case "inconclusive":
		return "no-answer"
	default:
		return "same"
	}
}

// times is a speed-up; what was not measured is not there.
func times(v float64) string {
	if v <= 0 {
		return ""
	}
	return words.Sanitize(formatTimes(v))
}

func (v *sessionView) count() {
	spent := v.Head.Spent
	class := func(n int, bad string) string {
		if n == 0 {
			return "same"
		}
		return bad
	}
	v.Counts = []countView{
		{number(spent.Commands), noun(spent.Commands, "command"), "same", "timeline"},
		{number(spent.Measured), noun(spent.Measured, "measurement"), "same", "records"},
		{number(spent.Refused), noun(spent.Refused, "refusal"), class(spent.Refused, "no-answer"), "refusals"},
		{number(spent.Overrode), noun(spent.Overrode, "override"), class(spent.Overrode, "over"), "overrides"},
		{number(len(v.Definitions)), noun(len(v.Definitions), "definition change"), class(len(v.Definitions), "fail"), "definitions"},
	}
	against := 0
	for _, c := range v.Claims {
		if c.Class == "fail" {
			against++
		}
	}
	v.Counts = append(v.Counts, countView{number(against), noun(against, "claim") + " without evidence", class(against, "fail"), "claims"})
}

func (v *sessionView) facts() {
	add := func(label, text string) {
		if text != "" {
			v.Facts = append(v.Facts, factView{label, text})
		}
	}
	add("began", v.Head.Began+" UTC")
	add("who", v.Head.Who)
	add("benchmark", v.Head.Benchmark)
	add("suite", v.Head.Suite)
	add("device", v.Head.Device)
	add("target", v.Head.Target)
	for _, m := range v.Head.Meters {
		add(m.Name, m.Text)
	}
	if v.Head.Chain == "" {
		add("journal", "chain intact, "+number(v.Head.Entries)+" entries")
	} else {
		add("journal", "BROKEN, "+v.Head.Chain)
	}
}
