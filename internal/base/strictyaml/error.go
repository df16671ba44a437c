package strictyaml

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/spell"
)

// Position is a place in a file; columns count characters, from 1.
type Position struct {
	File      string
	Line, Col int
}

// Error is one mistake in a file, with its position.
type Error struct {
	File      string
	Line, Col int // from 1
	Msg       string
	Hint      string // how to fix it; empty if unknown
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Errors holds all mistakes in a file and the files it extends, sorted by file and position.
type Errors []*Error

const (
	printedErrors = 20
	keptErrors    = 1000 // bounds memory for a file full of mistakes
)

// Error prints one mistake per line, at most 20.
func (e Errors) Error() string {
	var lines []string
	for i, err := range e {
		if i == printedErrors {
			lines = append(lines, fmt.Sprintf("and %d more", len(e)-i))
			break
		}
		lines = append(lines, err.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the individual mistakes, for errors.As.
func (e Errors) Unwrap() []error {
	errs := make([]error, len(e))
	for i, err := range e {
		errs[i] = err
	}
	return errs
}

// Problems collects mistakes while reading.
type Problems struct {
	Files []string // in the order in which their mistakes are reported; other files follow by name
	Found int      // includes those past the limit
	list  []*Error
}

// Add records a mistake at a value.
func (p *Problems) Add(at *Node, hint, format string, args ...any) {
	p.AddAt(at.Pos(), hint, format, args...)
}

// AddAt records a mistake at a position.
func (p *Problems) AddAt(at Position, hint, format string, args ...any) {
	p.Found++
	if len(p.list) < keptErrors {
		p.list = append(p.list, &Error{File: at.File, Line: at.Line, Col: at.Col, Msg: fmt.Sprintf(format, args...), Hint: hint})
	}
}

// Err returns the mistakes as Errors; nil if there are none.
func (p *Problems) Err() error {
	if list := p.All(); list != nil {
		return list
	}
	return nil
}

// All returns the mistakes, sorted and without duplicates: a value that several parts of a file inherit is
// checked several times.
func (p *Problems) All() Errors {
	seen := map[Error]bool{}
	list := slices.DeleteFunc(slices.Clone(p.list), func(e *Error) bool {
		twice := seen[*e]
		seen[*e] = true
		return twice
	})
	slices.SortStableFunc(list, func(a, b *Error) int {
		return cmp.Or(
			cmp.Compare(slices.Index(p.Files, a.File), slices.Index(p.Files, b.File)), strings.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col),
		)
	})
	return list
}

// longForms maps words that users write in full to the shorter key. By spelling alone, the nearest
// key would be a different one with another meaning.
var longForms = map[string]string{"input": "in", "output": "out"}

// DidYouMean returns a hint for a misspelled word: the nearest known word, or else all of them.
func DidYouMean(word string, known []string) string {
	if len(known) > 1000 { // too many to search for every mistake
		return ""
	}
	if full, ok := longForms[word]; ok && slices.Contains(known, full) {
		return fmt.Sprintf("did you mean %q?", full)
	}
	if near := spell.Nearest(word, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(known) == 0 || len(known) > 20 {
		return ""
	}
	return "known: " + strings.Join(known, ", ")
}

// Shorten returns a text in at most 40 characters, for a message.
func Shorten(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "..."
	}
	return s
}
