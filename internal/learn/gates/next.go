package gates

import (
	"slices"
	"strings"
)

// Next is the first thing to do: a stop before an open gate, an earlier gate before a later
// one. Where the command for it is itself stopped by a gate, that gate comes first, so that
// no step names what would be refused.
func Next(all []Status) Step {
	for _, answer := range []Answer{Failed, Open} {
		for i := range all {
			if all[i].Answer == answer {
				return step(root(all, &all[i]))
			}
		}
	}
	return Step{
		Phase: "optimise", Do: "Everything is passed: end the session, and keep what was learned.",
		Why: "What is not written down is found out again.", Command: "pawl session end --outcome reached",
	}
}

// root follows a gate to the one that has to be passed before its command runs.
func root(all []Status, st *Status) *Status {
	seen := map[string]bool{}
	for !seen[st.Gate.ID] {
		seen[st.Gate.ID] = true
		command, args, ours := commandOf(st.Command)
		if !ours {
			return st
		}
		by := Stopped(all, command, args...)
		if by == nil {
			return st
		}
		st = by
	}
	return st
}

func step(st *Status) Step {
	return Step{Phase: st.Phase, Gate: st.Gate.ID, Stop: st.Answer == Failed, Do: st.Sentence, Why: st.Gate.Why, Command: st.Command}
}

// commandOf takes a command line of pawl apart: "pawl session end --x" is "session" with
// the rest as arguments.
func commandOf(line string) (command string, args []string, ours bool) {
	words := strings.Fields(line)
	if len(words) < 2 || words[0] != "pawl" {
		return "", nil, false
	}
	return words[1], words[2:], true
}

// Stopped says which gate keeps a command from running; nil for none. The command may be of
// several words: "session end".
func Stopped(all []Status, command string, args ...string) *Status {
	given := append(strings.Fields(command), args...)
	for _, answer := range []Answer{Failed, Open} {
		for i, st := range all {
			if st.Answer != answer {
				continue
			}
			names := st.Gate.Before
			if answer == Failed {
				names = slices.Concat(names, st.Gate.Stops)
			}
			if slices.ContainsFunc(names, func(name string) bool { return meant(name, given) }) {
				return &all[i]
			}
		}
	}
	return nil
}

// meant tells whether a command line is what a gate names: the same words at its beginning,
// and the option, if one is named, anywhere in it.
func meant(name string, given []string) bool {
	words := strings.Fields(name)
	option := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") })
	if option < 0 {
		option = len(words)
	}
	if len(given) < option || !slices.Equal(words[:option], given[:option]) {
		return false
	}
	if option == len(words) {
		return true
	}
	want := strings.Join(words[option:], " ")
	spread := strings.ReplaceAll(strings.Join(given[option:], " "), "=", " ")
	return strings.Contains(" "+spread+" ", " "+want+" ")
}
