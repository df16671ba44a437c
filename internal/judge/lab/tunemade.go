package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// TunePart records how a part was measured: the options that reproduce its figures.
type TunePart struct {
	Part       string   `json:"part"`
	Quick      bool     `json:"quick,omitempty"`
	Seed       uint64   `json:"seed"` // seed of the first repeat; each repeat adds 1
	Repeats    int      `json:"repeats"`
	Strategies []string `json:"strategies,omitempty"` // as requested; other parts have fixed ones
	Spaces     []string `json:"spaces,omitempty"`     // globs as requested; empty for all
}

func (o TuneOptions) made(part string) TunePart {
	m := TunePart{Part: part, Quick: o.Quick || o.Data == "", Seed: o.Seed, Repeats: o.Repeats, Spaces: o.Spaces}
	if part == PartCount {
		m.Strategies = o.Strategies
	}
	return m
}

// Command returns the command that reproduces the part.
func (m TunePart) Command() string {
	words := []string{"pawl-lab tune"}
	if m.Quick {
		words = append(words, "--quick")
	} else {
		words = append(words, "--data DATA --out docs/lab")
	}
	words = append(words, fmt.Sprintf("--part %s --seed %d --repeats %d", m.Part, m.Seed, m.Repeats))
	if len(m.Strategies) > 0 {
		words = append(words, "--strategy "+strings.Join(m.Strategies, ","))
	}
	if len(m.Spaces) > 0 {
		words = append(words, "--space '"+strings.Join(m.Spaces, ",")+"'")
	}
	return strings.Join(words, " ")
}

// Last returns the seed of the last repeat.
func (m TunePart) Last() uint64 { return m.Seed + uint64(max(m.Repeats, 1)) - 1 }

// Made returns how a part was measured; nil if it was not.
func (r *TuneReport) Made(part string) *TunePart {
	for i := range r.Parts {
		if r.Parts[i].Part == part {
			return &r.Parts[i]
		}
	}
	return nil
}

// Quick reports whether any part was measured quickly or on generated spaces.
func (r *TuneReport) Quick() bool {
	return slices.ContainsFunc(r.Parts, func(m TunePart) bool { return m.Quick })
}

// maxTuneReport bounds the size of a document of figures, in bytes.
const maxTuneReport = 64 << 20

// ReadTune reads figures that were written earlier.
func ReadTune(r io.Reader) (*TuneReport, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxTuneReport+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxTuneReport {
		return nil, fmt.Errorf("more than %d bytes", maxTuneReport)
	}
	report := &TuneReport{}
	if err := json.Unmarshal(b, report); err != nil {
		return nil, err
	}
	if report.Schema != TuneSchema {
		return nil, fmt.Errorf("its schema is %q and not %q", report.Schema, TuneSchema)
	}
	for i, m := range report.Parts {
		if !slices.Contains(TuneParts, m.Part) {
			return nil, fmt.Errorf("unknown part %q", m.Part)
		}
		if report.Made(m.Part) != &report.Parts[i] {
			return nil, fmt.Errorf("part %s occurs twice", m.Part)
		}
	}
	return report, nil
}

// Keep copies from older figures the parts that were not measured again. Parts take hours and are
// measured one by one.
func (r *TuneReport) Keep(old *TuneReport) error {
	if old.Quick() != r.Quick() {
		return errors.New("figures of generated and of recorded spaces cannot be on one page")
	}
	for _, part := range TuneParts {
		m := old.Made(part)
		if m == nil || r.Made(part) != nil {
			continue
		}
		r.Parts = append(r.Parts, *m)
		switch part {
		case PartCount:
			r.Rows, r.Anchors, r.Common = old.Rows, old.Anchors, old.Common
		case PartCost:
			r.Costs = old.Costs
		case PartNoise:
			r.Noises = old.Noises
		case PartTransfer:
			r.Transfer = old.Transfer
		}
	}
	slices.SortFunc(r.Parts, func(a, b TunePart) int {
		return slices.Index(TuneParts, a.Part) - slices.Index(TuneParts, b.Part)
	})
	for _, s := range old.Spaces {
		if !slices.ContainsFunc(r.Spaces, func(x SpaceSummary) bool { return x.Name == s.Name }) {
			r.Spaces = append(r.Spaces, s)
		}
	}
	slices.SortFunc(r.Spaces, func(a, b SpaceSummary) int { return strings.Compare(a.Name, b.Name) })
	r.Claims = tuneClaims(r)
	return nil
}
