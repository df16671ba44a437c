package profile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// Write writes the record as JSON.
func (p *Profile) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(p); err != nil {
		return fmt.Errorf("writing a profile: %w", err)
	}
	return nil
}

// ReadJSON reads a record as Write writes it. It refuses fields that it does not
// know: whoever wrote them meant something by them, and writing the record again
// would lose it.
func ReadJSON(r io.Reader) (*Profile, error) {
	data, err := readAll(r)
	if err != nil {
		return nil, err
	}
	return readJSON(data)
}

func readJSON(data []byte) (*Profile, error) {
	p, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("reading a profile record: %w", err)
	}
	return p, nil
}

func decode(data []byte) (*Profile, error) {
	// Names that are there twice, and what is no UTF-8: encoding/json takes both.
	if !jsontext.Value(data).IsValid() {
		again := jsontext.Value(bytes.Clone(data))
		return nil, fmt.Errorf("it is no valid JSON: %w", again.Format())
	}
	var head struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, err
	}
	if head.Format != Format {
		return nil, fmt.Errorf("its format is %.40q, not %s: a newer pawl may read it", head.Format, Format)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var p Profile
	if err := d.Decode(&p); err != nil {
		return nil, err
	}
	var total count
	for _, l := range p.Launches {
		total = count{total.launches + 1, total.metrics + len(l.Metrics), total.rules + len(l.Rules)}
		if err := total.check(); err != nil {
			return nil, err
		}
	}
	return &p, nil
}
