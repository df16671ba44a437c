package expr

import "fmt"

// Layout gives every variable a slot in a slice of float64, and every value a code that fits
// into it: numbers are themselves, true is 1, texts are numbered in order of appearance. An
// expression bound to it runs millions of times per second, where a map of names would take a
// microsecond.
type Layout struct {
	slots map[string]slot
	texts map[string]float64
}

type slot struct {
	index int
	kind  kind
	texts []string // all values of a text variable, for sizeof
}

// NewLayout returns a layout without variables.
func NewLayout() *Layout {
	return &Layout{slots: map[string]slot{}, texts: map[string]float64{}}
}

// Add gives a variable the next slot and returns the codes of its values. The values must be of
// one kind: if B is sometimes text, B == 16 is a mistake.
func (l *Layout) Add(name string, values []any) ([]float64, error) {
	if _, twice := l.slots[name]; twice {
		return nil, fmt.Errorf("variable %q appears twice", name)
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("variable %q has no values", name)
	}
	s := slot{index: len(l.slots)}
	codes := make([]float64, len(values))
	for i, x := range values {
		v, ok := valueOf(x)
		if !ok {
			return nil, fmt.Errorf("value %v of variable %q must be a number, text, true or false", x, name)
		}
		if i > 0 && v.kind != s.kind {
			return nil, fmt.Errorf("variable %q has values of different types: %s and %s", name, s.kind, v)
		}
		s.kind = v.kind
		if v.kind == text {
			s.texts = append(s.texts, v.text)
		}
		codes[i] = l.code(v)
	}
	l.slots[name] = s
	return codes, nil
}

func (l *Layout) code(v value) float64 {
	switch v.kind {
	case text:
		c, ok := l.texts[v.text]
		if !ok {
			c = float64(len(l.texts))
			l.texts[v.text] = c
		}
		return c
	case boolean:
		return truth(v.yes)
	default:
		return v.num
	}
}

func truth(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
