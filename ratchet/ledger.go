package ratchet

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/goatnote-inc/pawl/measure"
)

// SchemaLedger names the format of a ledger's lines.
const SchemaLedger = "pawl.ledger/v1"

// Entry is one line of a ledger: something that happened to the baseline of one
// case on one testbed. It is written once and never changed.
type Entry struct {
	Schema string    `json:"schema"`
	Seq    int       `json:"seq"` // its line: 1, 2, 3, ...
	Kind   Kind      `json:"kind"`
	Time   time.Time `json:"time"`

	Case    string  `json:"case"` // without implementation: "matmul/N512@cold"
	Testbed Testbed `json:"testbed"`
	Commit  string  `json:"commit,omitempty"` // what the baseline is from now on; of a reset none

	// Session is the evidence: what was measured of the commit. Trigger is the run
	// that showed a gain first; its samples are not those of the session, because the
	// best of many noisy runs is the luckiest.
	Session *Session `json:"session,omitempty"`
	Trigger *RunRef  `json:"trigger,omitempty"`
	Gain    float64  `json:"gain,omitempty"` // as the session's own run shows it: 0.07 is 7 % faster

	Run    *RunRef `json:"run,omitempty"`  // whose session is set aside
	From   string  `json:"from,omitempty"` // key of the testbed a commit was carried over from
	Reason string  `json:"reason,omitempty"`
	Actor  string  `json:"actor,omitempty"` // who accepted, reset or set aside

	Prev string `json:"prev"`           // hash of the line before; of the first none
	Hash string `json:"hash,omitempty"` // SHA-256 over the line up to here; always the last member
}

// Kind tells what happened.
type Kind string

// The kinds of entries.
const (
	KindMeasured Kind = "measured"  // another session of the baseline; the first of a case makes it
	KindMoved    Kind = "moved"     // a confirmed gain: the baseline is another commit
	KindAccepted Kind = "accepted"  // someone took another commit, faster or not, and said why
	KindReset    Kind = "reset"     // someone let the baseline be forgotten, and said why
	KindCarried  Kind = "carried"   // on a new testbed, the commit that was best on another
	KindMigrated Kind = "migrated"  // from a baseline.json
	KindSetAside Kind = "set_aside" // a session no longer counts, for a reason; the commit stays
)

// Session is what one measuring session says of one side of a case: a number a
// round. Compared with a stored baseline, the session is the unit.
type Session struct {
	Run        RunRef         `json:"run"`
	Unit       string         `json:"unit"`
	Better     measure.Better `json:"better,omitempty"`  // empty means lower
	Quantum    float64        `json:"quantum,omitempty"` // the timer's step
	Rounds     []float64      `json:"rounds"`            // the median of each round that counts
	References []Reference    `json:"references,omitempty"`

	// Recipe, Definition and Method are those of the run's record: how the commit was built and
	// started, what was asked, and how it was timed. All three are empty in entries of an older pawl.
	Recipe     string `json:"recipe,omitempty"`
	Definition string `json:"definition,omitempty"`
	Method     string `json:"method,omitempty"`
}

// Reference is another implementation measured in the same session. Its code is
// the same in every session, so that a change in it is a change of the machine.
type Reference struct {
	Name   string    `json:"name"`
	Digest string    `json:"digest,omitempty"` // of what was built and run
	Rounds []float64 `json:"rounds"`
}

// RunRef names a run: by its ID, and by the digest of its record where there is one.
type RunRef struct {
	ID     string `json:"id,omitempty"`
	Digest string `json:"digest,omitempty"`
}

// Same tells whether two names mean one run.
func (r RunRef) Same(o RunRef) bool {
	return r.ID != "" && r.ID == o.ID || r.Digest != "" && r.Digest == o.Digest
}

func (r RunRef) String() string { return cmp.Or(r.ID, r.Digest, "a run without a name") }

// Testbed is what makes stored numbers comparable: that of a run, and the timer of
// the case. The key names both; it is stored, so that a reader who does not know a
// newer field does not take two testbeds for one.
type Testbed struct {
	Key string `json:"key"`
	measure.Testbed
	Timer measure.Timer `json:"timer,omitempty"`
}

// NewTestbed is the testbed of a case.
func NewTestbed(t measure.Testbed, timer measure.Timer) Testbed {
	bed := Testbed{Testbed: t, Timer: timer}
	text, err := json.Marshal(bed)
	if err != nil { // a power cap that is no number: spell it all the same
		text = fmt.Appendf(nil, "%+v", bed)
	}
	sum := sha256.Sum256(text)
	bed.Key = hex.EncodeToString(sum[:8])
	return bed
}

// SessionOf is what a run says of one side of a case, with the references that
// were measured beside it, and the testbed it is to be compared on.
func SessionOf(run *measure.Run, name, implementation string) (Session, Testbed, error) {
	runs := []*measure.Run{run}
	own := collect(runs, implementation).cases[name]
	if own == nil || len(own.rounds) == 0 {
		return Session{}, Testbed{}, fmt.Errorf("run %s has no round of %s (%s) that counts: measure it again", run.ID, name, implementation)
	}
	s := Session{
		Run: RunRef{run.ID, run.Digest}, Unit: own.Unit, Better: own.Better,
		Quantum: quantum(own.rounds), Rounds: medians(own.rounds), Definition: own.Definition, Method: own.Method,
	}
	for _, im := range run.Implementations {
		if im.Name == implementation {
			s.Recipe = im.Recipe
			continue
		}
		if im.Name == measure.Candidate || im.Name == measure.Base {
			continue
		}
		if ref := collect(runs, im.Name).cases[name]; ref != nil && len(ref.rounds) > 0 && len(s.References) < maxReferences {
			s.References = append(s.References, Reference{Name: im.Name, Digest: im.Digest, Rounds: medians(ref.rounds)})
		}
	}
	return s, NewTestbed(run.Testbed, own.Timer), nil
}
