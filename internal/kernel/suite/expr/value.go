package expr

import (
	"encoding/json"
	"strconv"
)

type kind uint8

const (
	number kind = iota
	text
	boolean
)

func (k kind) String() string {
	return [...]string{number: "a number", text: "text", boolean: "true or false"}[k]
}

// value is an operand or result of an expression. It is a struct and not an any, so that
// evaluating does not allocate.
type value struct {
	kind kind
	num  float64
	text string
	yes  bool
}

// evaluator is a compiled node.
type evaluator func(variables map[string]any) (value, error)

func ofNumber(x float64) value { return value{kind: number, num: x} }
func ofText(s string) value    { return value{kind: text, text: s} }
func ofBool(b bool) value      { return value{kind: boolean, yes: b} }

// valueOf converts what callers have: parameters from YAML and JSON, and numbers of Go programs.
func valueOf(x any) (value, bool) {
	switch x := x.(type) {
	case float64:
		return ofNumber(x), true
	case int:
		return ofNumber(float64(x)), true
	case int64:
		return ofNumber(float64(x)), true
	case uint64:
		return ofNumber(float64(x)), true
	case float32:
		return ofNumber(float64(x)), true
	case int32:
		return ofNumber(float64(x)), true
	case json.Number:
		f, err := x.Float64()
		return ofNumber(f), err == nil
	case string:
		return ofText(x), true
	case bool:
		return ofBool(x), true
	}
	return value{}, false
}

func (v value) any() any {
	switch v.kind {
	case text:
		return v.text
	case boolean:
		return v.yes
	default:
		return v.num
	}
}

// String describes a value in a message.
func (v value) String() string {
	switch v.kind {
	case text:
		return "text " + strconv.Quote(v.text)
	case boolean:
		return strconv.FormatBool(v.yes)
	default:
		return "the number " + strconv.FormatFloat(v.num, 'g', -1, 64)
	}
}
