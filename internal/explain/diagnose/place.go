package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// place is a position in a rule file, counted from 1.
type place struct {
	file      string
	line, col int
}

// RuleError is one mistake in a rule file, with its position.
type RuleError struct {
	File      string
	Line, Col int
	Msg       string
	Hint      string // what to do instead, if known
}

func (e *RuleError) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// RuleErrors holds all mistakes in a rule file, sorted by line.
type RuleErrors []*RuleError

// maxErrors is the max number of reported mistakes per file.
const maxErrors = 20

func (e RuleErrors) Error() string {
	lines := make([]string, 0, maxErrors+1)
	for i, err := range e {
		if i == maxErrors {
			lines = append(lines, fmt.Sprintf("and %d more", len(e)-i))
			break
		}
		lines = append(lines, err.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the single mistakes, for errors.As.
func (e RuleErrors) Unwrap() []error {
	errs := make([]error, len(e))
	for i, err := range e {
		errs[i] = err
	}
	return errs
}

// add records a mistake.
func (e *RuleErrors) add(at place, hint, format string, args ...any) {
	*e = append(*e, &RuleError{File: at.file, Line: at.line, Col: at.col, Msg: fmt.Sprintf(format, args...), Hint: hint})
}

// err returns the mistakes, sorted; nil if there are none.
func (e RuleErrors) err() error {
	if len(e) == 0 {
		return nil
	}
	slices.SortStableFunc(e, func(a, b *RuleError) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return e
}
