package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// A journal comes from a repository that anybody may have written to.
const (
	maxLine    = 4 << 20 // bytes
	maxEntries = 100_000
	maxFile    = 256 << 20 // bytes
)

// Read reads a journal. A last line without its end, which a crash leaves, is passed over;
// anything else that is wrong is a *BrokenError that names the line, and what stands before
// it comes with it. A line is also wrong when the one before it is not the one it names.
func Read(r io.Reader) (*Session, error) {
	s, _, err := read(r)
	return s, err
}

// ReadFile is Read of a file.
func ReadFile(path string) (*Session, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	defer f.Close()
	s, err := Read(f)
	if s != nil {
		s.Path = path
	}
	return s, broken(path, err)
}

// end is where a journal ends: the bytes of its whole lines, and the digest of the last.
type end struct {
	size   int64
	digest string
}

func read(r io.Reader) (*Session, end, error) {
	s, at := &Session{}, end{}
	err := s.extend(io.LimitReader(r, maxFile), &at)
	if err == nil && len(s.Entries) == 0 {
		err = &BrokenError{Line: 1, Why: "there is no entry in it"}
	}
	return s, at, err
}

// extend reads what follows after at. A line without its end is left unread.
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
		at.digest = digestOf(line)
	}
}

var errLong = errors.New("line too long")

// readLine is the next line without its end; io.EOF also for one that has none.
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

// decode reads a line. A field that is not known is a mistake and not the future: what a
// newer pawl wrote cannot be summed up by leaving half of it out.
func decode(line []byte) (Entry, error) {
	var e Entry
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return e, fmt.Errorf("not an entry as this pawl knows it (a newer one may): %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return e, errors.New("more than one value")
	}
	return e, e.check()
}

// check tells whether an entry is what its kind says, and nothing else.
func (e *Entry) check() error {
	parts := map[Kind]bool{
		KindStarted: e.Started != nil, KindDid: e.Did != nil, KindRefused: e.Refused != nil,
		KindNoted: e.Noted != nil, KindOverrode: e.Overrode != nil, KindEnded: e.Ended != nil,
	}
	has, known := parts[e.Kind]
	switch {
	case !known:
		return fmt.Errorf("there is no kind of entry %q", e.Kind)
	case !has:
		return fmt.Errorf("an entry of kind %q without what it tells of", e.Kind)
	case e.Time.IsZero():
		return errors.New("no time")
	}
	for kind, there := range parts {
		if there && kind != e.Kind {
			return fmt.Errorf("an entry of kind %q that tells of %q too", e.Kind, kind)
		}
	}
	switch e.Actor.Kind {
	case Person, Agent, CI:
		return nil
	default:
		return fmt.Errorf("there is no kind of actor %q", e.Actor.Kind)
	}
}

var idForm = lazyregexp.New(`^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{6}$`)

// follows tells whether an entry may be the next one.
func (s *Session) follows(e Entry, before string) error {
	first := len(s.Entries) == 0
	switch {
	case e.Before != before:
		return errors.New("the line before is not the one that this one was written after: something was changed, added or taken out")
	case first != (e.Kind == KindStarted):
		return errors.New("a journal begins with the entry that started the session, and has one of them")
	case first && !idForm.MatchString(e.Started.ID):
		return fmt.Errorf("%q is no id of a session", e.Started.ID)
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

// digestOf is what the next line calls this one.
func digestOf(line []byte) string { return hexDigest(line) }
