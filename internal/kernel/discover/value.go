package discover

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// Limits on the values in a source, which is untrusted.
const (
	maxCall   = 64 << 10 // bytes between two brackets
	maxValues = 4_096    // computed for one expression
	maxInside = 30       // brackets in brackets
)

// arguments splits the text between the bracket at open and the one that closes it at its commas. end is the position
// behind the closing bracket. It understands strings and comments of Python and C.
func arguments(text string, open int) (list []string, end int, ok bool) {
	if open < 0 || open >= len(text) || !strings.ContainsRune("([{", rune(text[open])) {
		return nil, open, false
	}
	depth, start := 0, open+1
	for i := open; i < len(text) && i < open+maxCall; i++ {
		switch c := text[i]; c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				if last := uncomment(text[start:i]); last != "" {
					list = append(list, last)
				}
				return list, i + 1, true
			}
		case ',':
			if depth == 1 {
				list, start = append(list, uncomment(text[start:i])), i+1
			}
		case '"', '\'', '#', '/':
			i = skipText(text, i)
		}
		if depth > maxInside {
			break
		}
	}
	return nil, open, false
}

// uncomment returns a text without the comments of Python and the space around it.
func uncomment(text string) string {
	if !strings.Contains(text, "#") {
		return strings.TrimSpace(text)
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		from := i
		if strings.IndexByte("#\"'", text[i]) >= 0 {
			i = skipText(text, i)
		}
		if text[from] != '#' {
			b.WriteString(text[from:min(i+1, len(text))])
		}
	}
	return strings.TrimSpace(b.String())
}

// skipText returns the position of the last byte of the string or comment that starts at i, or i if none does.
func skipText(text string, i int) int {
	var stop string
	switch c := text[i]; {
	case c == '#' || strings.HasPrefix(text[i:], "//") && i > 0 && text[i-1] == '\n':
		stop = "\n"
	case c == '/':
		return i
	case strings.HasPrefix(text[i:], `"""`) || strings.HasPrefix(text[i:], "'''"):
		stop = text[i : i+3]
	default:
		for j := i + 1; j < len(text) && text[j] != '\n'; j++ {
			switch text[j] {
			case '\\':
				j++
			case c:
				return j
			}
		}
		return i
	}
	if at := strings.Index(text[i+len(stop):], stop); at >= 0 {
		return i + at + 2*len(stop) - 1
	}
	return len(text)
}

// indexFrom returns the position of a byte at or behind a position, or -1.
func indexFrom(text string, c byte, from int) int {
	if i := strings.IndexByte(text[from:], c); i >= 0 {
		return from + i
	}
	return -1
}

// first returns the first of a list, or "".
func first(list []string) string { return append(slices.Clip(list), "")[0] }

var (
	braces       = strings.NewReplacer("{", "[", "}", "]")
	nvbenchRange = lazyregexp.New(`\bnvbench::range\b`)
	loopOver     = lazyregexp.New(`(?s)^(.*?)\bfor\s+([A-Za-z_]\w*)\s+in\s+(.*)$`)
)

// names resolves a variable of a source.
type names func(name string) (any, bool)

// evaluate computes a literal as Python does: numbers, strings, lists, ranges, comprehensions and arithmetic of whole
// numbers. It runs nothing. Values are float64, string, bool and []any; ok is false for anything else.
func evaluate(text string, known names) (value any, ok bool) {
	left := maxValues
	return (&evaluation{text: text, known: known, left: &left}).whole()
}

// evaluation is a position in an expression.
type evaluation struct {
	text  string
	at    int
	known names
	left  *int // values that may still be computed
	depth int
}

// inside evaluates a part of the expression, with one more variable if name is set.
func (e *evaluation) inside(text, name string, value any) (any, bool) {
	known := e.known
	if name != "" {
		known = func(n string) (any, bool) {
			if n == name {
				return value, true
			}
			return e.lookup(n)
		}
	}
	return (&evaluation{text: text, known: known, left: e.left, depth: e.depth + 1}).whole()
}

func (e *evaluation) lookup(name string) (any, bool) {
	if e.known == nil {
		return nil, false
	}
	return e.known(name)
}

func (e *evaluation) whole() (any, bool) {
	if *e.left--; *e.left < 0 || e.depth > maxInside {
		return nil, false
	}
	v, ok := e.binary(0)
	e.space()
	return v, ok && e.at == len(e.text)
}

func (e *evaluation) space() {
	for e.at < len(e.text) && strings.ContainsRune(" \t\r\n\\", rune(e.text[e.at])) {
		e.at++
	}
}

// operators lists the binary operators, those that bind least first.
var operators = [][]string{{"<<", ">>"}, {"+", "-"}, {"*", "//", "/", "%"}}

func (e *evaluation) binary(level int) (any, bool) {
	if level == len(operators) {
		return e.power()
	}
	left, ok := e.binary(level + 1)
	for ok {
		e.space()
		rest := e.text[e.at:]
		at := slices.IndexFunc(operators[level], func(op string) bool { return strings.HasPrefix(rest, op) && !strings.HasPrefix(rest, "**") })
		if at < 0 {
			return left, true
		}
		op := operators[level][at]
		e.at += len(op)
		var right any
		if right, ok = e.binary(level + 1); ok {
			left, ok = compute(left, op, right)
		}
	}
	return nil, false
}

func (e *evaluation) power() (any, bool) {
	sign := 1.0
	for e.space(); strings.HasPrefix(e.text[e.at:], "-"); e.space() {
		e.at++
		sign = -sign
	}
	v, ok := e.primary()
	if e.space(); ok && strings.HasPrefix(e.text[e.at:], "**") {
		e.at += 2
		var exponent any
		if exponent, ok = e.power(); ok {
			v, ok = compute(v, "**", exponent)
		}
	}
	if sign < 0 {
		return compute(-1.0, "*", v)
	}
	return v, ok
}

// compute applies an operator to two numbers, or joins two lists. Results that a float64 does not hold exactly are no
// values.
func compute(a any, op string, b any) (any, bool) {
	x, isX := a.(float64)
	y, isY := b.(float64)
	if !isX || !isY {
		l, isL := a.([]any)
		r, isR := b.([]any)
		return slices.Concat(l, r), isL && isR && op == "+" && len(l)+len(r) <= maxValues
	}
	v := math.NaN()
	switch op {
	case "+":
		v = x + y
	case "-":
		v = x - y
	case "*":
		v = x * y
	case "/":
		v = x / y
	case "//":
		v = math.Floor(x / y)
	case "%":
		v = x - y*math.Floor(x/y)
	case "**":
		v = math.Pow(x, y)
	case "<<":
		v = x * math.Pow(2, y)
	case ">>":
		v = math.Floor(x / math.Pow(2, y))
	}
	return v, math.Abs(v) < 1<<53
}

var (
	numberWord = lazyregexp.New(`^(?:0[xX][0-9a-fA-F]+|[0-9][0-9_]*(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)`)
	dottedName = lazyregexp.New(`^[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)*`)
	plainText  = lazyregexp.New(`^[^\\\n]*$`)
)

func (e *evaluation) primary() (any, bool) {
	e.space()
	if e.at >= len(e.text) {
		return nil, false
	}
	switch c := e.text[e.at]; c {
	case '"', '\'':
		end := skipText(e.text, e.at)
		s := strings.Trim(e.text[e.at:min(end+1, len(e.text))], string(c))
		e.at = end + 1
		return s, plainText.MatchString(s) && end < len(e.text)
	case '[', '(':
		args, end, ok := arguments(e.text, e.at)
		if !ok {
			return nil, false
		}
		tuple := c == '[' || len(args) != 1 || strings.HasSuffix(strings.TrimSpace(e.text[e.at:end-1]), ",")
		e.at = end
		if !tuple {
			return e.inside(args[0], "", nil)
		}
		return e.list(args)
	}
	if word := numberWord.FindString(e.text[e.at:]); word != "" {
		e.at += len(word)
		word = strings.ReplaceAll(word, "_", "")
		if n, err := strconv.ParseInt(word, 0, 53); err == nil {
			return float64(n), true
		}
		n, err := strconv.ParseFloat(word, 64)
		return n, err == nil
	}
	return e.word()
}

// word evaluates a name or a call.
func (e *evaluation) word() (any, bool) {
	name := dottedName.FindString(e.text[e.at:])
	if e.at += len(name); name == "" {
		return nil, false
	}
	if strings.HasPrefix(e.text[e.at:], "(") {
		args, end, ok := arguments(e.text, e.at)
		if !ok {
			return nil, false
		}
		e.at = end
		return e.call(name, args)
	}
	switch name {
	case "True", "true":
		return true, true
	case "False", "false":
		return false, true
	}
	if library, element, ok := strings.Cut(name, "."); ok && (library == "torch" || library == "tl" || library == "jnp") {
		return element, true // a type of elements
	}
	return e.lookup(name)
}

// call evaluates the few functions that make lists.
func (e *evaluation) call(name string, args []string) (any, bool) {
	var values []float64
	for _, a := range args {
		v, ok := e.inside(a, "", nil)
		if list, isList := v.([]any); ok && isList && (name == "list" || name == "tuple" || name == "sorted") && len(args) == 1 {
			return list, true
		}
		n, isNumber := v.(float64)
		if !ok || !isNumber {
			return nil, false
		}
		values = append(values, n)
	}
	switch {
	case name == "int" && len(values) == 1:
		return math.Trunc(values[0]), true
	case name == "range" && len(values) == 1:
		values = []float64{0, values[0]}
	case (name != "range" && name != "inclusive") || len(values) < 2 || len(values) > 3:
		return nil, false
	}
	from, to, step := values[0], values[1], append(values, 1)[2]
	if name == "inclusive" {
		to += step / 2
	}
	list := []any{}
	for v := from; step > 0 && v < to || step < 0 && v > to; v += step {
		if *e.left--; *e.left < 0 {
			return nil, false
		}
		list = append(list, v)
	}
	return list, step != 0
}

// list evaluates the elements of a list, or the comprehension that it is.
func (e *evaluation) list(elements []string) (any, bool) {
	list := []any{}
	if len(elements) == 1 {
		if m := loopOver.FindStringSubmatch(elements[0]); m != nil {
			return e.comprehension(m[1], m[2], m[3])
		}
	}
	for _, text := range elements {
		v, ok := e.inside(text, "", nil)
		if !ok {
			return nil, false
		}
		list = append(list, v)
	}
	return list, true
}

func (e *evaluation) comprehension(element, name, rest string) (any, bool) {
	over, inner := rest, element
	if m := loopOver.FindStringSubmatch(rest); m != nil {
		over, inner = m[1], "["+element+" for "+m[2]+" in "+m[3]+"]"
	}
	v, ok := e.inside(over, "", nil)
	values, isList := v.([]any)
	if !ok || !isList {
		return nil, false
	}
	list := []any{}
	for _, value := range values {
		v, ok := e.inside(inner, name, value)
		if !ok {
			return nil, false
		}
		if nested, isList := v.([]any); isList && inner != element {
			list = append(list, nested...)
		} else {
			list = append(list, v)
		}
	}
	return list, true
}

// combinations returns the configs of a grid, the last axis fastest. It returns false if a value is no parameter, or if
// there are too many.
func combinations(axes []axis) ([]suite.Config, bool) {
	rows := []suite.Params{{}}
	for _, a := range axes {
		if len(a.values) == 0 || len(rows)*len(a.values) > maxValues {
			return nil, false
		}
		var next []suite.Params
		for _, row := range rows {
			for _, v := range a.values {
				if !plainParam(v) {
					return nil, false
				}
				next = append(next, append(slices.Clip(row), suite.Param{Name: a.name, Value: v}))
			}
		}
		rows = next
	}
	return configsOf(rows), true
}

func configsOf(rows []suite.Params) []suite.Config {
	list := make([]suite.Config, len(rows))
	for i, row := range rows {
		list[i] = suite.Config{Params: row}
	}
	return list
}

// plainParam reports whether recorders and suites spell a value alike in the name of a case: a whole number or a text.
func plainParam(v any) bool {
	switch v := v.(type) {
	case float64:
		return v == math.Trunc(v)
	case string:
		return v != ""
	}
	return false
}
