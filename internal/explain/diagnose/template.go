package diagnose

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
)

// template is a text with values in braces: "{dram_pct} of the peak", or with an expression and the
// unit of its result: "{32 - threads_per_warp | threads}".
type template []piece

type piece struct {
	text  string // used if value is nil
	value *expr.Expr
	unit  string
}

// template reads a template from a node.
func (r *reader) template(n *yaml.Node, what string) template {
	var t template
	rest := r.short(n, what)
	for {
		before, after, found := strings.Cut(rest, "{")
		if before != "" {
			t = append(t, piece{text: before})
		}
		if !found {
			return t
		}
		inside, behind, closed := strings.Cut(after, "}")
		if !closed {
			r.fail(n, "", "%s: { is not closed", what)
			return t
		}
		rest = behind
		source, unit, given := strings.Cut(inside, "|")
		source, unit = strings.TrimSpace(source), strings.TrimSpace(unit)
		if source == "" {
			r.fail(n, "", "%s: the braces are empty", what)
			return t
		}
		e := r.expression(n, source, r.at(n), what, amount, nil)
		if e == nil {
			return t
		}
		if q, ok := quantity(source); ok && !given {
			unit = q.Unit
		}
		t = append(t, piece{value: e, unit: unit})
	}
}

// fill inserts the values; it returns false if one of them was not measured.
func (t template) fill(v values) (string, bool) {
	var b strings.Builder
	for _, p := range t {
		if p.value == nil {
			b.WriteString(p.text)
			continue
		}
		x, err := p.value.Number(v)
		if err != nil {
			return "", false
		}
		b.WriteString(inWords(x, p.unit))
	}
	return b.String(), b.Len() > 0
}

// sentence turns a clause into a sentence: a capital at the start, a period at the end.
func sentence(clause string) string {
	first, size := utf8.DecodeRuneInString(clause)
	if size == 0 {
		return ""
	}
	s := string(unicode.ToUpper(first)) + clause[size:]
	if !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, "?") {
		s += "."
	}
	return s
}
