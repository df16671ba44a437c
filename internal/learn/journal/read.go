package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// Limits of a journal, which is untrusted: anyone with write access to the repository can change it.
const (
	maxLine    = 4 << 20 // bytes
	maxEntries = 100_000
	maxFile    = 256 << 20 // bytes
)

// Read reads a journal. It ignores an unfinished last line, which a crash leaves. Anything else
// that is wrong is a *BrokenError with the line, returned together with the entries before it.
func Read(r io.Reader) (*Session, error) {
	s, _, err := read(r)
	return s, err
}

// ReadFile reads the journal in a regular file.
func ReadFile(path string) (*Session, error) {
	text, err := disk.ReadRegular(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	s, err := Read(bytes.NewReader(text))
	s.Path = path
	return s, broken(path, err)
}

// end is the end of a journal: the bytes of its complete lines, and the digest of the last.
type end struct {
	size   int64
	digest string
}

func read(r io.Reader) (*Session, end, error) {
	s, at := &Session{}, end{}
	err := s.extend(io.LimitReader(r, maxFile), &at)
	if err == nil && len(s.Entries) == 0 {
		err = &BrokenError{Line: 1, Why: "it has no entry"}
	}
	return s, at, err
}

// extend reads the lines after at. It leaves an unfinished line unread.
func (s *Session) extend(r io.Reader, at *end) error {
	b := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := readLine(b)
		number := len(s.Entries) + 1
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errLong):
			return &BrokenError{Line: number, Why: fmt.Sprintf("longer than %d bytes", maxLine)}
		case err != nil:
			return fmt.Errorf("read journal: %w", err)
		case number > maxEntries:
			return &BrokenError{Line: number, Why: fmt.Sprintf("more than %d entries", maxEntries)}
		}
		e, err := decode(line)
		if err == nil {
			err = s.follows(e, at.digest)
		}
		if err != nil {
			return &BrokenError{Line: number, Why: err.Error()}
		}
		s.add(e)
		at.size += int64(len(line)) + 1
		at.digest = Digest(line)
	}
}

var errLong = errors.New("line too long")

// readLine returns the next line without its newline; io.EOF for an unfinished one.
func readLine(b *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := b.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			return nil, errLong
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// decode reads a line. An unknown field is an error: a summary that leaves out half of what
// another version wrote would be wrong.
func decode(line []byte) (Entry, error) {
	var e Entry
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return e, fmt.Errorf("this version of pawl cannot read the entry: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return e, errors.New("more than one value")
	}
	return e, e.check()
}

// check returns an error if an entry is not of its kind.
func (e *Entry) check() error {
	parts := map[Kind]bool{
		KindStarted: e.Started != nil, KindDid: e.Did != nil, KindRefused: e.Refused != nil,
		KindNoted: e.Noted != nil, KindOverrode: e.Overrode != nil, KindEnded: e.Ended != nil,
	}
	has, known := parts[e.Kind]
	switch {
	case !known:
		return fmt.Errorf("unknown kind of entry %q", e.Kind)
	case !has:
		return fmt.Errorf("the entry of kind %q is empty", e.Kind)
	case e.Time.IsZero():
		return errors.New("no time")
	}
	for kind, there := range parts {
		if there && kind != e.Kind {
			return fmt.Errorf("the entry of kind %q has %q too", e.Kind, kind)
		}
	}
	switch e.Actor.Kind {
	case Person, Agent, CI:
		return nil
	default:
		return fmt.Errorf("unknown kind of actor %q", e.Actor.Kind)
	}
}

var idForm = lazyregexp.New(`^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{6}$`)

// follows returns an error if an entry cannot be the next one.
func (s *Session) follows(e Entry, before string) error {
	first := len(s.Entries) == 0
	switch {
	case e.Before != before:
		return errors.New("the line before was changed, added or removed after this one was written")
	case first != (e.Kind == KindStarted):
		return errors.New("a journal has exactly one entry that starts the session, the first")
	case first && !idForm.MatchString(e.Started.ID):
		return fmt.Errorf("%q is not the id of a session", e.Started.ID)
	case s.Ended != nil:
		return errors.New("an entry after the end of the session")
	}
	return nil
}

func (s *Session) add(e Entry) {
	switch e.Kind { //nolint:exhaustive // the others open and close nothing
	case KindStarted:
		s.Started, s.Began = *e.Started, e.Time.UTC()
	case KindEnded:
		s.Ended = e.Ended
	}
	s.Entries = append(s.Entries, e)
}
