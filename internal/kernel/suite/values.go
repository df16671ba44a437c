package suite

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
)

// Single values of a file that have their own syntax. Each keeps the node it came from; nil
// means unset.

// text accepts only text: a number must be quoted.
type text struct {
	string
	at *node
}

func (t *text) read(d *decoder, n *node, f field) {
	if !n.isText() {
		hint := ""
		if n.kind == scalarNode && !n.isNull() {
			hint = fmt.Sprintf("write %q", n.text)
		}
		d.add(n, hint, "%s: expected text, got %s", f.key, n.describe())
		return
	}
	if utf8.RuneCountInString(n.text) > maxText {
		d.add(n, "put it in a script", "%s has more than %d characters", f.key, maxText)
		return
	}
	*t = text{n.text, n}
}

// maxText is the maximum length of a text, which is repeated for every variant.
const maxText = 10_000

func (*text) schema(*schemaWriter, field) object {
	return object{"type": "string", "maxLength": maxText}
}

// loose accepts a single value of any kind, as written: an index or a UUID, the value of an
// environment variable.
type loose struct {
	string
	at *node
}

func (l *loose) read(d *decoder, n *node, f field) {
	if n.kind != scalarNode || n.isNull() {
		d.want(n, f, "a single value")
		return
	}
	if utf8.RuneCountInString(n.text) > maxText {
		d.add(n, "put it in a file", "%s has more than %d characters", f.key, maxText)
		return
	}
	*l = loose{n.text, n}
}

func (*loose) schema(*schemaWriter, field) object {
	return object{"type": []string{"string", "number", "boolean"}, "maxLength": maxText}
}

// scalar is the value of a parameter: a number, text, or true or false.
type scalar struct {
	value any // float64, string or bool
	at    *node
}

const maxParamText = 100

// exact reports whether float64 represents a whole number exactly, as it does up to 2^53.
func exact(text string) bool {
	x, err := strconv.ParseInt(text, 0, 64)
	return err == nil && int64(float64(x)) == x && float64(x) < math.MaxInt64
}

func (s *scalar) read(d *decoder, n *node, f field) {
	s.at = n
	switch {
	case n.isNumber():
		if n.tag == "int" && !exact(n.text) {
			d.add(n, "quote it", "%s: %s is too large to be stored exactly", f.key, n.text)
			return
		}
		s.value = n.num
	case n.isBool():
		s.value = strings.EqualFold(n.text, "true")
	case n.isText():
		if len(n.text) > maxParamText || !printable(n.text) {
			d.add(n, "", "%s: expected at most %d printable characters, got %s", f.key, maxParamText, n.describe())
			return
		}
		s.value = n.text
	default:
		d.want(n, f, "a number, text, true or false")
	}
}

func printable(s string) bool {
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

func (*scalar) schema(*schemaWriter, field) object {
	return object{"type": []string{"number", "string", "boolean"}}
}

// duration is a time span, written with its unit.
type duration struct {
	time.Duration
	at *node
}

const durationPattern = `^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$`

var durationSpelling = lazyregexp.New(durationPattern)

func (t *duration) read(d *decoder, n *node, f field) {
	if n.isNumber() {
		d.add(n, fmt.Sprintf("write %ss or %sm", n.text, n.text), "%s: %s has no unit", f.key, n.text)
		return
	}
	if !n.isText() {
		d.want(n, f, "a time such as 90s or 10m")
		return
	}
	x, err := time.ParseDuration(n.text)
	if err != nil || !durationSpelling.MatchString(n.text) || x <= 0 {
		d.add(n, "", "%s: expected a time such as 90s or 10m, got %s", f.key, n.describe())
		return
	}
	*t = duration{x, n}
}

func (*duration) schema(*schemaWriter, field) object {
	return object{"type": "string", "pattern": durationPattern}
}

// clocks is a gpu.ClockPolicy.
type clocks struct {
	gpu.ClockPolicy
	at *node
}

const clocksPattern = `^(free|base|max|[1-9][0-9]{0,4}MHz)$`

var clocksSpelling = lazyregexp.New(clocksPattern)

func (c *clocks) read(d *decoder, n *node, f field) {
	hint := ""
	if n.isNumber() {
		hint = "write " + n.text + "MHz"
	}
	if !n.isText() || !clocksSpelling.MatchString(n.text) {
		d.add(n, hint, "%s: expected free, base, max or a frequency such as 1500MHz, got %s", f.key, n.describe())
		return
	}
	policy, err := gpu.ParseClockPolicy(n.text)
	if err != nil {
		d.add(n, hint, "%s: %v", f.key, err)
		return
	}
	*c = clocks{policy, n}
}

func (*clocks) schema(*schemaWriter, field) object {
	return object{"type": "string", "pattern": clocksPattern}
}

// share is a fraction: 3% or 0.03. It may be 0 only if the field has a min tag.
type share struct {
	value float64
	at    *node
}

const sharePattern = `^[0-9]+(\.[0-9]+)?\s?%$`

var shareSpelling = lazyregexp.New(sharePattern)

func (s *share) read(d *decoder, n *node, f field) {
	value := n.num
	if n.isText() && shareSpelling.MatchString(n.text) {
		percent, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(n.text, "%")), 64)
		if err == nil {
			value = percent / 100
		}
	} else if !n.isNumber() {
		d.want(n, f, "a share such as 3% or 0.03")
		return
	}
	if !(value > 0 && value < 1) && !(value == 0 && f.min != nil) {
		hint := ""
		if n.isNumber() && value >= 1 {
			hint = fmt.Sprintf("write %s%%", n.text)
		}
		d.add(n, hint, "%s: expected a share above 0%% and below 100%%, got %s", f.key, n.describe())
		return
	}
	*s = share{value, n}
}

func (*share) schema(_ *schemaWriter, f field) object {
	number := object{"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
	if f.min != nil {
		delete(number, "exclusiveMinimum")
		number["minimum"] = 0
	}
	return object{"anyOf": []object{{"type": "string", "pattern": sharePattern}, number}}
}

// formula is an expression or a plain number.
type formula struct {
	*expr.Expr
	key string // key whose value it computes
	at  *node
	// listed names the benchmark if the expression comes from a harness and not from the file.
	listed string
}

func (x formula) set() bool { return x.Expr != nil }

func (x *formula) read(d *decoder, n *node, f field) { x.compile(d, n, f, expr.Compile) }

func (x *formula) compile(d *decoder, n *node, f field, compile func(string) (*expr.Expr, error)) {
	source := n.text
	switch {
	case n.isNumber():
		source = strconv.FormatFloat(n.num, 'g', -1, 64)
	case !n.isText():
		d.want(n, f, "an expression")
		return
	}
	compiled, err := compile(source)
	if err != nil {
		d.expression(formula{key: f.key, at: n}, err)
		return
	}
	*x = formula{Expr: compiled, key: f.key, at: n}
}

func (*formula) schema(*schemaWriter, field) object {
	return object{"type": []string{"string", "number"}, "minLength": 1}
}

var (
	_ customSyntax = (*text)(nil)
	_ customSyntax = (*loose)(nil)
	_ customSyntax = (*scalar)(nil)
	_ customSyntax = (*duration)(nil)
	_ customSyntax = (*clocks)(nil)
	_ customSyntax = (*share)(nil)
	_ customSyntax = (*formula)(nil)
	_ customSyntax = (*filter)(nil)
)
