package archive

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// JSONLimits limits a JSON text before it is decoded. The two bytes {} can become a value
// of hundreds of bytes, so the limits count values, not only bytes.
type JSONLimits struct {
	Bytes   int64
	Depth   int
	Lists   int   // objects and arrays
	Strings int   // including member names
	Letters int64 // bytes of all strings together
	Longest int   // max bytes of one token
	Numbers int
}

// CheckJSON reads a text to its end and returns an error if it exceeds the limits. It
// rejects duplicate member names, because readers differ in which one they use.
func CheckJSON(r io.Reader, l JSONLimits) error {
	m := &meter{from: r, left: l.Bytes, letters: l.Letters, longest: l.Longest}
	d := jsontext.NewDecoder(m)
	err := l.count(d)
	if err == nil {
		_, err = d.ReadToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		err = reject("there is more after its end")
	}
	if m.problem != "" {
		return reject("%s", m.problem)
	}
	return err
}

func (l JSONLimits) count(d *jsontext.Decoder) error {
	for {
		token, err := d.ReadToken()
		if err != nil {
			return reject("it is not JSON: %.200s", err.Error())
		}
		switch token.Kind() { //nolint:exhaustive // other tokens are not limited
		case '{', '[':
			l.Lists--
		case '"':
			l.Strings--
		case '0':
			l.Numbers--
		}
		switch {
		case d.StackDepth() > l.Depth:
			return reject("it is nested deeper than %d", l.Depth)
		case l.Lists < 0:
			return reject("it has too many objects and arrays")
		case l.Strings < 0:
			return reject("it has too many strings")
		case l.Numbers < 0:
			return reject("it has too many numbers")
		case d.StackDepth() == 0:
			return nil
		}
	}
}

// meter stops reading if one token, or the whole text, is too long. A decoder buffers a
// whole token, so an endless one would use up all memory.
type meter struct {
	from    io.Reader
	left    int64 // bytes left
	letters int64 // bytes in strings left
	longest int
	problem string

	run           int  // bytes since a token could have ended
	quoted, slash bool // inside a string; after a backslash in one
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
		m.problem = fmt.Sprintf("one of its tokens has more than %d bytes", m.longest)
	}
}
