// Package account knows what runs cost and what they were good for: how long each part of
// a run took, at which price, and what it answered. It adds accounts up. It must not know
// how a run is made, nor where accounts are kept; those of other jobs are strangers' files.
package account

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

// Schema names the document.
const Schema = "pawl.account/v1"

// FileName is what pawl run calls it, beside the record.
const FileName = "account.json"

// ArtifactName is what a workflow uploads it as, by itself: adding up must not fetch records.
const ArtifactName = "pawl-account"

// Account is what one run took.
type Account struct {
	Schema  string             `json:"schema"`
	Run     string             `json:"run,omitempty"` // ID of the record; empty where nothing was measured
	Time    time.Time          `json:"time"`          // when it began
	Seconds float64            `json:"seconds"`       // from begin to end: so long the machine was held
	Stages  map[string]float64 `json:"stages,omitempty"`
	// PricePerHour is the suite's device.price_per_hour; 0 when it does not say.
	PricePerHour float64         `json:"price_per_hour,omitempty"`
	Dollars      float64         `json:"dollars,omitempty"`
	Verdict      ratchet.Verdict `json:"verdict,omitempty"` // empty where the run ended without one
	Suite        string          `json:"suite,omitempty"`
	Device       string          `json:"device,omitempty"`
	Commit       string          `json:"commit,omitempty"`
	Branch       string          `json:"branch,omitempty"` // of the change: what later runs of it are found by
}

// The stages of a run, in their order.
const (
	Build   = "build"
	Wait    = "wait" // for the device
	Check   = "check"
	Measure = "measure"
	Profile = "profile"
)

// Stages lists them.
func Stages() []string { return []string{Build, Wait, Check, Measure, Profile} }

// What a file of somebody else's may hold.
const (
	FileLimit  = 64 << 10
	mostText   = 300
	mostTime   = 1e7 // seconds: four months
	mostPrice  = 1e4 // dollars an hour
	mostStages = 20
)

// Read reads the account of a run that may be anybody's.
func Read(r io.Reader) (Account, error) {
	var a Account
	data, err := io.ReadAll(io.LimitReader(r, FileLimit+1))
	if err != nil {
		return a, fmt.Errorf("read an account: %w", err)
	}
	if len(data) > FileLimit {
		return a, fmt.Errorf("read an account: it has more than %d bytes", FileLimit)
	}
	if err := json.Unmarshal(data, &a); err != nil {
		return Account{}, fmt.Errorf("read an account: %w", err)
	}
	if err := a.check(); err != nil {
		return Account{}, fmt.Errorf("read an account: %w", err)
	}
	return a, nil
}

func (a Account) check() error {
	if a.Schema != Schema {
		return fmt.Errorf("its schema is %.40q, this pawl reads %s", a.Schema, Schema)
	}
	within := func(v, most float64) bool { return v >= 0 && v <= most && !math.IsNaN(v) }
	if !within(a.Seconds, mostTime) || !within(a.PricePerHour, mostPrice) || !within(a.Dollars, mostTime/3600*mostPrice) {
		return errors.New("its seconds or dollars cannot be")
	}
	if len(a.Stages) > mostStages {
		return fmt.Errorf("it has %d stages", len(a.Stages))
	}
	for name, s := range a.Stages {
		if !within(s, mostTime) || len(name) > mostText {
			return errors.New("the seconds of a stage cannot be")
		}
	}
	for _, text := range []string{a.Run, string(a.Verdict), a.Suite, a.Device, a.Commit, a.Branch} {
		if len(text) > mostText || !utf8.ValidString(text) {
			return fmt.Errorf("it has a text of %d bytes", len(text))
		}
	}
	return nil
}

// Priced gives the account its price.
func (a Account) Priced(perHour float64) Account {
	a.PricePerHour, a.Dollars = perHour, a.Seconds/time.Hour.Seconds()*perHour
	return a
}

// Clock adds up how long a run is in which stage. Who watches the run tells it when one
// begins.
type Clock struct {
	began, since time.Time
	stage        string
	spent        map[string]time.Duration
}

// Start begins with building.
func Start(now time.Time) *Clock {
	return &Clock{began: now, since: now, stage: Build, spent: map[string]time.Duration{}}
}

// Enter tells that a stage begins, or goes on.
func (c *Clock) Enter(stage string, now time.Time) {
	c.spent[c.stage] += now.Sub(c.since)
	c.stage, c.since = stage, now
}

// Account is what the clock shows.
func (c *Clock) Account(now time.Time) Account {
	a := Account{Schema: Schema, Time: c.began.UTC(), Seconds: seconds(now.Sub(c.began)), Stages: map[string]float64{}}
	c.Enter(c.stage, now)
	for _, stage := range Stages() {
		if d := c.spent[stage]; d > 0 {
			a.Stages[stage] = seconds(d)
		}
	}
	return a
}

// seconds to the millisecond: nobody bills finer.
func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1e3) / 1e3 }

// bad tells of a run that found something.
func (a Account) bad() bool {
	return slices.Contains([]ratchet.Verdict{ratchet.Regression, ratchet.Broken}, a.Verdict)
}

// fine tells of a run that let the change pass.
func (a Account) fine() bool { return a.Verdict != "" && a.Verdict.Severity() == ratchet.Yes }
