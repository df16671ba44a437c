// Package journal keeps what happened in a working session on a kernel: what was run,
// what had changed since the last measurement, what came of it, who did it, and what it
// cost. A journal is a file of lines that are only ever added; each line names the digest
// of the one before, so that a line that was changed later is seen.
//
// The package knows entries and files. It must not know what is good practice (gates),
// what was learned (lesson) or how anything is shown.
package journal

import (
	"strconv"
	"time"
)

// Entry is one line of a journal. Exactly one of the pointers is set, the one its kind
// names.
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

// Kind says what an entry tells of.
type Kind string

// The kinds.
const (
	KindStarted  Kind = "started"
	KindDid      Kind = "did"      // a command of pawl ran
	KindRefused  Kind = "refused"  // a gate kept a command from running
	KindNoted    Kind = "noted"    // somebody wrote something down
	KindOverrode Kind = "overrode" // a person went on past a stop
	KindEnded    Kind = "ended"
)

// Actor is who did it, as far as pawl can tell.
type Actor struct {
	Kind ActorKind `json:"kind"`
	Name string    `json:"name,omitempty"` // of a person as git knows it, of an agent as its client says
}

// ActorKind tells people from programs.
type ActorKind string

// The kinds of actors. CI is a program too, but one that nobody can talk into something.
const (
	Person ActorKind = "person"
	Agent  ActorKind = "agent"
	CI     ActorKind = "ci"
)

// Started opens a session.
type Started struct {
	ID        string  `json:"id"`             // sorts by time, unique without a server
	Goal      string  `json:"goal,omitempty"` // in the words of whoever started it
	Benchmark string  `json:"benchmark"`      // of the suite, the one worked on; empty for all
	Suite     string  `json:"suite"`          // path from the top of the repository
	Reference string  `json:"reference,omitempty"`
	Target    float64 `json:"target,omitempty"`  // speed-up against the reference that is wanted
	Planned   float64 `json:"planned,omitempty"` // minutes
	Commit    string  `json:"commit,omitempty"`
	Device    string  `json:"device,omitempty"` // name of the device
	GPU       string  `json:"gpu,omitempty"`    // its architecture: sm_89, or cpu
	Price     float64 `json:"price,omitempty"`  // dollars an hour
	Budget    *Budget `json:"budget,omitempty"`
	// Forecast is what was expected of the session when it began.
	Forecast *Forecast `json:"forecast,omitempty"`
}

// Budget is what a session may spend; 0 is no limit.
type Budget struct {
	Seconds float64 `json:"seconds,omitempty"` // on the device
	Dollars float64 `json:"dollars,omitempty"`
}

// Forecast is what is expected of a session, each with the interval that should hold it in
// four of five cases.
type Forecast struct {
	Minutes Range `json:"minutes"`
	Speedup Range `json:"speedup"`
	Basis   int   `json:"basis"` // sessions it is made from
}

// Range is a number with the interval of 80 % around it.
type Range struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Did is a command of pawl that ran inside a session.
type Did struct {
	Command string   `json:"command"` // "bench", "session note", ...
	Args    []string `json:"args,omitempty"`
	Exit    int      `json:"exit"`
	Error   string   `json:"error,omitempty"` // its first lines, not to be trusted
	Seconds float64  `json:"seconds"`
	Device  float64  `json:"device_seconds,omitempty"` // of them, with the device taken
	Dollars float64  `json:"dollars,omitempty"`
	// Host is the name of the machine it ran on: a session may go on on another one.
	Host string `json:"host,omitempty"`

	// Source is the digest of everything the kernel is made from, Definition that of what
	// it is measured with: suite, harness, oracle, tolerances. What is compared must have
	// one definition.
	Source     string `json:"source,omitempty"`
	Definition string `json:"definition,omitempty"`
	// Changes is how the source differs from that of the last measurement.
	Changes []Change `json:"changes,omitempty"`

	Environment *Environment `json:"environment,omitempty"`
	Built       *Built       `json:"built,omitempty"`
	Limits      *Limits      `json:"limits,omitempty"`
	Checked     *Checked     `json:"checked,omitempty"`
	Measured    *Measured    `json:"measured,omitempty"`
	Profiled    *Profiled    `json:"profiled,omitempty"`
	Tuned       *Tuned       `json:"tuned,omitempty"`
}

// Refused is a command that a gate kept from running.
type Refused struct {
	Command string   `json:"command"`
	Args    []string `json:"args,omitempty"`
	Gate    string   `json:"gate"`
	Why     string   `json:"why"`
	Instead string   `json:"instead,omitempty"` // the command that is right now
	Changes []Change `json:"changes,omitempty"`
}

// Noted is something written down. Fix and Lesson say what is tried next, so that what is
// measured afterwards is its outcome.
type Noted struct {
	Text   string `json:"text,omitempty"`
	Fix    string `json:"fix,omitempty"`    // see FixID
	Lesson string `json:"lesson,omitempty"` // name of a lesson
}

// Overrode is a stop that a person went past.
type Overrode struct {
	Gate   string `json:"gate"`
	Reason string `json:"reason"`
}

// Ended closes a session.
type Ended struct {
	Outcome Result  `json:"outcome"`
	Text    string  `json:"text,omitempty"`
	Speedup float64 `json:"speedup,omitempty"` // against the reference at the end; 0 where it was not measured
	Lesson  string  `json:"lesson,omitempty"`  // that was drafted from it
	Commit  string  `json:"commit,omitempty"`
}

// Result is how a session ended.
type Result string

// The results.
const (
	Reached Result = "reached" // what was wanted
	Better  Result = "better"  // faster than before, not as wanted
	Stopped Result = "stopped" // at a gate
	Lost    Result = "lost"    // the host died, or nobody came back
	Nothing Result = "nothing" // nothing is faster
)

// FixID names a fix of a rule: "bank-conflicts/1" is its first. Fixes of lessons that no
// rule has are "lesson/NAME".
func FixID(rule string, n int) string { return rule + "/" + strconv.Itoa(n) }
