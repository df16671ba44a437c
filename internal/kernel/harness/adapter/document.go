package adapter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is well above the nesting of any tool's output and well below what exhausts a decoder.
const maxDepth = 64

// lenient accepts what the tools actually write, such as host names in odd encodings.
// Duplicate names stay an error unless an adapter knows what they mean.
var lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true))

// document reads the whole source as one JSON value.
func (in *input) document(into any, opts ...json.Options) error {
	data, err := io.ReadAll(&limitedReader{ctx: in.ctx, r: in, left: in.limits.document})
	if err != nil {
		return err
	}
	return unmarshal(data, into, opts...)
}

func unmarshal(data []byte, into any, opts ...json.Options) error {
	tame, err := sanitizeJSON(data)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(tame, into, append([]json.Options{lenient}, opts...)...); err != nil {
		return fault(err)
	}
	return nil
}

// fault says where the JSON is wrong, in terms of the file and not of Go types.
func fault(err error) error {
	if e, ok := errors.AsType[*json.SemanticError](err); ok {
		cause := e.Err
		if cause == nil {
			cause = fmt.Errorf("expected a Go %v, got a JSON %v", e.GoType, e.JSONKind)
		}
		return fmt.Errorf("unexpected value at %s: %w", where(e.ByteOffset, e.JSONPointer), cause)
	}
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return fmt.Errorf("invalid JSON at %s: %w: is the file truncated, or does it contain other text?", where(e.ByteOffset, e.JSONPointer), e.Err)
	}
	return fmt.Errorf("cannot read the JSON: %w", err)
}

func where(offset int64, member jsontext.Pointer) string {
	if member == "" {
		return fmt.Sprintf("byte %d", offset)
	}
	return fmt.Sprintf("byte %d (%s)", offset, label(string(member)))
}

// sanitizeJSON turns the output of C++ and Python programs into valid JSON: a bare NaN,
// Infinity or -Infinity outside a string becomes null. It rejects nesting that
// could exhaust a decoder. It does not modify data, and copies it only if needed.
func sanitizeJSON(data []byte) ([]byte, error) {
	var out []byte
	kept := 0 // data[:kept] has been copied to out
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = stringEnd(data, i)
		case '{', '[':
			if depth++; depth > maxDepth {
				return nil, fmt.Errorf("the JSON is nested deeper than %d levels at byte %d", maxDepth, i)
			}
		case '}', ']':
			depth--
		case 'N', 'I', '-':
			n := nonFinite(data[i:])
			if n == 0 {
				continue
			}
			out = append(out, data[kept:i]...)
			out = append(out, "null"...)
			kept = i + n
			i = kept - 1
		}
	}
	if kept == 0 {
		return data, nil
	}
	return append(out, data[kept:]...), nil
}

// stringEnd returns the index of the closing quote, or of the last byte.
func stringEnd(data []byte, start int) int {
	for i := start + 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(data) - 1
}

func nonFinite(b []byte) int {
	for _, word := range []string{"NaN", "Infinity", "-Infinity", "-NaN"} {
		if bytes.HasPrefix(b, []byte(word)) {
			return len(word)
		}
	}
	return 0
}

// number is a float64 that is NaN for null, which may itself replace a NaN.
type number float64

// UnmarshalJSONFrom reads a number or null.
func (n *number) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := readNumber(d)
	*n = number(v)
	return err
}

// numbers is an array of numbers. A null, which may replace NaN or an infinity,
// becomes NaN, so that positions stay correct.
type numbers []float64

// UnmarshalJSONFrom reads the array without reflection for each element.
func (n *numbers) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	switch d.PeekKind() {
	case 'n':
		*n = nil
		return d.SkipValue()
	case '[':
	default:
		return fmt.Errorf("expected an array of numbers, got %v", d.PeekKind())
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	read := numbers{}
	for d.PeekKind() != ']' {
		v, err := readNumber(d)
		if err != nil {
			return fmt.Errorf("number %d: %w", len(read)+1, err)
		}
		read = append(read, v)
	}
	*n = read
	_, err := d.ReadToken()
	return err
}

func readNumber(d *jsontext.Decoder) (float64, error) {
	token, err := d.ReadToken()
	if err != nil {
		return 0, err
	}
	switch token.Kind() {
	case 'n':
		return math.NaN(), nil
	case '0':
		// A literal too large for a float64 becomes infinite. The check of samples
		// rejects it later, with its position.
		v, _ := token.Float()
		return v, nil
	default:
		return 0, fmt.Errorf("expected a number, got %v", token.Kind())
	}
}

// count converts a number of runs. It returns 0, which a case treats as 1, if v is not valid.
func count(v float64) int {
	if v >= 1 && v <= math.MaxInt32 {
		return int(v)
	}
	return 0
}

// scaled returns the numbers times a factor, as samples.
func (n numbers) scaled(factor float64) []float64 {
	if n == nil {
		return nil
	}
	s := make([]float64, len(n))
	for i, v := range n {
		s[i] = v * factor
	}
	return s
}

// text is a scalar that a tool writes as a string, or used to write as a number.
type text string

// UnmarshalJSONFrom accepts any scalar.
func (t *text) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if k := d.PeekKind(); k == '{' || k == '[' {
		return fmt.Errorf("expected a string or a number, got %v", k)
	}
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	if token.Kind() == 'n' {
		*t = ""
		return nil
	}
	*t = text(token.String())
	return nil
}
