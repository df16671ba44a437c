package adapter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// record is one JSON value of a stream and the line it begins on.
type record struct {
	data []byte
	line int
}

// records gives the JSON objects, and lists of objects, of a source that may be
// one document, many lines, or both between other output. skipped counts the
// lines that are neither.
func (in *input) records(skipped *int) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		line := 1
		for {
			first, err := in.skipSpace(&line)
			if errors.Is(err, io.EOF) {
				return
			}
			if err == nil && first != '{' && !in.atList() {
				*skipped++
				err = in.skipLine(&line)
				if errors.Is(err, io.EOF) {
					return
				}
				if err == nil {
					continue
				}
			}
			if err != nil {
				yield(record{}, err)
				return
			}
			at := line
			data, err := in.value(&line)
			if err != nil {
				err = fmt.Errorf("line %d: %w", at, err)
			}
			if !yield(record{data, at}, err) || err != nil {
				return
			}
		}
	}
}

// skipSpace moves to the next byte that is not blank and returns it unread.
func (in *input) skipSpace(line *int) (byte, error) {
	for {
		c, err := in.ReadByte()
		if err != nil {
			return 0, err
		}
		switch c {
		case '\n':
			*line++
		case ' ', '\t', '\r':
		default:
			return c, in.UnreadByte()
		}
	}
}

func (in *input) atList() bool {
	ahead, _ := in.Peek(headBytes / 2) // an error shows again when the bytes are read
	return isListStart(ahead)
}

func (in *input) skipLine(line *int) error {
	for {
		c, err := in.ReadByte()
		if err != nil {
			return err
		}
		if c == '\n' {
			*line++
			return nil
		}
	}
}

// value reads one object or list, up to the bracket that closes it.
func (in *input) value(line *int) ([]byte, error) {
	var data bytes.Buffer
	depth := 0
	quoted, escaped := false, false
	for {
		c, err := in.ReadByte()
		if errors.Is(err, io.EOF) {
			return nil, errors.New("the JSON that begins here does not end: was the output cut off?")
		}
		if err != nil {
			return nil, err
		}
		if data.Len() >= documentBytes {
			return nil, fmt.Errorf("the JSON that begins here is larger than %d MiB: write one record a line", documentBytes>>20)
		}
		data.WriteByte(c)
		if c == '\n' {
			*line++
		}
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = c == '\\', c != '"'
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return data.Bytes(), nil
			}
		}
	}
}
