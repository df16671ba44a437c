// Package journal records what happened in a working session on a kernel: what ran, what had
// changed since the last measurement, the result, who ran it and what it cost. A journal is a
// file of lines that are only added. Each line has the digest of the line before, so that a
// line that was changed later is detected.
//
// The package knows entries and files. It must not know what is good practice (gates), what
// was learned (lesson) or how anything is shown.
package journal

import (
	"strconv"
	"time"
)

// Entry is one line of a journal. Exactly one of the pointers is set: the one that Kind names.
type Entry struct {
	Before string    `json:"before"` // digest of the line before; empty in the first
	Time   time.Time `json:"time"`
	Actor  Actor     `json:"actor"`
	Kind   Kind      `json:"kind"`

	Started  *Started  `json:"started,omitempty"`
	Did      *Did      `json:"did,omitempty"`
	Refused  *Refused  `json:"refused,omitempty"`
	Noted    *Noted    `json:"noted,omitempty"`
	Overrode *Overrode `json:"overrode,omitempty"`
	Ended    *Ended    `json:"ended,omitempty"`
}

// Kind is the kind of an entry.
type Kind string

// The kinds.
const (
	KindStarted  Kind = "started"
	KindDid      Kind = "did"      // a command of pawl ran
	KindRefused  Kind = "refused"  // a gate refused a command
	KindNoted    Kind = "noted"    // a note
	KindOverrode Kind = "overrode" // a person overrode a stop
	KindEnded    Kind = "ended"
)

// Actor is the person, agent or CI job that ran a command.
type Actor struct {
	Kind ActorKind `json:"kind"`
	Name string    `json:"name,omitempty"` // a person's as git has it, an agent's as its client says
}

// ActorKind separates people from programs.
type ActorKind string

// The kinds of actors.
const (
	Person ActorKind = "person"
	Agent  ActorKind = "agent"
	CI     ActorKind = "ci"
)

// Started opens a session.
type Started struct {
	ID        string    `json:"id"`             // sorts by time, unique without a server
	Goal      string    `json:"goal,omitempty"` // untrusted
	Benchmark string    `json:"benchmark"`      // of the suite; empty for all
	Suite     string    `json:"suite"`          // path from the top of the repository
	Reference string    `json:"reference,omitempty"`
	Target    float64   `json:"target,omitempty"`  // wanted speedup over the reference
	Planned   float64   `json:"planned,omitempty"` // minutes
	Commit    string    `json:"commit,omitempty"`
	Device    string    `json:"device,omitempty"`
	GPU       string    `json:"gpu,omitempty"`   // architecture: sm_89, or cpu
	Price     float64   `json:"price,omitempty"` // dollars per hour
	Budget    *Budget   `json:"budget,omitempty"`
	Forecast  *Forecast `json:"forecast,omitempty"` // made at the start; nil without earlier sessions
}

// Budget is what a session may spend; 0 is no limit.
type Budget struct {
	Seconds float64 `json:"seconds,omitempty"` // on the device
	Dollars float64 `json:"dollars,omitempty"`
}

// Forecast is what earlier sessions took and reached.
type Forecast struct {
	Minutes Range `json:"minutes"`
	Speedup Range `json:"speedup"`
	Basis   int   `json:"basis"` // sessions it is made from
}

// Range is the median of some values with the smallest and the largest.
type Range struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Did is a command of pawl that ran inside a session.
type Did struct {
	Command string   `json:"command"` // "bench", "device show", ...
	Args    []string `json:"args,omitempty"`
	Exit    int      `json:"exit"`
	Error   string   `json:"error,omitempty"` // first lines; untrusted
	Seconds float64  `json:"seconds"`
	Device  float64  `json:"device_seconds,omitempty"` // of them, with the device held
	Dollars float64  `json:"dollars,omitempty"`
	Host    string   `json:"host,omitempty"` // a session may continue on another machine

	// Source is the digest of what the kernel is built from, Definition that of what it is
	// measured with: suite, harness, oracle, tolerances.
	Source     string   `json:"source,omitempty"`
	Definition string   `json:"definition,omitempty"`
	Changes    []Change `json:"changes,omitempty"` // since the last measurement
	Diff       string   `json:"diff,omitempty"`    // the same as a patch, in a measurement; untrusted

	Environment *Environment `json:"environment,omitempty"`
	Built       *Built       `json:"built,omitempty"`
	Limits      *Limits      `json:"limits,omitempty"`
	Checked     *Checked     `json:"checked,omitempty"`
	Measured    *Measured    `json:"measured,omitempty"`
	Profiled    *Profiled    `json:"profiled,omitempty"`
	Tuned       *Tuned       `json:"tuned,omitempty"`
}

// Refused is a command that a gate refused.
type Refused struct {
	Command string   `json:"command"`
	Args    []string `json:"args,omitempty"`
	Gate    string   `json:"gate"`
	Why     string   `json:"why"`
	Instead string   `json:"instead,omitempty"` // command to run first
}

// Noted is a note. Fix and Lesson name what is tried next: the next measured change is its
// outcome.
type Noted struct {
	Text   string `json:"text,omitempty"`
	Fix    string `json:"fix,omitempty"` // see FixID
	Lesson string `json:"lesson,omitempty"`
}

// Overrode is a stop that a person overrode.
type Overrode struct {
	Gate   string `json:"gate"`
	Reason string `json:"reason"`
}

// Ended closes a session.
type Ended struct {
	Outcome Result  `json:"outcome"`
	Text    string  `json:"text,omitempty"`
	Speedup float64 `json:"speedup,omitempty"` // see Session.Speedup
	Lesson  string  `json:"lesson,omitempty"`  // drafted from it
	Commit  string  `json:"commit,omitempty"`
}

// Result is how a session ended.
type Result string

// The results.
const (
	Reached Result = "reached" // the target
	Better  Result = "better"  // faster, but not the target
	Stopped Result = "stopped" // at a gate
	Lost    Result = "lost"    // the host died, or the work was abandoned
	Nothing Result = "nothing" // nothing is faster
)

// FixID names the nth fix of a rule: "bank-conflicts/1". A fix that only a lesson has is
// "lesson/NAME".
func FixID(rule string, n int) string { return rule + "/" + strconv.Itoa(n) }
