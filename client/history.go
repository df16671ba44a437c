package client

import (
	"time"

	"github.com/goatnote-inc/pawl/measure"
)

// Lane keeps apart what must not be mixed: each lane of a case is a series of its own,
// so that nothing a stranger sends can touch the history of the default branch.
type Lane string

// The lanes.
const (
	Main   Lane = "main"   // the default branch, by the server's own judgement of the sender
	Branch Lane = "branch" // pull requests and branches of the repository
	Fork   Lane = "fork"   // what a stranger's job sent
)

// Project is what a history belongs to; nothing crosses from one to another.
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

	// What is known of its history; zero before the first look at it.
	Points    int       `json:"points"`
	Last      float64   `json:"last,omitempty"`
	LastAt    time.Time `json:"last_at,omitzero"`
	Noise     float64   `json:"noise,omitempty"`
	TwoSpeeds bool      `json:"two_speeds,omitempty"`
}

// Kept is one point of a series as it is stored. Numbers are kept with 24 bits, far
// below the noise of any device, and so are those of the report.
type Kept struct {
	At       time.Time     `json:"at"` // where its commit stands; when it was measured, while that is unknown
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

// Testbed is a kind of machine that a project measures on.
type Testbed struct {
	ID    int64           `json:"id"`
	Key   string          `json:"key"` // as package ratchet makes it
	Facts measure.Testbed `json:"facts"`
	Timer measure.Timer   `json:"timer,omitempty"`
	First time.Time       `json:"first"`
}

// Run is a report as it is kept.
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
	Sender   map[string]string `json:"sender,omitempty"` // who sent it, as far as that was proved
}

// EventState is what people made of an event.
type EventState string

// The states of an event.
const (
	New          EventState = "new"
	Acknowledged EventState = "acknowledged"
	Fixed        EventState = "fixed"
	FalseAlarm   EventState = "false-alarm"
)

// Event is a change that lasts, in one series.
type Event struct {
	ID     int64  `json:"id"`
	Series int64  `json:"series"`
	Name   string `json:"name"` // of the case
	Kind   string `json:"kind"` // step or drift
	Worse  bool   `json:"worse"`
	// From is the last commit known to be as before, To the first known to be as after. A
	// drift lies between them: no single commit is its cause, and least of all To.
	From    string    `json:"from"`
	To      string    `json:"to"`
	Commits int       `json:"commits,omitempty"` // measured after From and not after To; 0 if nobody counted
	At      time.Time `json:"at"`                // of To
	Since   time.Time `json:"since"`             // of From
	Before  float64   `json:"before"`
	After   float64   `json:"after"`
	Change  float64   `json:"change"` // a share of Before
	P       float64   `json:"p"`

	Testbed  int64      `json:"testbed"`
	Owners   []string   `json:"owners,omitempty"`
	State    EventState `json:"state"`
	Note     string     `json:"note,omitempty"`
	Group    int64      `json:"group,omitempty"`   // of events that happened at one place
	Machine  bool       `json:"machine,omitempty"` // nearly all of the testbed moved: it was the machine
	Detected time.Time  `json:"detected"`
}

// Group is what happened at one place of the default branch, in however many series.
type Group struct {
	ID      int64     `json:"id"`
	From    string    `json:"from"`
	To      string    `json:"to"`
	At      time.Time `json:"at"`
	Worst   float64   `json:"worst"` // the largest change, signed so that above zero is worse
	Series  int       `json:"series"`
	Worse   int       `json:"worse"`
	Machine bool      `json:"machine,omitempty"`
	Testbed int64     `json:"testbed,omitempty"` // of the machine
	Events  []Event   `json:"events,omitempty"`  // the largest change first
}
