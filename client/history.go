package client

import (
	"time"

	"github.com/goatnote-inc/pawl/measure"
)

// Lane separates data that must not be mixed. Each lane of a case is its own series, so that nothing sent
// by untrusted jobs can affect the history of the default branch.
type Lane string

// The lanes.
const (
	Main   Lane = "main"   // the default branch, as the server determines from the sender
	Branch Lane = "branch" // pull requests and branches of the repository
	Fork   Lane = "fork"   // sent by untrusted jobs
)

// Project owns a history. Projects share no data.
type Project struct {
	Slug       string    `json:"slug"`
	Name       string    `json:"name"`
	Public     bool      `json:"public"`
	Repository string    `json:"repository,omitempty"` // https://HOST/OWNER/NAME, for links
	Branch     string    `json:"default_branch"`
	Created    time.Time `json:"created"`
}

// Series is the history of one case on one testbed in one lane.
type Series struct {
	ID int64 `json:"id"`
	measure.CaseKey
	Name    string         `json:"name"` // CaseKey.Name
	Suite   string         `json:"suite"`
	Testbed int64          `json:"testbed"`
	Lane    Lane           `json:"lane"`
	Unit    string         `json:"unit"`
	Better  measure.Better `json:"better,omitempty"`
	Path    string         `json:"path,omitempty"`
	Owners  []string       `json:"owners,omitempty"`
	Created time.Time      `json:"created"`

	// The fields below describe the history. They are zero before it is first analyzed.
	Points    int       `json:"points"`
	Last      float64   `json:"last,omitempty"`
	LastAt    time.Time `json:"last_at,omitzero"`
	Noise     float64   `json:"noise,omitempty"`
	TwoSpeeds bool      `json:"two_speeds,omitempty"`
}

// StoredPoint is one stored point of a series. Numbers have 24 bits of precision, which is far finer than the
// noise of any device. Those of the report are stored the same way.
type StoredPoint struct {
	At       time.Time     `json:"at"` // time of its commit; time of measurement while that is unknown
	Report   int64         `json:"report"`
	Commit   string        `json:"commit,omitempty"`
	Value    float32       `json:"value"`
	Low      float32       `json:"low"`
	High     float32       `json:"high"`
	Spread   float32       `json:"spread"`
	Rounds   int           `json:"rounds"`
	Baseline float32       `json:"baseline,omitempty"`
	Moved    bool          `json:"moved,omitempty"`
	Trust    measure.Trust `json:"trust"`
	Verdict  string        `json:"verdict,omitempty"`
}

// RunPoint is the point of one run in one series.
type RunPoint struct {
	Series Series      `json:"series"`
	Point  StoredPoint `json:"point"`
}

// Testbed is a kind of machine that a project measures on.
type Testbed struct {
	ID    int64           `json:"id"`
	Key   string          `json:"key"` // as computed by package ratchet
	Facts measure.Testbed `json:"facts"`
	Timer measure.Timer   `json:"timer,omitempty"`
	First time.Time       `json:"first"`
}

// HealthRecord is the health of a device during one run.
type HealthRecord struct {
	Run      int64     `json:"run"`
	Measured time.Time `json:"measured"`
	Commit   string    `json:"commit"`
	Suite    string    `json:"suite"`
	Lane     Lane      `json:"lane"`
	Health   `json:"health"`
}

// HeatColumn is one commit of a heat map.
type HeatColumn struct {
	Commit string    `json:"commit"`
	At     time.Time `json:"at"`
	Title  string    `json:"title,omitempty"`
	Run    int64     `json:"run"` // the last run of the commit
}

// Run is a stored report.
type Run struct {
	ID       int64             `json:"id"`
	Run      string            `json:"run"`
	Suite    string            `json:"suite"`
	Measured time.Time         `json:"measured"`
	Received time.Time         `json:"received"`
	At       time.Time         `json:"at"`
	Commit   string            `json:"commit"`
	Branch   string            `json:"branch,omitempty"`
	Pull     int               `json:"pull,omitempty"`
	Lane     Lane              `json:"lane"`
	Trust    measure.Trust     `json:"trust"`
	Pawl     string            `json:"pawl,omitempty"`
	Testbed  int64             `json:"testbed"`
	Health   Health            `json:"health"`
	Verdict  string            `json:"verdict,omitempty"`
	Sentence string            `json:"sentence,omitempty"`
	Points   int               `json:"points"`
	Blobs    []Blob            `json:"blobs,omitempty"`
	Sender   map[string]string `json:"sender,omitempty"` // verified identity of the sender
}

// EventState is the triage state of an event.
type EventState string

// The states of an event.
const (
	EventNew          EventState = "new"
	EventAcknowledged EventState = "acknowledged"
	EventFixed        EventState = "fixed"
	EventFalseAlarm   EventState = "false-alarm"
)

// Event is a lasting change in one series.
type Event struct {
	ID     int64  `json:"id"`
	Series int64  `json:"series"`
	Name   string `json:"name"` // name of the case
	Kind   string `json:"kind"` // "step" or "drift"
	Worse  bool   `json:"worse"`
	// From is the last commit known to have the old level, To the first known to have the new level. A drift
	// happens between them: no single commit is its cause, least of all To.
	From    string    `json:"from"`
	To      string    `json:"to"`
	Commits int       `json:"commits,omitempty"` // commits measured after From, up to and including To; 0 if not counted
	At      time.Time `json:"at"`                // time of To
	Since   time.Time `json:"since"`             // time of From
	Before  float64   `json:"before"`
	After   float64   `json:"after"`
	Change  float64   `json:"change"` // relative to Before

	Testbed  int64      `json:"testbed"`
	Owners   []string   `json:"owners,omitempty"`
	State    EventState `json:"state"`
	Note     string     `json:"note,omitempty"`
	Group    int64      `json:"group,omitempty"`   // group of events at one place in the history
	Machine  bool       `json:"machine,omitempty"` // nearly all series of the testbed moved, so the machine changed
	Detected time.Time  `json:"detected"`
}

// Group collects the events at one place in the history of the default branch, over all series.
type Group struct {
	ID      int64     `json:"id"`
	From    string    `json:"from"`
	To      string    `json:"to"`
	At      time.Time `json:"at"`
	Worst   float64   `json:"worst"` // largest change; positive is worse
	Series  int       `json:"series"`
	Worse   int       `json:"worse"`
	New     int       `json:"new,omitempty"` // events without an answer
	Machine bool      `json:"machine,omitempty"`
	Testbed int64     `json:"testbed,omitempty"` // testbed of the machine
	Events  []Event   `json:"events,omitempty"`  // largest change first
}
