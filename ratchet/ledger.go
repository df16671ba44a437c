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

// SchemaLedger is the format of a ledger's lines.
const SchemaLedger = "pawl.ledger/v1"

// Entry is one line of a ledger: an event for the baseline of one case on one testbed. It is written once and
// never changed.
type Entry struct {
	Schema string    `json:"schema"`
	Seq    int       `json:"seq"` // line number: 1, 2, 3, ...
	Kind   Kind      `json:"kind"`
	Time   time.Time `json:"time"`

	Case    string  `json:"case"` // without implementation: "matmul/N512@cold"
	Testbed Testbed `json:"testbed"`
	Commit  string  `json:"commit,omitempty"` // the baseline from now on; empty for a reset

	// Session is the evidence: the measurements of the commit. Trigger is the run that first showed a gain. Its
	// samples are not those of the session, because the best of many noisy runs is the luckiest.
	Session *Session `json:"session,omitempty"`
	Trigger *RunRef  `json:"trigger,omitempty"`
	Gain    float64  `json:"gain,omitempty"` // measured in the session's own run: 0.07 is 7 % faster

	Run    *RunRef `json:"run,omitempty"`  // run whose session is set aside
	From   string  `json:"from,omitempty"` // key of the testbed that the commit was carried over from
	Reason string  `json:"reason,omitempty"`
	Actor  string  `json:"actor,omitempty"` // person who accepted, reset or set aside

	Prev string `json:"prev"`           // hash of the previous line; empty for the first
	Hash string `json:"hash,omitempty"` // SHA-256 of the line up to here; always the last member
}

// Kind is the kind of event that an entry records.
type Kind string

// The kinds of entries.
const (
	KindMeasured Kind = "measured"  // another session of the baseline; the first of a case creates it
	KindMoved    Kind = "moved"     // a confirmed gain: the baseline moved to another commit
	KindAccepted Kind = "accepted"  // a person chose another commit, faster or not, and gave a reason
	KindReset    Kind = "reset"     // a person removed the baseline, and gave a reason
	KindCarried  Kind = "carried"   // on a new testbed: the best commit of another testbed
	KindMigrated Kind = "migrated"  // imported from a baseline.json
	KindSetAside Kind = "set_aside" // a session no longer counts, for a stated reason; the commit stays
)

// Session holds the result of one measuring session for one side of a case: one number per round. In a
// comparison with a stored baseline, the session is the unit.
type Session struct {
	Run        RunRef         `json:"run"`
	Unit       string         `json:"unit"`
	Better     measure.Better `json:"better,omitempty"`  // empty means lower
	Quantum    float64        `json:"quantum,omitempty"` // timer resolution
	Rounds     []float64      `json:"rounds"`            // median of each round that counts
	References []Reference    `json:"references,omitempty"`

	// Recipe, Definition and Method are copied from the run record: how the commit was built and started, what
	// was measured, and how it was timed. All three are empty in entries of older versions of pawl.
	Recipe     string `json:"recipe,omitempty"`
	Definition string `json:"definition,omitempty"`
	Method     string `json:"method,omitempty"`
}

// Reference is another implementation measured in the same session. Its code is the same in every session,
// so a change of its time is a change of the machine.
type Reference struct {
	Name   string    `json:"name"`
	Digest string    `json:"digest,omitempty"` // digest of what was built and run
	Rounds []float64 `json:"rounds"`
}

// RunRef identifies a run by its ID and, if available, by the digest of its record.
type RunRef struct {
	ID     string `json:"id,omitempty"`
	Digest string `json:"digest,omitempty"`
}

// Same reports whether both references identify the same run.
func (r RunRef) Same(o RunRef) bool {
	return r.ID != "" && r.ID == o.ID || r.Digest != "" && r.Digest == o.Digest
}

func (r RunRef) String() string { return cmp.Or(r.ID, r.Digest, "an unnamed run") }

// Testbed is the set of conditions that make stored numbers comparable: the testbed of a run and the timer
// of the case. Key identifies both. It is stored, so that a reader that lacks a newer field does not
// confuse two testbeds.
type Testbed struct {
	Key string `json:"key"`
	measure.Testbed
	Timer measure.Timer `json:"timer,omitempty"`
}

// NewTestbed returns the testbed of a case, with its key.
func NewTestbed(t measure.Testbed, timer measure.Timer) Testbed {
	bed := Testbed{Testbed: t, Timer: timer}
	text, err := json.Marshal(bed)
	if err != nil { // a power cap of NaN or infinity: format it anyway
		text = fmt.Appendf(nil, "%+v", bed)
	}
	sum := sha256.Sum256(text)
	bed.Key = hex.EncodeToString(sum[:8])
	return bed
}

// SessionOf returns the session of one side of a case in a run, with the references measured alongside it,
// and the testbed to compare it on.
func SessionOf(run *measure.Run, name, implementation string) (Session, Testbed, error) {
	runs := []*measure.Run{run}
	own := collect(runs, implementation).cases[name]
	if own == nil || len(own.rounds) == 0 {
		return Session{}, Testbed{}, fmt.Errorf("run %s has no valid round of %s (%s): measure it again", run.ID, name, implementation)
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
