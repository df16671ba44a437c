package client

import (
	"fmt"
	"math"
	"strconv"
	"time"

	strict "github.com/go-json-experiment/json"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// SchemaLive is the format of the events that a run sends while it is in progress.
const SchemaLive = "pawl.live/v1"

// Limits of one request about a live run.
const (
	MaxLiveEvents = 256
	MaxLiveBytes  = 256 << 10
	maxSides      = 8
	maxLooks      = 32
)

// LiveKind is the kind of a live event.
type LiveKind string

// Kinds of live events, in their usual order.
const (
	LiveStep    LiveKind = "step"    // a longer step starts; Text describes it
	LiveStarted LiveKind = "started" // measuring starts, with the suite, device and planned rounds
	LiveSide    LiveKind = "side"    // a side of a round starts, with the state of the device
	LiveCase    LiveKind = "case"    // a case of a side was measured
	LiveRound   LiveKind = "round"   // a round ended; Text says why it does not count, if so
	LiveLook    LiveKind = "looked"  // the judge made a look, and some cases are still undecided
	LiveVerdict LiveKind = "verdict" // the verdict; Text is its sentence
	LiveEnded   LiveKind = "ended"   // the run ended; Text says why, if it failed
)

// LiveEvent is an event of a run in progress. Fields that its kind does not use are empty.
type LiveEvent struct {
	N    int64     `json:"n"` // counts from 1; gaps mean dropped events
	At   time.Time `json:"at"`
	Kind LiveKind  `json:"kind"`
	Text string    `json:"text,omitempty"`

	Run     string   `json:"run,omitempty"` // ID of the run record, and of the report that may follow
	Suite   string   `json:"suite,omitempty"`
	Commit  string   `json:"commit,omitempty"`
	Branch  string   `json:"branch,omitempty"`
	Device  string   `json:"device,omitempty"`
	Pawl    string   `json:"pawl,omitempty"`
	Sides   []string `json:"sides,omitempty"`
	Cases   int      `json:"cases,omitempty"`
	Planned []int    `json:"planned,omitempty"` // rounds per side at each look

	Side   string         `json:"side,omitempty"`
	Round  int            `json:"round,omitempty"`
	Of     int            `json:"of,omitempty"`
	Case   string         `json:"case,omitempty"`
	Unit   string         `json:"unit,omitempty"`
	Better measure.Better `json:"better,omitempty"`
	Median float64        `json:"median,omitempty"` // of this round
	Value  float64        `json:"value,omitempty"`  // of all rounds so far that count

	Undecided int             `json:"undecided,omitempty"`
	Verdict   ratchet.Verdict `json:"verdict,omitempty"`
	State     string          `json:"state,omitempty"` // how it ended: complete, interrupted, failed, ...
	Now       LiveDevice      `json:"now,omitzero"`
}

// LiveDevice is the current state of a device.
type LiveDevice struct {
	TemperatureC float64  `json:"temperature_c,omitempty"`
	SMClockMHz   float64  `json:"sm_clock_mhz,omitempty"`
	PowerW       float64  `json:"power_w,omitempty"`
	Reasons      []string `json:"reasons,omitempty"` // why the clock is below its maximum
}

// liveBatch is the body of a request.
type liveBatch struct {
	Schema string      `json:"schema"`
	Events []LiveEvent `json:"events"`
}

// LiveAck is a server's response to live events.
type LiveAck struct {
	LastEvent int64  `json:"heard"` // number of the last event received
	URL       string `json:"url"`   // page of the run
}

// LiveRun is a run in progress, or one that just ended, as stored by a server.
type LiveRun struct {
	Live      string          `json:"live"`          // name of the live run
	Run       string          `json:"run,omitempty"` // ID of its record
	Fork      bool            `json:"fork,omitempty"`
	Suite     string          `json:"suite,omitempty"`
	Commit    string          `json:"commit,omitempty"`
	Branch    string          `json:"branch,omitempty"`
	Device    string          `json:"device,omitempty"`
	Pawl      string          `json:"pawl,omitempty"`
	Began     time.Time       `json:"began"`
	LastSeen  time.Time       `json:"heard"` // time of the last event, by the server's clock
	Step      string          `json:"step,omitempty"`
	Sides     []string        `json:"sides,omitempty"`
	Cases     int             `json:"cases,omitempty"`
	Round     int             `json:"round,omitempty"` // rounds done, of those planned up to the next look
	Of        int             `json:"of,omitempty"`
	Planned   []int           `json:"planned,omitempty"`
	Undecided int             `json:"undecided,omitempty"`
	Now       LiveDevice      `json:"now,omitzero"`
	Verdict   ratchet.Verdict `json:"verdict,omitempty"`
	Sentence  string          `json:"sentence,omitempty"`
	State     string          `json:"state,omitempty"` // how it ended; empty while it is running
	Reason    string          `json:"reason,omitempty"`
	Last      int64           `json:"last"`             // number of its last event
	Missed    int64           `json:"missed,omitempty"` // number of events that never arrived
	Rows      []LiveRow       `json:"rows,omitempty"`   // omitted in lists
	More      bool            `json:"more,omitempty"`   // there are more cases than rows
}

// LiveRow is one case of a live run.
type LiveRow struct {
	Case   string               `json:"case"`
	Unit   string               `json:"unit,omitempty"`
	Better measure.Better       `json:"better,omitempty"`
	Sides  map[string]LiveValue `json:"sides"`
}

// LiveValue is the current result of one side of a case.
type LiveValue struct {
	Value  float64 `json:"value,omitempty"`
	Round  int     `json:"round,omitempty"`
	Failed string  `json:"failed,omitempty"`
}

// DecodeLive decodes events from an untrusted client, received at the time now. The result is bounded and
// can be shown as text.
func DecodeLive(body []byte, now time.Time) ([]LiveEvent, error) {
	if len(body) > MaxLiveBytes {
		return nil, fmt.Errorf("%w: the max for events is %d KB", ErrTooLarge, MaxLiveBytes>>10)
	}
	if _, err := scan(body); err != nil {
		return nil, err
	}
	var b liveBatch
	if err := strict.Unmarshal(body, &b, strict.RejectUnknownMembers(true)); err != nil {
		return nil, invalid(err)
	}
	c := &checker{latest: now.Add(24 * time.Hour)}
	c.must(b.Schema == SchemaLive, "/schema", "must be %q", SchemaLive)
	c.must(len(b.Events) > 0 && len(b.Events) <= MaxLiveEvents, "/events", "must have 1 to %d entries", MaxLiveEvents)
	for i := range b.Events {
		if c.err != nil {
			break
		}
		c.live(&b.Events[i], "/events/"+strconv.Itoa(i))
		c.must(i == 0 || b.Events[i].N > b.Events[i-1].N, "/events/"+strconv.Itoa(i)+"/n", "must be greater than the one before")
	}
	if c.err != nil {
		return nil, c.err
	}
	return b.Events, nil
}

var liveKinds = map[LiveKind]bool{
	LiveStep: true, LiveStarted: true, LiveSide: true, LiveCase: true, LiveRound: true, LiveLook: true, LiveVerdict: true, LiveEnded: true,
}

func (c *checker) live(e *LiveEvent, pointer string) {
	defer c.under(pointer)()
	c.must(e.N > 0 && e.N < math.MaxInt32, "/n", "must be 1 or more")
	c.moment(e.At, "/at")
	c.must(liveKinds[e.Kind], "/kind", "unknown kind")
	c.must(e.Kind != LiveCase || e.Case != "" && e.Side != "", "/case", "a measured case must have a name and a side")
	c.must(e.Run == "" || ulid(e.Run), "/run", "must be a ULID: 26 letters and digits")
	for _, t := range e.texts() {
		c.text(*t.text, t.at, t.most)
	}
	c.must(e.Better == "" || e.Better == measure.Lower || e.Better == measure.Higher, "/better", "must be lower or higher")
	c.verdict(e.Verdict, "/verdict")
	c.must(len(e.Sides) <= maxSides, "/sides", "more than %d entries", maxSides)
	for _, s := range e.Sides {
		c.name(s, "/sides", maxLabel)
	}
	c.must(len(e.Planned) <= maxLooks, "/planned", "more than %d looks", maxLooks)
	for _, n := range append([]int{e.Round, e.Of, e.Cases, e.Undecided}, e.Planned...) {
		c.must(n >= 0 && n <= math.MaxInt32, "", "a count is negative or too large")
	}
	c.number(e.Median, "/median")
	c.number(e.Value, "/value")
	c.number(e.Now.TemperatureC, "/now/temperature_c")
	c.number(e.Now.SMClockMHz, "/now/sm_clock_mhz")
	c.number(e.Now.PowerW, "/now/power_w")
	c.must(len(e.Now.Reasons) <= maxSides, "/now/reasons", "more than %d entries", maxSides)
	for _, r := range e.Now.Reasons {
		c.name(r, "/now/reasons", maxLabel)
	}
}

// liveText is a text of an event, and its maximum length.
type liveText struct {
	text *string
	at   string
	most int
}

func (e *LiveEvent) texts() []liveText {
	return []liveText{
		{&e.Text, "/text", 300},
		{&e.Suite, "/suite", maxName},
		{&e.Commit, "/commit", maxLabel},
		{&e.Branch, "/branch", 255},
		{&e.Device, "/device", maxName},
		{&e.Pawl, "/pawl", maxLabel},
		{&e.Side, "/side", maxLabel},
		{&e.Case, "/case", maxName},
		{&e.Unit, "/unit", maxLabel},
		{&e.State, "/state", maxLabel},
	}
}
