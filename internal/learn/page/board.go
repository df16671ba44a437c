package page

import (
	"fmt"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/learn/gates"
)

// board is the gates of a session as they stand, by phase: what the guide and the checklist
// have in common.
type board struct {
	Now    nowView
	Phases []phaseView
	Head   *headView // nil where no session goes on
}

// nowView is the one thing to do.
type nowView struct {
	Stop               bool
	Gate, Phase        string
	Do, Why, Run, Word string
}

type phaseView struct {
	ID, Title   string
	Passed, All int
	Here        bool // the next step is in it
	Gates       []gateView
}

type gateView struct {
	ID, Title, Why          string
	Answer                  gates.Answer // empty where no session goes on
	Word, Class             string
	Sentence, Reason, Run   string
	Do, Fails, FailRun      string
	Stops                   []string
	Failed, Overridden, Now bool
}

// answerWords are what an answer is called, and the class of its badge: never the colour alone.
var answerWords = map[gates.Answer]struct{ word, class string }{
	gates.Open:       {"open", "no-answer"},
	gates.Passed:     {"passed", "pass"},
	gates.Failed:     {"stop", "fail"},
	gates.Overridden: {"overridden", "over"},
	gates.Idle:       {"not asked now", "idle"},
	"":               {"", "idle"},
}

func newBoard(s State) board {
	b := board{Now: newNow(s.Next, s.Session != nil)}
	if s.Session != nil {
		head := newHead(s.Session, s.Chain, s.Now)
		b.Head = &head
	}
	answers := map[string]gates.Status{}
	for _, st := range s.Status {
		answers[st.Gate.ID] = st
	}
	if s.Set == nil {
		return b
	}
	for _, p := range s.Set.Phases {
		view := phaseView{ID: words.Sanitize(p.ID), Title: words.Sanitize(p.Title), Here: p.ID == s.Next.Phase}
		for _, g := range p.Gates {
			status, known := answers[g.ID]
			if !known {
				status = gates.Status{Gate: g}
			}
			gate := newGate(status)
			gate.Now = g.ID == s.Next.Gate && s.Session != nil
			switch status.Answer {
			case gates.Passed, gates.Overridden:
				view.Passed++
				view.All++
			case gates.Idle:
			default:
				view.All++
			}
			view.Gates = append(view.Gates, gate)
		}
		b.Phases = append(b.Phases, view)
	}
	return b
}

func newGate(s gates.Status) gateView {
	g, w := s.Gate, answerWords[s.Answer]
	v := gateView{
		ID: words.Sanitize(g.ID), Title: words.Sanitize(g.Title), Why: words.Sanitize(g.Why), Answer: s.Answer, Word: w.word, Class: w.class,
		Sentence: words.Sanitize(s.Sentence), Reason: overrideWords(s), Run: words.Sanitize(s.Command),
		Do: words.Sanitize(g.Do), Fails: words.Sanitize(g.Fails), FailRun: words.Sanitize(g.FailRun),
		Failed: s.Answer == gates.Failed, Overridden: s.Answer == gates.Overridden,
	}
	for _, c := range g.Stops {
		v.Stops = append(v.Stops, words.Sanitize(c))
	}
	return v
}

// overrideWords is why somebody went on, and who.
func overrideWords(s gates.Status) string {
	if s.By == "" {
		return words.Sanitize(s.Reason)
	}
	return words.Sanitize(s.By) + ": " + words.Sanitize(s.Reason)
}

func newNow(step gates.Step, open bool) nowView {
	v := nowView{
		Stop: step.Stop, Gate: words.Sanitize(step.Gate), Phase: words.Sanitize(step.Phase), Word: "now",
		Do: words.Sanitize(step.Do), Why: words.Sanitize(step.Why), Run: words.Sanitize(step.Command),
	}
	switch {
	case step.Stop:
		v.Word = "stop"
	case v.Do == "" && !open:
		v.Do, v.Run = "Begin a session: gates then have a state, and what you do is kept.", "pawl session start"
	case v.Do == "":
		v.Do, v.Run = "Every gate is passed: end the session.", "pawl session end"
	}
	return v
}

// minutes says how long something took, as people say it.
func minutes(m float64) string {
	switch {
	case !(m >= 0): // also of what is no number
		return "-"
	case m < 1:
		return fmt.Sprintf("%.0f s", m*60)
	case m < 120:
		return fmt.Sprintf("%.0f min", m)
	default:
		return fmt.Sprintf("%d h %02d min", int(m)/60, int(m)%60)
	}
}

// seconds is a time with the device taken.
func seconds(s float64) string {
	if s < 120 {
		return fmt.Sprintf("%.0f s", s)
	}
	return minutes(s / 60)
}

// clock is a moment of a session.
func clock(t time.Time) string { return t.UTC().Format("15:04:05") }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }
