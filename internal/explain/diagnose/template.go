package diagnose

import (
	"errors"
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

// parseTemplate splits a text. compile returns the expression of a value, and its unit if the text gives none.
func parseTemplate(text string, compile func(source string) (*expr.Expr, string, error)) (template, error) {
	var t template
	for {
		before, after, found := strings.Cut(text, "{")
		if before != "" {
			t = append(t, piece{text: before})
		}
		if !found {
			return t, nil
		}
		inside, rest, closed := strings.Cut(after, "}")
		if !closed {
			return t, errors.New("{ is not closed")
		}
		source, given, own := strings.Cut(inside, "|")
		if source = strings.TrimSpace(source); source == "" {
			return t, errors.New("the braces are empty")
		}
		e, unit, err := compile(source)
		if err != nil {
			return t, err
		}
		if own {
			unit = strings.TrimSpace(given)
		}
		t, text = append(t, piece{value: e, unit: unit}), rest
	}
}

// errReported means that the mistake is already recorded.
var errReported = errors.New("already reported")

// template reads a template from a node.
func (r *reader) template(n *yaml.Node, what string) template {
	t, err := parseTemplate(r.short(n, what), func(source string) (*expr.Expr, string, error) {
		e := r.expression(n, source, r.At(n), what, amount, nil)
		if e == nil {
			return nil, "", errReported
		}
		q, _ := quantity(source)
		return e, q.Unit, nil
	})
	if err != nil && !errors.Is(err, errReported) {
		r.Fail(n, "", "%s: %v", what, err)
	}
	return t
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
