package suite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/suite/spell"
)

// Error is one mistake in a suite file, at the place where it was made.
type Error struct {
	File      string
	Line, Col int // from 1
	Msg       string
	Hint      string // what to do instead, where that is known
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Errors is everything that is wrong with a suite, sorted by file and position.
type Errors []*Error

const (
	printedErrors = 20
	keptErrors    = 1000 // a file of nonsense must not cost memory
)

// Error prints one mistake a line, at most 20 of them.
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

// Unwrap gives errors.As the single mistakes.
func (e Errors) Unwrap() []error {
	errs := make([]error, len(e))
	for i, err := range e {
		errs[i] = err
	}
	return errs
}

// problems collects mistakes while a suite is read.
type problems struct {
	list  []*Error
	found int      // also those past the limit
	files []string // in the order read: mistakes are reported in it
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

// err returns what was found, sorted, without repeats: a value that several
// implementations inherit is looked at several times.
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

// inFull are words that people write for a shorter key. The nearest spelling is another one,
// and would silently mean something else.
var inFull = map[string]string{"input": "in", "output": "out"}

// didYouMean is a hint for a misspelt word; without a near one it lists what there is.
func didYouMean(word string, known []string) string {
	if len(known) > 1000 { // too many to look through for every mistake
		return ""
	}
	if full, ok := inFull[word]; ok && slices.Contains(known, full) {
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
