package measure

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// withoutEnd is the end of a journal that has none.
var withoutEnd = End{State: Interrupted, Reason: "the journal has no end: pawl was stopped while measuring"}

// journal reads the rest of a journal, after the opening brace and first key of its first line. A crash
// leaves a truncated last line: the rounds before it are intact, and the run counts as interrupted. A bad
// line that is followed by others is damage, and an error.
func (s *scanner) journal() (*Run, error) {
	s.run.End = withoutEnd
	for first := true; ; first = false {
		line, err := s.journalLine(first)
		if err == nil {
			if err = s.accept(line); err != nil {
				return nil, fmt.Errorf("journal: %w", err)
			}
			continue
		}
		at := s.d.InputOffset()
		switch followed, readErr := s.moreLines(); {
		case readErr != nil:
			return nil, fmt.Errorf("journal: %w", readErr)
		case followed:
			return nil, fmt.Errorf("journal is damaged near byte %d, and more lines follow: %w", at, err)
		case s.run.Schema == "":
			return nil, fmt.Errorf("%w: the journal has no first line", ErrNotRecord)
		}
		return s.run, nil
	}
}

// moreLines reports whether anything except zeros and white space follows the end of the next line.
func (s *scanner) moreLines() (bool, error) {
	rest := bufio.NewReader(io.MultiReader(bytes.NewReader(s.d.UnreadBuffer()), s.source))
	for line := 0; ; {
		c, err := rest.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return false, err
		case c == '\n':
			line++
		case line > 0 && !strings.ContainsRune("\x00 \t\r", rune(c)):
			return true, nil
		}
	}
}

// journalLine is one line before it is accepted. A truncated round must not count, so its results are held
// here until the end of the line.
type journalLine struct {
	kind    string
	members map[string]json.RawMessage
	results []journalResult
}

type journalResult struct {
	number int
	round  CaseRound
	where  fragment
}

// fragment is a part of a journal file.
type fragment struct {
	offset int64
	size   int
}

func (s *scanner) journalLine(opened bool) (journalLine, error) {
	line := journalLine{members: map[string]json.RawMessage{}}
	if !opened {
		if key, err := s.firstKey(); err != nil {
			return line, err
		} else if key != "record" {
			return line, fmt.Errorf("a line starts with %.20q, not \"record\"", key)
		}
	}
	if err := decodeValue(s.d, &line.kind); err != nil {
		return line, err
	}
	for s.d.PeekKind() != '}' {
		key, err := s.d.ReadToken()
		if err != nil {
			return line, err
		}
		if name := key.String(); line.kind == "round" && name == "results" {
			err = eachElement(s.d, func(int) error { return s.journalResult(&line) })
		} else {
			var raw jsontext.Value
			raw, err = s.d.ReadValue()
			line.members[name] = json.RawMessage(raw.Clone())
		}
		if err != nil {
			return line, err
		}
	}
	_, err := s.d.ReadToken()
	return line, err
}

func (s *scanner) journalResult(line *journalLine) error {
	r := journalResult{number: -1}
	err := eachMember(s.d, func(key string) (err error) {
		switch {
		case key == "case":
			err = decodeValue(s.d, &r.number)
		case key == "data" && s.found != nil:
			var raw jsontext.Value
			raw, err = s.d.ReadValue()
			r.where = fragment{offset: s.d.InputOffset() - int64(len(raw)), size: len(raw)}
		case key == "data":
			r.round, err = decodeCaseRound(s.d)
		default:
			err = s.d.SkipValue()
		}
		return err
	})
	line.results = append(line.results, r)
	return err
}

func (s *scanner) accept(line journalLine) error {
	member := func(name string, into any) error {
		raw, ok := line.members[name]
		if !ok {
			return fmt.Errorf("%s record has no %q", line.kind, name)
		}
		if err := json.Unmarshal(raw, into); err != nil {
			return fmt.Errorf("%s record, %s: %w", line.kind, name, err)
		}
		return nil
	}
	switch line.kind {
	case "open":
		var schema string
		if err := errors.Join(member("schema", &schema), member("run", &s.run.Header)); err != nil {
			return err
		}
		return errors.Join(checkSchema(schema, SchemaJournal), checkSchema(s.run.Schema, SchemaRun))
	case "cases":
		var cases []Case
		if err := member("cases", &cases); err != nil {
			return err
		}
		s.run.Cases = append(s.run.Cases, cases...)
		return nil
	case "calibration":
		var c Calibration
		err := member("calibration", &c)
		s.run.Calibration = append(s.run.Calibration, c)
		return err
	case "round":
		return s.acceptRound(line, member)
	case "end":
		s.run.Ending = Ending{}
		for name, into := range map[string]any{"warnings": &s.run.Warnings, "secret": &s.run.Secret, "loaded": &s.run.Loaded} {
			if _, ok := line.members[name]; ok {
				if err := member(name, into); err != nil {
					return err
				}
			}
		}
		return member("end", &s.run.End)
	case "resumed": // the warning is about all rounds so far, so it replaces that of an earlier resumption
		s.run.Calibration = slices.DeleteFunc(s.run.Calibration, func(c Calibration) bool { return c.When == "close" })
		s.run.Ending = Ending{End: withoutEnd, Warnings: make([]Warning, 1)}
		return member("warning", &s.run.Warnings[0])
	default:
		return nil // a record kind of a later version of pawl: ignored
	}
}

func (s *scanner) acceptRound(line journalLine, member func(string, any) error) error {
	var r Round
	if err := member("round", &r); err != nil {
		return err
	}
	s.run.Rounds = append(s.run.Rounds, r)
	for _, res := range line.results {
		if res.number < 0 || res.number >= len(s.run.Cases) {
			return fmt.Errorf("round %d has a result for case %d, which was never declared", r.Index, res.number)
		}
		if s.found != nil {
			s.found(res.number, res.where)
			continue
		}
		if err := s.each(s.run, res.number, res.round); err != nil {
			return err
		}
	}
	return nil
}
