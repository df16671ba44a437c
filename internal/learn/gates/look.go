package gates

import (
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// Look says where each gate stands, in the order of the phases. The entries tell what was
// overridden, and by whom.
func (s *Set) Look(f Facts, entries []journal.Entry) []Status {
	values := s.values(f)
	look := words(values, f.Texts)
	var all []Status
	for _, p := range s.Phases {
		for _, g := range p.Gates {
			st := Status{Gate: g, Phase: p.ID, Answer: s.answer(g, values)}
			if st.Answer == Failed || st.Answer == Open {
				if o, who := override(g, entries); o != nil {
					st.Reason, st.By = o.Reason, who
				}
			}
			st.say(look)
			if st.By != "" {
				st.Answer, st.Command = Overridden, ""
			}
			all = append(all, st)
		}
	}
	return all
}

func (s *Set) answer(g Gate, values map[string]any) Answer {
	c := s.conditions[g.ID]
	switch {
	case !holds(c.when, values):
		return Idle
	case !holds(c.known, values):
		return Open
	case holds(c.pass, values):
		return Passed
	}
	return Failed
}

// say fills in the sentence and the command.
func (st *Status) say(look func(string) (string, bool)) {
	sentence, command := st.Gate.Says, ""
	switch st.Answer {
	case Passed, Overridden:
	case Open:
		sentence, command = st.Gate.Do, st.Gate.Run
	case Failed:
		sentence, command = st.Gate.Fails, st.Gate.FailRun
	case Idle:
		sentence = ""
	}
	st.Sentence, _ = fill(sentence, look)
	if st.Answer != Open && st.Answer != Failed {
		return
	}
	for _, c := range []string{command, st.Gate.Run} {
		if line, ok := fill(c, arguments(look)); ok && strings.TrimSpace(line) != "" {
			st.Command = line
			return
		}
	}
}

// override is the last one of a gate that still holds, and whose it is. Only people's count:
// a journal may hold others, which somebody has written by hand.
func override(g Gate, entries []journal.Entry) (*journal.Overrode, string) {
	if g.Lasts == "" {
		return nil, ""
	}
	for _, e := range slices.Backward(entries) {
		if g.Lasts == ForMeasurement && e.Did.Measures() {
			return nil, ""
		}
		if e.Overrode != nil && e.Overrode.Gate == g.ID && e.Actor.Kind == journal.Person {
			who := e.Actor.Name
			if who == "" {
				who = "somebody"
			}
			return e.Overrode, who
		}
	}
	return nil, ""
}
