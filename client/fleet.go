package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/measure"
)

// Limits of a gate.
const (
	MaxGateModels  = 8
	MinGateSeconds = 60
	MaxGateSeconds = 4 * 3600
)

// GateSeconds is the longest time of the measurements that pawl run --on and webhooks ask for.
const GateSeconds = 3600

// GateRequest asks the fleet of a server to measure a change on one device of each model.
type GateRequest struct {
	Models   []string      `json:"models"`
	Bundle   string        `json:"bundle"` // SHA-256 of a git bundle with both commits, sent as a blob before
	Base     string        `json:"base"`
	Head     string        `json:"head"`
	Suite    string        `json:"suite"`              // path in the repository
	Change   string        `json:"change,omitempty"`   // such as a branch or pull request: a new gate of it cancels the older ones
	Trust    measure.Trust `json:"trust,omitempty"`    // can only make the gate stricter than its project
	Seconds  int           `json:"seconds"`            // longest time of the measurement
	Priority int           `json:"priority,omitempty"` // 3 is the most urgent that a client can ask for, 5 the least; 0 means 3
}

var model = lazyregexp.New(`^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$`)

// Check returns what is wrong with a request.
func (r *GateRequest) Check() error {
	switch {
	case len(r.Models) == 0 || len(r.Models) > MaxGateModels:
		return fmt.Errorf("models: must be 1 to %d device models", MaxGateModels)
	case !hexOf(r.Bundle, 64):
		return fmt.Errorf("bundle: must be the SHA-256 of a git bundle, in hex")
	case !commit(r.Base) || !commit(r.Head):
		return fmt.Errorf("base, head: must be full commit hashes")
	case r.Suite == "" || len(r.Suite) > 500 || !inside(r.Suite) || path.Base(r.Suite) == ".":
		return fmt.Errorf("suite: must be the path of a suite inside the repository")
	case len(r.Change) > 200:
		return fmt.Errorf("change: must have at most 200 bytes")
	case r.Trust != "" && r.Trust != measure.Checked && r.Trust != measure.Trusted && r.Trust != measure.SelfTimed:
		return fmt.Errorf("trust: must be checked, trusted or self-timed")
	case r.Seconds < MinGateSeconds || r.Seconds > MaxGateSeconds:
		return fmt.Errorf("seconds: must be %d to %d", MinGateSeconds, MaxGateSeconds)
	case r.Priority != 0 && (r.Priority < 3 || r.Priority > 5):
		return fmt.Errorf("priority: must be 3 (normal), 4 or 5 (least urgent)")
	}
	seen := map[string]bool{}
	for _, m := range r.Models {
		if !model.MatchString(m) || seen[m] {
			return fmt.Errorf("models: %.80q is not a device model such as l4, or is there twice", m)
		}
		seen[m] = true
	}
	return nil
}

func commit(s string) bool { return hexOf(s, 40) || hexOf(s, 64) }

// GateID reports whether a text can be the ID of a gate: a ULID.
func GateID(s string) bool { return ulid(s) }

// Gate is a gate in the fleet.
type Gate struct {
	Gate  string     `json:"gate"`
	Parts []GatePart `json:"parts"` // one for each device model
}

// GatePart is a gate on one device model.
type GatePart struct {
	Model    string     `json:"model"`
	State    string     `json:"state"` // waiting, measuring, done, failed or canceled
	Device   string     `json:"device,omitempty"`
	Reason   string     `json:"reason,omitempty"` // why it waits or failed
	Attempt  int        `json:"attempt"`
	Created  time.Time  `json:"created"`
	Changed  time.Time  `json:"changed"`
	Position int        `json:"position,omitempty"` // in the queue
	Start    *time.Time `json:"start,omitempty"`    // latest start, if every measurement before it takes its longest time
	Phase    string     `json:"phase,omitempty"`    // of a running measurement
	Rounds   int        `json:"rounds,omitempty"`
	Record   string     `json:"record,omitempty"` // blob with the documents of the run
	Exit     *int       `json:"exit,omitempty"`   // exit code of pawl run; set if the result was published
	Seconds  float64    `json:"seconds,omitempty"`
	Error    string     `json:"error,omitempty"`

	Calibration *Calibration `json:"calibration,omitempty"` // of the device, when the result was published
}

// Calibrated describes the calibration of the part's device in one line; empty if there is none.
func (p *GatePart) Calibrated() string {
	if p.Calibration == nil {
		return ""
	}
	return p.Device + " " + p.Calibration.String()
}

// Calibration is how a device measured the same code on both sides, and a planted slowdown. Shares: 0.01 is 1 %.
type Calibration struct {
	At         time.Time `json:"at"`
	Driver     string    `json:"driver,omitempty"`
	Rounds     int       `json:"rounds"`
	Noise      float64   `json:"noise"`       // spread of the difference of one round
	Smallest   float64   `json:"smallest"`    // smallest change that so many rounds find 19 times in 20
	Planted    float64   `json:"planted"`     // slowdown that was planted
	Found      bool      `json:"found"`       // it was called a regression
	FalseAlarm bool      `json:"false_alarm"` // the same code was called a change
}

// String describes the calibration in one line.
func (c *Calibration) String() string {
	text := fmt.Sprintf("calibrated %s: noise %.2g %%, finds changes of %.2g %%", c.At.UTC().Format("2006-01-02 15:04"), 100*c.Noise, 100*c.Smallest)
	if c.FalseAlarm {
		text += ", called the same code a change"
	}
	if !c.Found {
		text += fmt.Sprintf(", missed a slowdown of %.2g %%", 100*c.Planted)
	}
	return text
}

// Ended reports whether the gate has ended on all models.
func (g *Gate) Ended() bool {
	for _, p := range g.Parts {
		if p.State == "waiting" || p.State == "measuring" {
			return false
		}
	}
	return true
}

// Fleet is what a project may see of the fleet: all devices, and its own gates in the queues.
type Fleet struct {
	Devices []FleetDevice `json:"devices"`
	Queue   []FleetQueued `json:"queue"`
}

// FleetDevice is a device of the fleet.
type FleetDevice struct {
	ID     string     `json:"id"`
	Model  string     `json:"model"`
	Tier   string     `json:"tier,omitempty"` // of code that its host serves: own, checked or unknown
	Host   string     `json:"host,omitempty"`
	Power  string     `json:"power"` // ready, asleep or closed
	Reason string     `json:"reason,omitempty"`
	Busy   bool       `json:"busy,omitempty"`
	Price  float64    `json:"price,omitempty"` // money per hour
	Seen   *time.Time `json:"seen,omitempty"`

	Quarantine   string       `json:"quarantine,omitempty"`   // why only calibrations use it
	Calibration  *Calibration `json:"calibration,omitempty"`  // the latest one with a result
	Calibrations int          `json:"calibrations,omitempty"` // with a result
	FalseAlarms  int          `json:"false_alarms,omitempty"` // calibrations that called the same code a change
}

// FleetQueued is a gate that waits for a device.
type FleetQueued struct {
	Gate     string     `json:"gate"`
	Lease    string     `json:"lease"` // what pawl-agent once takes
	Model    string     `json:"model"`
	Tier     string     `json:"tier,omitempty"` // of its code
	Position int        `json:"position"`
	Start    *time.Time `json:"start,omitempty"`
	Reason   string     `json:"reason"`
}

// StartGate starts a gate. id is a new ULID: starting the same gate again changes nothing.
func (c *Client) StartGate(ctx context.Context, id string, r *GateRequest) (g Gate, err error) {
	body, err := json.Marshal(r)
	if err != nil {
		return g, err
	}
	err = c.send(ctx, request{
		method: http.MethodPut, path: "gates/" + id, digest: digestText(body), size: int64(len(body)), media: "application/json",
		body: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil },
	}, &g)
	if err != nil {
		return g, fmt.Errorf("cannot start a gate on %s: %w", strings.Join(r.Models, ", "), err)
	}
	return g, nil
}

// Gate returns how far a gate is.
func (c *Client) Gate(ctx context.Context, id string) (g Gate, err error) {
	if err = c.send(ctx, request{method: http.MethodGet, path: "gates/" + id}, &g); err != nil {
		return g, fmt.Errorf("cannot read gate %s: %w", id, err)
	}
	return g, nil
}

// CancelGate asks a gate to end. It ends when its devices are idle.
func (c *Client) CancelGate(ctx context.Context, id string) error {
	if err := c.send(ctx, request{method: http.MethodDelete, path: "gates/" + id}, nil); err != nil {
		return fmt.Errorf("cannot cancel gate %s: %w", id, err)
	}
	return nil
}

// Fleet returns the devices of the fleet, and the project's gates that wait for one.
func (c *Client) Fleet(ctx context.Context) (f Fleet, err error) {
	if err = c.send(ctx, request{method: http.MethodGet, path: "fleet"}, &f); err != nil {
		return f, fmt.Errorf("cannot read the fleet: %w", err)
	}
	return f, nil
}

// SendFile sends a file as a blob if the server does not have it.
func (c *Client) SendFile(ctx context.Context, f File) error {
	there, err := c.has(ctx, f.Blob)
	if err != nil || there {
		return err
	}
	err = c.send(ctx, request{
		method: http.MethodPost, path: "blobs/" + f.Digest, digest: f.Digest, size: f.Size, media: "application/octet-stream", body: f.Open,
	}, nil)
	if err != nil {
		return fmt.Errorf("cannot send %s: %w", f.Name, err)
	}
	return nil
}

// Blob returns the content of a small blob.
func (c *Client) Blob(ctx context.Context, digest string) (content []byte, err error) {
	if err = c.send(ctx, request{method: http.MethodGet, path: "blobs/" + digest}, &content); err != nil {
		return nil, fmt.Errorf("cannot fetch blob %.12s: %w", digest, err)
	}
	if digestText(content) != digest {
		return nil, fmt.Errorf("cannot fetch blob %.12s: it has more than %d bytes, or arrived incomplete", digest, maxAnswer)
	}
	return content, nil
}
