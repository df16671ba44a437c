// Package cost records what runs cost and what they found: how long each part of a run took, at
// which price, and its verdict. It adds accounts up. It must not know how a run is made, nor where
// accounts are stored. Accounts of other jobs are untrusted files.
package cost

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/goatnote-inc/pawl/ratchet"
)

// Schema is the schema name of the document.
const Schema = "pawl.account/v1"

// FileName is the name of the file that pawl run writes beside the record.
const FileName = "account.json"

// ArtifactName is the name of the workflow artifact. It is separate from the record, so that adding up
// does not fetch records.
const ArtifactName = "pawl-account"

// RunCost holds the time and cost of one run.
type RunCost struct {
	Schema  string             `json:"schema"`
	Run     string             `json:"run,omitempty"` // ID of the record; empty if nothing was measured
	Time    time.Time          `json:"time"`          // start of the run
	Seconds float64            `json:"seconds"`       // from start to end, while the machine was in use
	Stages  map[string]float64 `json:"stages,omitempty"`
	// PricePerHour is the suite's device.price_per_hour; 0 if unset.
	PricePerHour float64         `json:"price_per_hour,omitempty"`
	Dollars      float64         `json:"dollars,omitempty"`
	Verdict      ratchet.Verdict `json:"verdict,omitempty"` // empty if the run ended without one
	Suite        string          `json:"suite,omitempty"`
	Device       string          `json:"device,omitempty"`
	Commit       string          `json:"commit,omitempty"`
	Branch       string          `json:"branch,omitempty"` // branch of the change, which identifies its later runs
}

// The stages of a run, in order.
const (
	Build   = "build"
	Wait    = "wait" // for the device
	Check   = "check"
	Measure = "measure"
	Profile = "profile"
)

// Stages returns the stages of a run, in order.
func Stages() []string { return []string{Build, Wait, Check, Measure, Profile} }

// Limits on untrusted files.
const (
	FileLimit  = 64 << 10
	maxText    = 300
	maxSeconds = 1e7 // seconds: four months
	maxPrice   = 1e4 // dollars an hour
	maxStages  = 20
)

// Read reads the account of a run. The input is untrusted.
func Read(r io.Reader) (RunCost, error) {
	return read(r, "run cost", RunCost.check)
}

// read reads an untrusted JSON document of limited size.
func read[T any](r io.Reader, what string, check func(T) error) (T, error) {
	var document, none T
	data, err := io.ReadAll(io.LimitReader(r, FileLimit+1))
	if err == nil && len(data) > FileLimit {
		err = fmt.Errorf("it is larger than %d bytes", FileLimit)
	}
	if err == nil {
		err = json.Unmarshal(data, &document)
	}
	if err == nil {
		err = check(document)
	}
	if err != nil {
		return none, fmt.Errorf("cannot read the %s: %w", what, err)
	}
	return document, nil
}

func (a RunCost) check() error {
	if a.Schema != Schema {
		return fmt.Errorf("its schema is %.40q, but this version reads %s", a.Schema, Schema)
	}
	within := func(v, most float64) bool { return v >= 0 && v <= most && !math.IsNaN(v) }
	if !within(a.Seconds, maxSeconds) || !within(a.PricePerHour, maxPrice) || !within(a.Dollars, maxSeconds/3600*maxPrice) {
		return errors.New("its seconds or dollars are out of range")
	}
	if len(a.Stages) > maxStages {
		return fmt.Errorf("it has too many stages (%d)", len(a.Stages))
	}
	for name, s := range a.Stages {
		if !within(s, maxSeconds) || len(name) > maxText {
			return errors.New("a stage has an invalid name or its seconds are out of range")
		}
	}
	for _, text := range []string{a.Run, string(a.Verdict), a.Suite, a.Device, a.Commit, a.Branch} {
		if len(text) > maxText || !utf8.ValidString(text) {
			return fmt.Errorf("it has a text of %d bytes that is too long or not UTF-8", len(text))
		}
	}
	return nil
}

// Priced returns the account with a price and its cost, both in dollars.
func (a RunCost) Priced(perHour float64) RunCost {
	a.PricePerHour, a.Dollars = perHour, a.Seconds/time.Hour.Seconds()*perHour
	return a
}

// Clock adds up how long a run spends in each stage. The caller reports when a stage starts.
type Clock struct {
	startedAt, since time.Time
	stage            string
	spent            map[string]time.Duration
}

// Start returns a clock in stage Build.
func Start(now time.Time) *Clock {
	return &Clock{startedAt: now, since: now, stage: Build, spent: map[string]time.Duration{}}
}

// Enter records that a stage starts or continues.
func (c *Clock) Enter(stage string, now time.Time) {
	c.spent[c.stage] += now.Sub(c.since)
	c.stage, c.since = stage, now
}

// Account returns the time spent until now.
func (c *Clock) Account(now time.Time) RunCost {
	a := RunCost{Schema: Schema, Time: c.startedAt.UTC(), Seconds: seconds(now.Sub(c.startedAt)), Stages: map[string]float64{}}
	c.Enter(c.stage, now)
	for _, stage := range Stages() {
		if d := c.spent[stage]; d > 0 {
			a.Stages[stage] = seconds(d)
		}
	}
	return a
}

// seconds rounds to the millisecond, which is precise enough for billing.
func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1e3) / 1e3 }

// failed reports whether the verdict of the run is Regression or Broken.
func (a RunCost) failed() bool {
	return slices.Contains([]ratchet.Verdict{ratchet.Regression, ratchet.Broken}, a.Verdict)
}

// passed reports whether the run let the change pass.
func (a RunCost) passed() bool {
	return a.Verdict != "" && a.Verdict.Severity() == ratchet.SeverityPass
}
