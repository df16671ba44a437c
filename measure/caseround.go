package measure

import (
	"encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// CaseRound holds the measurements of one case by one process.
type CaseRound struct {
	Round          int     `json:"round"`
	Batch          int     `json:"batch,omitempty"`      // runs averaged in one sample; 0 means 1
	SamplesPerTurn int     `json:"turn,omitempty"`       // samples taken before the next side's turn; 0 means all
	Quantum        float64 `json:"quantum_ns,omitempty"` // timer resolution
	Core           *int    `json:"core,omitempty"`       // CPU core that all sides of the round shared; nil for none
	// Unsteady reports that warm-up reached its limit before the kernel settled.
	Unsteady bool   `json:"unsteady,omitempty"`
	Error    string `json:"error,omitempty"` // why there are no samples
	Note     string `json:"note,omitempty"`  // remark of the harness on how the samples were taken
	// Verified is the number of timed runs whose results matched the oracle's.
	Verified int `json:"verified,omitempty"`
	// Compared is the number of timed runs whose output matched the base's for the same inputs, within
	// the tolerance.
	Compared int            `json:"compared,omitempty"`
	Outside  *OutsideTiming `json:"outside,omitempty"`

	Warmup  Samples `json:"warmup,omitempty"` // runs before the kernel was steady; kept but never counted
	Samples Samples `json:"samples"`
	Wall    Samples `json:"wall,omitempty"` // the same runs on other clocks, one to one
	CPU     Samples `json:"cpu,omitempty"`
	Clocks  Samples `json:"clock_mhz,omitempty"` // SM clock during each sample
}

// series returns the sample arrays of a round with their JSON names. A round is nearly all samples, so
// encoding and decoding bypass reflection for them.
func (r *CaseRound) series() [5]struct {
	name string
	s    *Samples
} {
	return [...]struct {
		name string
		s    *Samples
	}{{"warmup", &r.Warmup}, {"samples", &r.Samples}, {"wall", &r.Wall}, {"cpu", &r.CPU}, {"clock_mhz", &r.Clocks}}
}

// append appends the round to b as JSON.
func (r CaseRound) append(b []byte) ([]byte, error) {
	facts := struct { // all fields except the series; a test detects fields missing here
		Round    int     `json:"round"`
		Batch    int     `json:"batch,omitempty"`
		Turn     int     `json:"turn,omitempty"`
		Quantum  float64 `json:"quantum_ns,omitempty"`
		Core     *int    `json:"core,omitempty"`
		Unsteady bool    `json:"unsteady,omitempty"`
		Error    string  `json:"error,omitempty"`
		Note     string  `json:"note,omitempty"`

		Verified int            `json:"verified,omitempty"`
		Compared int            `json:"compared,omitempty"`
		Outside  *OutsideTiming `json:"outside,omitempty"`
	}{r.Round, r.Batch, r.SamplesPerTurn, r.Quantum, r.Core, r.Unsteady, r.Error, r.Note, r.Verified, r.Compared, r.Outside}
	head, err := json.Marshal(facts)
	if err != nil {
		return nil, fmt.Errorf("cannot write a round: %w", err)
	}
	b = append(b, head[:len(head)-1]...)
	for _, f := range r.series() {
		if len(*f.s) == 0 && f.name != "samples" {
			continue
		}
		b = fmt.Appendf(b, ",%q:", f.name)
		if b, err = f.s.append(b); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return append(b, '}'), nil
}

// decodeCaseRound decodes the next object.
func decodeCaseRound(d *jsontext.Decoder) (CaseRound, error) {
	var r CaseRound
	err := eachMember(d, func(key string) error {
		for _, f := range r.series() {
			if f.name == key {
				return decodeSamples(d, f.s)
			}
		}
		switch key {
		case "round":
			return decodeValue(d, &r.Round)
		case "batch":
			return decodeValue(d, &r.Batch)
		case "turn":
			return decodeValue(d, &r.SamplesPerTurn)
		case "quantum_ns":
			return decodeValue(d, &r.Quantum)
		case "core":
			return decodeValue(d, &r.Core)
		case "unsteady":
			return decodeValue(d, &r.Unsteady)
		case "error":
			return decodeValue(d, &r.Error)
		case "note":
			return decodeValue(d, &r.Note)
		case "verified":
			return decodeValue(d, &r.Verified)
		case "compared":
			return decodeValue(d, &r.Compared)
		case "outside":
			return decodeValue(d, &r.Outside)
		default:
			return d.SkipValue()
		}
	})
	return r, err
}

func decodeSamples(d *jsontext.Decoder, into *Samples) error {
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	*into, err = parseSamples(raw)
	return err
}
