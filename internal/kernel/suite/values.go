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
	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
)

// Single values of a file that have their own syntax. Each keeps the node it came from; nil
// means unset.

// text accepts only text: a number must be quoted.
type text struct {
	string
	at *strictyaml.Node
}

func (t *text) ReadYAML(d *strictyaml.Decoder, n *strictyaml.Node, f strictyaml.Field) {
	if !n.IsText() {
		hint := ""
		if n.Kind == strictyaml.Scalar && !n.IsNull() {
			hint = fmt.Sprintf("write %q", n.Text)
		}
		d.Add(n, hint, "%s: expected text, got %s", f.Key, n.Describe())
		return
	}
	if utf8.RuneCountInString(n.Text) > maxText {
		d.Add(n, "put it in a script", "%s has more than %d characters", f.Key, maxText)
		return
	}
	*t = text{n.Text, n}
}

// maxText is the maximum length of a text, which is repeated for every variant.
const maxText = 10_000

func (*text) schema(*schemaWriter, strictyaml.Field) object {
	return object{"type": "string", "maxLength": maxText}
}

// loose accepts a single value of any kind, as written: an index or a UUID, the value of an
// environment variable.
type loose struct {
	string
	at *strictyaml.Node
}

func (l *loose) ReadYAML(d *strictyaml.Decoder, n *strictyaml.Node, f strictyaml.Field) {
	if n.Kind != strictyaml.Scalar || n.IsNull() {
		d.Want(n, f, "a single value")
		return
	}
	if utf8.RuneCountInString(n.Text) > maxText {
		d.Add(n, "put it in a file", "%s has more than %d characters", f.Key, maxText)
		return
	}
	*l = loose{n.Text, n}
}

func (*loose) schema(*schemaWriter, strictyaml.Field) object {
	return object{"type": []string{"string", "number", "boolean"}, "maxLength": maxText}
}

// scalar is the value of a parameter: a number, text, or true or false.
type scalar struct {
	value any // float64, string or bool
	at    *strictyaml.Node
}

const maxParamText = 100

// exact reports whether float64 represents a whole number exactly, as it does up to 2^53.
func exact(text string) bool {
	x, err := strconv.ParseInt(text, 0, 64)
	return err == nil && int64(float64(x)) == x && float64(x) < math.MaxInt64
}

func (s *scalar) ReadYAML(d *strictyaml.Decoder, n *strictyaml.Node, f strictyaml.Field) {
	s.at = n
	switch {
	case n.IsNumber():
		if n.Tag == "int" && !exact(n.Text) {
			d.Add(n, "quote it", "%s: %s is too large to be stored exactly", f.Key, n.Text)
			return
		}
		s.value = n.Num
	case n.IsBool():
		s.value = strings.EqualFold(n.Text, "true")
	case n.IsText():
		if len(n.Text) > maxParamText || !printable(n.Text) {
			d.Add(n, "", "%s: expected at most %d printable characters, got %s", f.Key, maxParamText, n.Describe())
			return
		}
		s.value = n.Text
	default:
		d.Want(n, f, "a number, text, true or false")
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

func (*scalar) schema(*schemaWriter, strictyaml.Field) object {
	return object{"type": []string{"number", "string", "boolean"}}
}

// duration is a time span, written with its unit.
type duration struct {
	time.Duration
	at *strictyaml.Node
}

const durationPattern = `^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$`

var durationSpelling = lazyregexp.New(durationPattern)

func (t *duration) ReadYAML(d *strictyaml.Decoder, n *strictyaml.Node, f strictyaml.Field) {
	if n.IsNumber() {
		d.Add(n, fmt.Sprintf("write %ss or %sm", n.Text, n.Text), "%s: %s has no unit", f.Key, n.Text)
		return
	}
	if !n.IsText() {
		d.Want(n, f, "a time such as 90s or 10m")
		return
	}
	x, err := time.ParseDuration(n.Text)
	if err != nil || !durationSpelling.MatchString(n.Text) || x <= 0 {
		d.Add(n, "", "%s: expected a time such as 90s or 10m, got %s", f.Key, n.Describe())
		return
	}
	*t = duration{x, n}
}

func (*duration) schema(*schemaWriter, strictyaml.Field) object {
	return object{"type": "string", "pattern": durationPattern}
}

// clocks is a gpu.ClockPolicy.
type clocks struct {
	gpu.ClockPolicy
	at *strictyaml.Node
}

const clocksPattern = `^(free|base|max|[1-9][0-9]{0,4}MHz)$`

var clocksSpelling = lazyregexp.New(clocksPattern)

func (c *clocks) ReadYAML(d *strictyaml.Decoder, n *strictyaml.Node, f strictyaml.Field) {
	hint := ""
	if n.IsNumber() {
		hint = "write " + n.Text + "MHz"
	}
	if !n.IsText() || !clocksSpelling.MatchString(n.Text) {
		d.Add(n, hint, "%s: expected free, base, max or a frequency such as 1500MHz, got %s", f.Key, n.Describe())
		return
	}
	policy, err := gpu.ParseClockPolicy(n.Text)
	if err != nil {
		d.Add(n, hint, "%s: %v", f.Key, err)
		return
	}
	*c = clocks{policy, n}
}

func (*clocks) schema(*schemaWriter, strictyaml.Field) object {
	return object{"type": "string", "pattern": clocksPattern}
}

// share is a fraction: 3% or 0.03. It may be 0 only if the field has a min tag.
type share struct {
	value float64
	at    *strictyaml.Node
}

const sharePattern = `^[0-9]+(\.[0-9]+)?\s?%$`

var shareSpelling = lazyregexp.New(sharePattern)

func (s *share) ReadYAML(d *strictyaml.Decoder, n *strictyaml.Node, f strictyaml.Field) {
	value := n.Num
	if n.IsText() && shareSpelling.MatchString(n.Text) {
		percent, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(n.Text, "%")), 64)
		if err == nil {
			value = percent / 100
		}
	} else if !n.IsNumber() {
		d.Want(n, f, "a share such as 3% or 0.03")
		return
	}
	if !(value > 0 && value < 1) && !(value == 0 && f.Min != nil) {
		hint := ""
		if n.IsNumber() && value >= 1 {
			hint = fmt.Sprintf("write %s%%", n.Text)
		}
		d.Add(n, hint, "%s: expected a share above 0%% and below 100%%, got %s", f.Key, n.Describe())
		return
	}
	*s = share{value, n}
}

func (*share) schema(_ *schemaWriter, f strictyaml.Field) object {
	number := object{"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
	if f.Min != nil {
		delete(number, "exclusiveMinimum")
		number["minimum"] = 0
	}
	return object{"anyOf": []object{{"type": "string", "pattern": sharePattern}, number}}
}

// formula is an expression or a plain number.
type formula struct {
	*expr.Expr
	key string // key whose value it computes
	at  *strictyaml.Node
	// listed names the benchmark if the expression comes from a harness and not from the file.
	listed string
}

func (x formula) set() bool { return x.Expr != nil }

func (x *formula) ReadYAML(d *strictyaml.Decoder, n *strictyaml.Node, f strictyaml.Field) {
	x.compile(d, n, f, expr.Compile)
}

func (x *formula) compile(d *strictyaml.Decoder, n *strictyaml.Node, f strictyaml.Field, compile func(string) (*expr.Expr, error)) {
	source := n.Text
	switch {
	case n.IsNumber():
		source = strconv.FormatFloat(n.Num, 'g', -1, 64)
	case !n.IsText():
		d.Want(n, f, "an expression")
		return
	}
	compiled, err := compile(source)
	if err != nil {
		addExpression(d.Problems, formula{key: f.Key, at: n}, err)
		return
	}
	*x = formula{Expr: compiled, key: f.Key, at: n}
}

func (*formula) schema(*schemaWriter, strictyaml.Field) object {
	return object{"type": []string{"string", "number"}, "minLength": 1}
}
