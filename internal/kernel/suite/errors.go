package suite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/spell"
)

// Error is one mistake in a suite file, with its position.
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

// Errors holds all mistakes in a suite, sorted by file and position.
type Errors []*Error

const (
	printedErrors = 20
	keptErrors    = 1000 // bounds memory for a file full of mistakes
)

// Error prints one mistake per line, at most 20.
func (e Errors) Error() string {
	var b strings.Builder
	for i, err := range e {
		if i == printedErrors {
			fmt.Fprintf(&b, "\nand %d more", len(e)-i)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(err.Error())
	}
	return b.String()
}

// Unwrap returns the individual mistakes, for errors.As.
func (e Errors) Unwrap() []error {
	errs := make([]error, len(e))
	for i, err := range e {
		errs[i] = err
	}
	return errs
}

// problems collects mistakes while reading a suite.
type problems struct {
	list  []*Error
	found int      // includes those past the limit
	files []string // in the order read, in which mistakes are reported
}

func (p *problems) add(at *node, hint, format string, args ...any) {
	p.addAt(at.pos(), hint, format, args...)
}

func (p *problems) addAt(at position, hint, format string, args ...any) {
	p.found++
	if len(p.list) < keptErrors {
		p.list = append(p.list, at.problem(hint, format, args...))
	}
}

// err returns the mistakes, sorted and without duplicates: a value that several
// implementations inherit is checked several times.
func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	return Errors(p.sorted(p.list))
}

func (p *problems) sorted(list []*Error) []*Error {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *Error) int {
		return cmp.Or(
			cmp.Compare(slices.Index(p.files, a.File), slices.Index(p.files, b.File)),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), cmp.Compare(a.Msg, b.Msg),
		)
	})
	return slices.CompactFunc(list, func(a, b *Error) bool { return *a == *b })
}

// longForms maps words that users write in full to the shorter key. By spelling alone, the nearest
// key would be a different one with another meaning.
var longForms = map[string]string{"input": "in", "output": "out"}

// didYouMean returns a hint for a misspelled word: the nearest known word, or else all of them.
func didYouMean(word string, known []string) string {
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
