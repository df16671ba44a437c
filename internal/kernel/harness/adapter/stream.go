package adapter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// record is one JSON value of a stream and the line it starts on.
type record struct {
	data []byte
	line int
}

// records yields the JSON objects, and lists of objects, of a source. The source may be
// one document, many lines, or both, mixed with other output. skipped counts the
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

// skipSpace skips blanks and returns the next byte without consuming it.
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
	ahead, _ := in.Peek(headBytes / 2) // an error occurs again when the bytes are read
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

// value reads one object or list, up to its closing bracket.
func (in *input) value(line *int) ([]byte, error) {
	var data bytes.Buffer
	var scan bracketScan
	for {
		if _, err := in.Peek(1); errors.Is(err, io.EOF) {
			return nil, errors.New("the JSON that starts here does not end: is the output truncated?")
		} else if err != nil {
			return nil, err
		}
		chunk, _ := in.Peek(in.Buffered()) // peeking at buffered bytes cannot fail
		n, closed := scan.closes(chunk)
		data.Write(chunk[:n])
		*line += bytes.Count(chunk[:n], []byte{'\n'})
		_, _ = in.Discard(n)
		if closed {
			return data.Bytes(), nil
		}
		if int64(data.Len()) > in.limits.document {
			return nil, fmt.Errorf("the JSON that starts here is larger than %s: write one record per line", size(in.limits.document))
		}
	}
}

// bracketScan tracks brackets and strings through the chunks of a value.
type bracketScan struct {
	depth           int
	quoted, escaped bool
}

// closes returns how many bytes of the chunk belong to the value, and whether it
// ends there.
func (s *bracketScan) closes(chunk []byte) (n int, closed bool) {
	for i, c := range chunk {
		switch {
		case s.escaped:
			s.escaped = false
		case s.quoted:
			s.escaped, s.quoted = c == '\\', c != '"'
		case c == '"':
			s.quoted = true
		case c == '{' || c == '[':
			s.depth++
		case c == '}' || c == ']':
			if s.depth--; s.depth == 0 {
				return i + 1, true
			}
		}
	}
	return len(chunk), false
}
