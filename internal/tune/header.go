package tune

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/tune/space"
)

// Format identifies a journal; it is in the first line.
const Format = "pawl.tuning/v1"

// Header describes the search of a journal. Evaluations are comparable if their headers
// agree in everything but strategy, seed and version.
type Header struct {
	Format   string       `json:"format"`
	Case     string       `json:"case"`
	Suite    string       `json:"suite"` // its digest
	Device   gpu.Identity `json:"device"`
	Commit   string       `json:"commit,omitempty"`
	Dirty    bool         `json:"dirty,omitempty"`
	Timer    string       `json:"timer,omitempty"`
	Space    Space        `json:"space"`
	Strategy string       `json:"strategy,omitempty"`
	Seed     uint64       `json:"seed"`
	Pawl     string       `json:"pawl,omitempty"`
}

// Space describes the search space of a journal, so that reading it needs no suite.
type Space struct {
	Parameters  []space.Parameter `json:"parameters"`
	Constraints []string          `json:"constraints,omitempty"`
	Fixed       map[string]any    `json:"fixed,omitempty"` // parameters of the config
	Points      int               `json:"points"`
	Digest      string            `json:"digest"` // of parameters, constraints and fixed values
}

// WithDigest returns the space with its digest set.
func (s Space) WithDigest() Space {
	s.Digest = ""
	text, err := json.Marshal(struct {
		Parameters  []space.Parameter
		Constraints []string
		Fixed       map[string]any
	}{s.Parameters, s.Constraints, s.Fixed})
	if err != nil { // values that no suite can contain
		return s
	}
	sum := sha256.Sum256(text)
	s.Digest = "sha256:" + hex.EncodeToString(sum[:])
	return s
}

// MismatchError reports that a journal belongs to a different search.
type MismatchError struct{ Path, What, Was, Is string }

func (e *MismatchError) Error() string {
	return fmt.Sprintf("cannot resume %s: its %s is %s, but now it is %s; start from its results with --warm-start %s, or choose another --out",
		e.Path, e.What, e.Was, e.Is, e.Path)
}

// checkResumable returns why a journal cannot be resumed, nil if it can.
func (h Header) checkResumable(path string, now Header) error {
	for _, x := range []struct{ what, was, is string }{
		{"case", h.Case, now.Case},
		{"space", h.Space.Digest, now.Space.Digest},
		{"suite", h.Suite, now.Suite},
		{"device", deviceKey(h.Device), deviceKey(now.Device)},
		{"commit", commitKey(h), commitKey(now)},
		{"timer", h.Timer, now.Timer},
	} {
		if x.was != x.is {
			return &MismatchError{path, x.what, orNone(x.was), orNone(x.is)}
		}
	}
	return nil
}

func deviceKey(d gpu.Identity) string { return d.Name + " " + d.UUID }

// commitKey does not identify the content of a modified tree: build digests are not yet
// known when a journal is opened.
func commitKey(h Header) string {
	if h.Dirty {
		return h.Commit + " with changes"
	}
	return h.Commit
}

func orNone(s string) string {
	if s == "" {
		return "not known"
	}
	return s
}

// check rejects an invalid header.
func (h Header) check() error {
	switch {
	case h.Format != Format:
		return fmt.Errorf("format is %.40q, expected %q", h.Format, Format)
	case h.Case == "":
		return errors.New("no case")
	case len(h.Space.Parameters) == 0 || len(h.Space.Parameters) > maxParameters:
		return fmt.Errorf("%d parameters (must be 1 to %d)", len(h.Space.Parameters), maxParameters)
	}
	return nil
}
