package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ErrTooLarge is wrapped by the error for a body that exceeds its limit, such as MaxReport.
var ErrTooLarge = errors.New("the report is too large")

// InvalidError reports where and how a report is invalid.
type InvalidError struct {
	Pointer string // RFC 6901 JSON pointer; empty for the whole body
	Reason  string
}

func (e *InvalidError) Error() string {
	if e.Pointer == "" {
		return "report: " + e.Reason
	}
	return "report: " + e.Pointer + ": " + e.Reason
}

// Decode reads the body of a report that an untrusted client sent at the time now. The result is safe to
// store: every number is finite, every text is short, and no name occurs twice. It rejects a report dated
// more than a day after now.
func Decode(body []byte, now time.Time) (*Report, error) {
	if len(body) > MaxReport {
		return nil, fmt.Errorf("%w: the max is %d MB", ErrTooLarge, MaxReport>>20)
	}
	r, ok := decodeFast(body)
	if !ok {
		var err error
		if r, err = decodeStrict(body); err != nil {
			return nil, err
		}
	}
	if err := r.Check(now); err != nil {
		return nil, err
	}
	return r, nil
}

// decodeStrict decodes a report in any valid JSON formatting, and reports where it is invalid.
func decodeStrict(body []byte) (*Report, error) {
	if _, err := scan(body); err != nil {
		return nil, err
	}
	r := &Report{}
	// Duplicate names and invalid UTF-8 are rejected by default.
	if err := strict.Unmarshal(body, r, strict.RejectUnknownMembers(true)); err != nil {
		return nil, invalid(err)
	}
	return r, nil
}

// invalid converts a decoder's error. It removes the package name, and all of the body except what the
// sender needs to find the place.
func invalid(err error) *InvalidError {
	if e, ok := errors.AsType[*strict.SemanticError](err); ok {
		reason := fmt.Sprintf("%s is not valid here", kindName(e.JSONKind))
		if e.Err != nil {
			reason = fmt.Sprintf("%s: %.200v", kindName(e.JSONKind), e.Err)
		}
		return &InvalidError{string(e.JSONPointer), reason}
	}
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return &InvalidError{string(e.JSONPointer), fmt.Sprintf("after byte %d: %.200v", e.ByteOffset, e.Err)}
	}
	return &InvalidError{"", fmt.Sprintf("%.200v", err)}
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "an array"
	default:
		return "the value"
	}
}

// Encode returns the canonical body of a report: the same report gives the same bytes. A server of this
// version accepts them.
func Encode(r *Report) ([]byte, error) {
	canonical := *r
	canonical.Measured = r.Measured.UTC()
	canonical.Commit = r.Commit.inUTC()
	canonical.History = nil
	for _, c := range r.History {
		canonical.History = append(canonical.History, c.inUTC())
	}
	if canonical.Points == nil {
		canonical.Points = []Point{}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(&canonical); err != nil {
		return nil, fmt.Errorf("cannot write the report of run %s: %w", r.Run, err)
	}
	body := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if len(body) > MaxReport {
		return nil, fmt.Errorf("cannot write the report of run %s: %w: %d bytes, the max is %d", r.Run, ErrTooLarge, len(body), MaxReport)
	}
	if _, err := scan(body); err != nil {
		return nil, fmt.Errorf("cannot write the report of run %s: %w", r.Run, err)
	}
	return body, nil
}

func (c Commit) inUTC() Commit {
	if c.At != nil {
		at := c.At.UTC()
		c.At = &at
	}
	return c
}
