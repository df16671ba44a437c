package measure

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Scan reads a run, document or journal, and calls each for every round of every case as it is read. Runs
// of any size can be read this way, because the returned run has no rounds in its cases.
//
// The case passed to each has the fields that precede its rounds in the file. In every file that pawl
// writes, these are all of its fields.
func Scan(r io.Reader, each func(*Case, CaseRound) error) (*Run, error) {
	return newScanner(r, perCase(each)).scan()
}

// perCase resolves a case number at each call: the list of cases grows during the read, so the address of
// a case may change until the end.
func perCase(each func(*Case, CaseRound) error) eachRound {
	return func(run *Run, number int, r CaseRound) error { return each(&run.Cases[number], r) }
}

type eachRound func(run *Run, number int, r CaseRound) error

type scanner struct {
	run    *Run
	source io.Reader
	d      *jsontext.Decoder
	each   eachRound
	// found, if set, receives the location of each result in a journal; each is then not called.
	found func(number int, f fragment)
}

func newScanner(r io.Reader, each eachRound) *scanner {
	return &scanner{
		run: &Run{}, source: r, each: each,
		d: jsontext.NewDecoder(r, jsontext.AllowDuplicateNames(true)), // like encoding/json: the last one wins
	}
}

func (s *scanner) scan() (*Run, error) {
	key, err := s.firstKey()
	if err != nil {
		return nil, err
	}
	if key == "record" {
		return s.journal()
	}
	return s.document(key)
}

// ErrNotRecord is wrapped by the error for a file that is not a pawl record.
var ErrNotRecord = errors.New("not a pawl record")

// firstKey returns the first key, which distinguishes the two forms: every line of a journal starts with
// "record".
func (s *scanner) firstKey() (string, error) {
	d := s.d
	if err := expect(d, '{'); err != nil {
		return "", fmt.Errorf("%w: it does not start with a JSON object (%w)", ErrNotRecord, err)
	}
	if d.PeekKind() == '}' {
		return "", fmt.Errorf("%w: empty object", ErrNotRecord)
	}
	key, err := d.ReadToken()
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotRecord, err)
	}
	return key.String(), nil
}

// document reads the rest of a pawl.run, after its opening brace and first key.
func (s *scanner) document(key string) (*Run, error) {
	d := s.d
	header := map[string]json.RawMessage{}
	for {
		var err error
		switch key {
		case "cases":
			err = eachElement(d, func(int) error { return s.documentCase() })
		default:
			var raw jsontext.Value
			if raw, err = d.ReadValue(); err == nil {
				header[key] = json.RawMessage(raw.Clone())
			}
		}
		if err != nil {
			return nil, fmt.Errorf("run record, %s: %w", key, err)
		}
		if d.PeekKind() == '}' {
			break
		}
		token, err := d.ReadToken()
		if err != nil {
			return nil, fmt.Errorf("run record, after %s: %w", key, err)
		}
		key = token.String()
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, fmt.Errorf("run record: %w", err)
	}
	if d.PeekKind() != 0 {
		return nil, errors.New("run record: data follows its end")
	}
	return s.run, s.fill(header)
}

// fill decodes everything except the cases, which are already decoded.
func (s *scanner) fill(header map[string]json.RawMessage) error {
	whole, err := json.Marshal(header)
	if err != nil {
		return fmt.Errorf("run record: %w", err)
	}
	cases := s.run.Cases
	if err := json.Unmarshal(whole, s.run); err != nil {
		return fmt.Errorf("run record: %w", err)
	}
	s.run.Cases = cases
	return checkSchema(s.run.Schema, SchemaRun)
}

func (s *scanner) documentCase() error {
	d := s.d
	number := len(s.run.Cases)
	s.run.Cases = append(s.run.Cases, Case{})
	c := &s.run.Cases[number]
	facts := map[string]json.RawMessage{}
	known := func() error {
		b, err := json.Marshal(facts)
		if err == nil {
			err = json.Unmarshal(b, c)
		}
		return err
	}
	err := eachMember(d, func(key string) error {
		if key != "rounds" {
			raw, err := d.ReadValue()
			facts[key] = json.RawMessage(raw.Clone())
			return err
		}
		if err := known(); err != nil {
			return err
		}
		return eachElement(d, func(int) error { return s.round(number) })
	})
	if err != nil {
		return err
	}
	return known()
}

func (s *scanner) round(number int) error {
	r, err := decodeCaseRound(s.d)
	if err != nil {
		return err
	}
	return s.each(s.run, number, r)
}

// checkSchema returns an error for files that this version cannot read: another kind of file, or a record
// of a later major version.
func checkSchema(have, want string) error {
	switch {
	case have == want:
		return nil
	case have == "":
		return fmt.Errorf("%w: it has no schema", ErrNotRecord)
	case strings.HasPrefix(have, want[:strings.LastIndexByte(want, '/')+1]):
		return fmt.Errorf("the record is %s, but this pawl reads %s: use a newer pawl", have, want)
	default:
		return fmt.Errorf("%w: its schema is %.40q, not %s", ErrNotRecord, have, want)
	}
}
