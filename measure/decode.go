package measure

import (
	"encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// eachMember reads the next object and calls f with each name; f must read the value.
func eachMember(d *jsontext.Decoder, f func(key string) error) error {
	if err := expect(d, '{'); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		key, err := d.ReadToken()
		if err != nil {
			return err
		}
		name := key.String()
		if err := f(name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	_, err := d.ReadToken()
	return err
}

// eachElement reads the next array and calls f at the start of each element. It treats null as an empty
// array.
func eachElement(d *jsontext.Decoder, f func(i int) error) error {
	if d.PeekKind() == 'n' {
		return d.SkipValue()
	}
	if err := expect(d, '['); err != nil {
		return err
	}
	for i := 0; d.PeekKind() != ']'; i++ {
		if err := f(i); err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
	}
	_, err := d.ReadToken()
	return err
}

func expect(d *jsontext.Decoder, kind jsontext.Kind) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	if token.Kind() != kind {
		return fmt.Errorf("expected %v, got %v", kind, token.Kind())
	}
	return nil
}

// decodeValue decodes one value that is small enough for reflection. It accepts unknown fields, because
// a newer version of pawl may have added some.
func decodeValue(d *jsontext.Decoder, into any) error {
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}
