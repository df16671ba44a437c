// Package gates knows how kernel work goes well: four phases, their gates in order, and
// what to do next. The gates are data (gates.yaml): what each asks, the condition over facts
// under which it is passed, the commands it stops while it is not, and the command that is
// right then. Everything that shows gates, as a list, a picture or a page, shows that file.
//
// The package is pure: it reads a journal's entries and says what they come to. It must not
// know how facts are gathered, nor run anything. Its sentences hold numbers and names, never
// text that a compiler or a stranger wrote.
package gates

// Phase is a part of the way.
type Phase struct {
	ID    string `json:"id" yaml:"id"` // assess, build, baseline, optimise
	Title string `json:"title" yaml:"title"`
	Gates []Gate `json:"gates" yaml:"gates"`
}

// Gate is a question that must be answered with yes before the work goes on.
type Gate struct {
	ID    string `json:"id" yaml:"id"` // "one-variable"
	Title string `json:"title" yaml:"title"`
	// When is the condition under which the gate is asked at all, Known that under which
	// its answer is known, Pass what the answer has to be: expressions over facts. An empty
	// When or Known is always; a fact that is missing makes When and Known false. A fact
	// alone asks whether it is there.
	When  string `json:"when,omitempty" yaml:"when"`
	Known string `json:"known,omitempty" yaml:"known"`
	Pass  string `json:"pass" yaml:"pass"`
	// Stops are the commands that do not run inside a session while the gate's answer is
	// no, Before those that do not while it is not known either. "session end --outcome
	// reached" is a command with that option only.
	Stops  []string `json:"stops,omitempty" yaml:"stops"`
	Before []string `json:"before,omitempty" yaml:"before"`
	// Lasts is how long an override of it holds: for the session, or up to the next
	// measurement. Empty where there is nothing to override.
	Lasts   Lasts  `json:"lasts,omitempty" yaml:"lasts"`
	Why     string `json:"why" yaml:"why"`                     // one sentence: what it cost whoever did without
	Do      string `json:"do" yaml:"do"`                       // what to do while it is open, a sentence with {facts}
	Run     string `json:"run" yaml:"run"`                     // the command for it, with {case}, {smallest}, ...
	Fails   string `json:"fails" yaml:"fails"`                 // what to do when the answer is no
	FailRun string `json:"fail_run,omitempty" yaml:"fail_run"` // the command for that; Run where it is empty
	Says    string `json:"says" yaml:"says"`                   // the answer yes in words
}

// Lasts is how long an override holds.
type Lasts string

// How long overrides hold.
const (
	ForSession     Lasts = "session"
	ForMeasurement Lasts = "measurement"
)

// Facts is what is known of a session, in numbers; what is not known is not there. Texts
// are the words that sentences need: the smallest case, what changed.
type Facts struct {
	Numbers map[string]float64
	Texts   map[string]string
}

// Answer is where a gate stands.
type Answer string

// The answers.
const (
	Open       Answer = "open"       // not known yet
	Passed     Answer = "passed"     //
	Failed     Answer = "failed"     // a stop
	Overridden Answer = "overridden" // not passed, and a person went on
	Idle       Answer = "idle"       // not asked now
)

// Status is a gate with its answer.
type Status struct {
	Gate     Gate   `json:"gate"`
	Phase    string `json:"phase"`
	Answer   Answer `json:"answer"`
	Sentence string `json:"sentence"`          // why the answer is that, or what to do, with the numbers
	Command  string `json:"command,omitempty"` // what to run for it now
	Reason   string `json:"reason,omitempty"`  // of the override, not to be trusted
	By       string `json:"by,omitempty"`      // who overrode it, not to be trusted
}

// Step is the one thing to do now.
type Step struct {
	Phase   string `json:"phase"`
	Gate    string `json:"gate,omitempty"` // empty where all are passed
	Stop    bool   `json:"stop"`           // the gate's answer is no
	Do      string `json:"do"`
	Why     string `json:"why"`
	Command string `json:"command,omitempty"`
}
