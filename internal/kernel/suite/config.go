package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Param is one parameter of a config. Its value is a float64, a string or a bool.
type Param struct {
	Name  string
	Value any
}

// Params holds the parameters of a config in the order of the file, which is also their order
// in the config's name. In JSON it is an object; decoding keeps its order.
type Params []Param

// Config is one point of a benchmark's parameter matrix.
type Config struct {
	Name   string // "B32_H8_S512_D64"; empty if there are no parameters
	Params Params
}

// Map returns the parameters in the form that expressions and the harness protocol use.
func (p Params) Map() map[string]any {
	m := make(map[string]any, len(p))
	for _, param := range p {
		m[param.Name] = param.Value
	}
	return m
}

// Get returns the value of a parameter.
func (p Params) Get(name string) (any, bool) {
	for _, param := range p {
		if param.Name == name {
			return param.Value, true
		}
	}
	return nil, false
}

func (p Params) names() []string {
	names := make([]string, len(p))
	for i, param := range p {
		names[i] = param.Name
	}
	return names
}

const maxConfigName = 200 // bytes: file names are limited to 255

// ConfigName returns the name of the config with these parameters. A number follows its name
// directly, any other value after a hyphen: "B32_S512_dtype-fp16". A character that could be
// special in a glob or a file name becomes a hyphen.
func ConfigName(params Params) string {
	var b strings.Builder
	for i, p := range params {
		if i > 0 {
			b.WriteByte('_')
		}
		b.WriteString(p.Name)
		if _, isNumber := p.Value.(float64); !isNumber {
			b.WriteByte('-')
		}
		b.WriteString(strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(".+-", r) {
				return r
			}
			return '-'
		}, formatValue(p.Value)))
	}
	return b.String()
}

// formatValue formats a value for names and commands. A whole number has no decimal point
// and, up to 15 digits, no exponent.
func formatValue(v any) string {
	switch v := v.(type) {
	case float64:
		if v == 0 {
			return "0" // also for -0
		}
		if v == float64(int64(v)) && v < 1e15 && v > -1e15 {
			return strconv.FormatInt(int64(v), 10)
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	default:
		return fmt.Sprint(v)
	}
}

// MarshalJSON writes an object in the order of the parameters.
func (p Params) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, param := range p {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(param.Name)
		if err != nil {
			return nil, fmt.Errorf("parameter %q: %w", param.Name, err)
		}
		value, err := json.Marshal(param.Value)
		if err != nil {
			return nil, fmt.Errorf("parameter %q: %w", param.Name, err)
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads an object of numbers, strings and booleans.
func (p *Params) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("parameters: expected an object such as {\"N\": 512}")
	}
	params := Params{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return fmt.Errorf("parameters: %w", err)
		}
		name, _ := t.(string) // keys are always strings
		v, err := d.Token()
		if err != nil {
			return fmt.Errorf("parameter %q: %w", name, err)
		}
		switch v.(type) {
		case float64, string, bool:
		default:
			return fmt.Errorf("parameter %q: expected a number, text, true or false", name)
		}
		if _, twice := params.Get(name); twice || len(params) == maxParams {
			return fmt.Errorf("parameter %q appears twice, or there are more than %d parameters", name, maxParams)
		}
		params = append(params, Param{name, v})
	}
	*p = params
	return nil
}

// maxParams is the maximum number of parameters of a benchmark.
const maxParams = 64

// UnmarshalJSON reads the parameters of a config, as a harness lists them. The suite sets
// the name.
func (c *Config) UnmarshalJSON(data []byte) error {
	c.Name = ""
	return c.Params.UnmarshalJSON(data)
}
