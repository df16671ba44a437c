package lesson

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// MistakeError is one thing that is wrong with a lesson's file, at the place where it is.
type MistakeError struct {
	File      string
	Line, Col int
	Msg       string
	Hint      string // what to do instead, where that is known
}

func (m *MistakeError) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", m.File, m.Line, m.Col, m.Msg)
	if m.Hint != "" {
		s += " (" + m.Hint + ")"
	}
	return s
}

// MistakesError is everything that is wrong with a file, in the order of its lines.
type MistakesError []*MistakeError

// mostMistakes bounds what a file of nonsense can make pawl say.
const mostMistakes = 20

func (e MistakesError) Error() string {
	var lines []string
	for i, m := range e {
		if i == mostMistakes {
			lines = append(lines, fmt.Sprintf("and %d more", len(e)-i))
			break
		}
		lines = append(lines, m.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives errors.As the single mistakes.
func (e MistakesError) Unwrap() []error {
	errs := make([]error, len(e))
	for i, m := range e {
		errs[i] = m
	}
	return errs
}

// err is what was found, sorted; nil for nothing.
func (e MistakesError) err() error {
	if len(e) == 0 {
		return nil
	}
	slices.SortStableFunc(e, func(a, b *MistakeError) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return e
}
