// Package gate contains the workflows of a gate: asking for a device, measuring on it, starting anew when it is lost,
// and publishing once. It must not know where anything is kept.
package gate

import (
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
)

// Names of workflows.
const (
	Name       = "gate"   // one device model, of an earlier version
	Several    = "fanout" // one or more models
	ChangeName = "change" // what a forge says of one change
)

// Happened is the signal to the workflow of a change, with an [Event].
const Happened = "event"

// ID returns the workflow ID of a gate.
func ID(project, gate string) string { return "gate/" + project + "/" + gate }

// ChangeID returns the workflow ID of a change.
func ChangeID(project, change string) string { return "change/" + project + "/" + change }

// Names of the activities of pawld that a gate uses.
const (
	Tell    = "tell"    // sends a message to a placer and starts it if it does not run: (ToPlacer)
	Note    = "note"    // records the progress of a gate, and its attempt as the lowest that may publish: (Progress) job.Host
	Publish = "publish" // records the result of a gate: (Publication)

	Prepare  = "prepare"  // fetches a change, records its gate and marks it as started at the forge: (Event) Prepared
	Announce = "announce" // tells the forge how the gate of a change ended: (Announcement)
)

// Fenced is the type of Publish's error for an attempt that may not publish, because a later one exists.
const Fenced = "fenced"

// A State is how far a gate is.
type State string

// A gate ends as Done, Failed or Canceled.
const (
	Waiting   State = "waiting"
	Measuring State = "measuring"
	Done      State = "done"
	Failed    State = "failed"
	Canceled  State = "canceled"
)

// Work is what a gate measures.
type Work struct {
	Gate     string    `json:"gate"`
	Project  string    `json:"project"`
	Bundle   string    `json:"bundle"` // SHA-256 of a git bundle with both commits
	Base     string    `json:"base"`
	Head     string    `json:"head"`
	Suite    string    `json:"suite"`
	Tier     tier.Tier `json:"tier,omitzero"`
	Trust    string    `json:"trust,omitzero"` // level that pawl runs at; empty for the suite's
	Seconds  int       `json:"seconds"`        // longest time of the measurement
	Priority int       `json:"priority"`       // see placement.Request
}

// Progress is how far the gate is on one model.
type Progress struct {
	Project string `json:"project"`
	Gate    string `json:"gate"`
	Model   string `json:"model"`
	State   State  `json:"state"`
	Device  string `json:"device,omitzero"`
	Attempt int    `json:"attempt"` // lowest that may publish
	Reason  string `json:"reason,omitzero"`

	Ask  bool      `json:"ask,omitzero"` // for which host it can be built elsewhere
	Tier tier.Tier `json:"tier,omitzero"`
}

// A Publication is a result and the key under which it may exist once.
type Publication struct {
	Project string     `json:"project"`
	Gate    string     `json:"gate"`
	Commit  string     `json:"commit"`
	Suite   string     `json:"suite"`
	Model   string     `json:"model"`
	Device  string     `json:"device"`
	Result  job.Result `json:"result"` // its attempt is the fencing number
}

// An Outcome is how the gate ended on one model.
type Outcome struct {
	Model  string     `json:"model"`
	Device string     `json:"device,omitzero"`
	State  State      `json:"state"`
	Result job.Result `json:"result,omitzero"`
	Reason string     `json:"reason,omitzero"`
}

// An Event is what a forge says of a change: a pull request has a new head or was closed, or a branch was pushed.
type Event struct {
	Project string `json:"project"`
	Gate    string `json:"gate"`            // ID of the gate that it starts
	Pull    int    `json:"pull,omitzero"`   // number of the pull request; 0 for a push
	Closed  bool   `json:"closed,omitzero"` // the pull request was
	Branch  string `json:"branch,omitzero"` // of a push
	Before  string `json:"before,omitzero"` // commit of the branch before a push
	Head    string `json:"head"`
}

// Prepared is a change that can be gated.
type Prepared struct {
	Work   Work     `json:"work,omitzero"`
	Models []string `json:"models,omitzero"`
	Skip   string   `json:"skip,omitzero"` // why it is not gated
}

// An Announcement is what a forge is told of a change; one of the last three fields is set.
type Announcement struct {
	Event      Event     `json:"event"`
	Work       Work      `json:"work,omitzero"`
	Outcomes   []Outcome `json:"outcomes,omitzero"`
	Superseded bool      `json:"superseded,omitzero"` // by a newer event
	Failed     string    `json:"failed,omitzero"`     // why there is no outcome
}
