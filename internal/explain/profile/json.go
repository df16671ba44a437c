package profile

import (
	"bytes"
	encoding "encoding/json"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
)

// Write writes the record as JSON.
func (p *Profile) Write(w io.Writer) error {
	e := encoding.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(p); err != nil {
		return fmt.Errorf("cannot write profile: %w", err)
	}
	return nil
}

// ReadJSON reads a record that Write wrote. It rejects unknown fields: they have a meaning that
// this version does not know, and writing the record again would lose them.
func ReadJSON(r io.Reader) (*Profile, error) { return readAs(r, readJSON) }

func decode(data []byte) (*Profile, error) {
	// Three bytes of JSON can become a metric in memory, so count before decoding.
	if n := bytes.Count(data, []byte("{")); n > maxMetrics+maxLaunches+maxRules {
		return nil, fmt.Errorf("it has %d objects, more than any record that pawl writes", n)
	}
	var head struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, err
	}
	if head.Format != Format {
		return nil, fmt.Errorf("its format is %.40q, expected %s: a newer pawl may be able to read it", head.Format, Format)
	}
	var p Profile
	if err := json.Unmarshal(data, &p, json.RejectUnknownMembers(true)); err != nil {
		return nil, err
	}
	var total count
	for i := range p.Launches {
		l := &p.Launches[i]
		total = count{total.launches + 1, total.metrics + len(l.Metrics), total.rules + len(l.Rules)}
		if err := total.check(); err != nil {
			return nil, err
		}
	}
	return &p, nil
}
