package adapter

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

const maxParams = 100

// readParams reads a JSON object of parameters in its own order. Values that are not
// scalars are left out, and one of their names is returned.
func readParams(raw jsontext.Value) (params []param, unread string, err error) {
	if len(raw) == 0 || raw.Kind() == 'n' {
		return nil, "", nil
	}
	if raw.Kind() != '{' {
		return nil, "", fmt.Errorf("expected an object, got %v", raw.Kind())
	}
	d := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowInvalidUTF8(true))
	if _, err := d.ReadToken(); err != nil {
		return nil, "", err
	}
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil {
			return nil, "", err
		}
		name := token.String()
		value, err := readPlain(d)
		if err != nil {
			return nil, "", err
		}
		if value == nil {
			unread = label(name)
			continue
		}
		if params = append(params, param{name, value}); len(params) > maxParams {
			return nil, "", fmt.Errorf("more than %d parameters", maxParams)
		}
	}
	return params, unread, nil
}

// readPlain returns a string, a finite number or a boolean, and nil for anything else.
func readPlain(d *jsontext.Decoder) (any, error) {
	switch d.PeekKind() {
	case '0':
		v, err := readNumber(d)
		if err != nil || v-v != 0 { // an infinity
			return nil, err
		}
		return v, nil
	case '"':
		token, err := d.ReadToken()
		return label(token.String()), err
	case 't', 'f':
		token, err := d.ReadToken()
		return token.Kind() == 't', err
	default:
		return nil, d.SkipValue()
	}
}
