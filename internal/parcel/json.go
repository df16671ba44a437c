package parcel

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// JSONLimits bound a JSON text before anybody makes values of it. A text of two bytes,
// {}, may become a value of hundreds: so it is values that count, not bytes alone.
type JSONLimits struct {
	Bytes   int64
	Depth   int
	Lists   int   // objects and arrays
	Strings int   // and names of members
	Letters int64 // bytes of all of them together
	Longest int   // bytes of one token
	Numbers int
}

// CheckJSON reads a text to its end and tells what of it is beyond the limits. Names that
// appear twice in an object are refused: readers differ in which of them they believe.
func CheckJSON(r io.Reader, l JSONLimits) error {
	m := &meter{from: r, left: l.Bytes, letters: l.Letters, longest: l.Longest}
	d := jsontext.NewDecoder(m)
	err := l.count(d)
	if err == nil {
		_, err = d.ReadToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		err = poisoned("there is more behind its end")
	}
	if m.problem != "" {
		return poisoned("%s", m.problem)
	}
	return err
}

func (l JSONLimits) count(d *jsontext.Decoder) error {
	for {
		token, err := d.ReadToken()
		if err != nil {
			return poisoned("it is no JSON: %.200s", err.Error())
		}
		switch token.Kind() { //nolint:exhaustive // the rest is free
		case '{', '[':
			l.Lists--
		case '"':
			l.Strings--
		case '0':
			l.Numbers--
		}
		switch {
		case d.StackDepth() > l.Depth:
			return poisoned("it is deeper than %d", l.Depth)
		case l.Lists < 0:
			return poisoned("it has too many objects and arrays")
		case l.Strings < 0:
			return poisoned("it has too many texts")
		case l.Numbers < 0:
			return poisoned("it has too many numbers")
		case d.StackDepth() == 0:
			return nil
		}
	}
}

// meter ends a text where one token, or all of it, is too long: a decoder keeps a token
// whole, and one without an end would be all of memory.
type meter struct {
	from    io.Reader
	left    int64 // bytes
	letters int64 // bytes in strings that are left
	longest int
	problem string

	run           int  // bytes since the last token could have ended
	quoted, slash bool // inside a string; behind a backslash in one
}

func (m *meter) Read(p []byte) (int, error) {
	if m.problem != "" {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := m.from.Read(p)
	for _, c := range p[:n] {
		m.add(c)
	}
	switch m.left -= int64(n); {
	case m.left < 0:
		m.problem = "it is too long"
	case m.letters < 0:
		m.problem = "it has too much text"
	}
	if m.problem != "" {
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

func (m *meter) add(c byte) {
	m.run++
	switch {
	case m.slash:
		m.slash = false
	case c == '"':
		m.quoted, m.run = !m.quoted, 0
	case m.quoted:
		m.letters--
		m.slash = c == '\\'
	case c == ',' || c == ':' || c == '[' || c == ']' || c == '{' || c == '}':
		m.run = 0
	}
	if m.run > m.longest {
		m.problem = fmt.Sprintf("a word of it has more than %d bytes", m.longest)
	}
}
