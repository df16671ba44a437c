package doctor

import (
	"fmt"
	"strings"
	"unicode"
)

// State is the severity of a finding for pawl bench.
type State string

// States, from good to bad.
const (
	OK      State = "ok"
	Note    State = "note"    // good to know
	Warn    State = "warn"    // pawl bench runs, and its numbers suffer
	Missing State = "missing" // pawl bench cannot run until this is fixed
)

// Group is the topic of a finding.
type Group string

// Groups, in display order.
const (
	Machine   Group = "machine"
	Device    Group = "device"
	Toolchain Group = "toolchain"
	Suite     Group = "suite"
	Harness   Group = "harness"
	CI        Group = "github"
)

// Finding is the answer to one question.
type Finding struct {
	Group   Group  `json:"group"`
	Name    string `json:"name"`
	State   State  `json:"state"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"` // a command, or what to write in the suite
}

// Report holds all findings, group by group.
type Report struct {
	Findings []Finding
}

// Usable reports whether pawl bench could run now, or after its own build step.
func (r Report) Usable() bool { return r.First() == nil }

// First returns the first finding to fix before pawl bench can run; nil if there is none.
func (r Report) First() *Finding {
	for i := range r.Findings {
		if r.Findings[i].State == Missing {
			return &r.Findings[i]
		}
	}
	return nil
}

// Count returns the number of findings with a state.
func (r Report) Count(s State) int {
	n := 0
	for _, f := range r.Findings {
		if f.State == s {
			n++
		}
	}
	return n
}

func finding(s State, name, format string, args []any) Finding {
	return Finding{Name: name, State: s, Message: fmt.Sprintf(format, args...)}
}

func ok(name, format string, args ...any) Finding      { return finding(OK, name, format, args) }
func note(name, format string, args ...any) Finding    { return finding(Note, name, format, args) }
func warn(name, format string, args ...any) Finding    { return finding(Warn, name, format, args) }
func missing(name, format string, args ...any) Finding { return finding(Missing, name, format, args) }

// withFix adds a fix.
func (f Finding) withFix(format string, args ...any) Finding {
	f.Fix = fmt.Sprintf(format, args...)
	return f
}

// printable removes control characters from names reported by a harness, a driver or a process.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
}
