package gates

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/goatnote-inc/pawl/internal/base/spell"
	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
)

// Threshold is a number of the method. A repository may have another, within bounds, so
// that a gate can be moved but not taken away.
type Threshold struct {
	Name    string  `json:"name" yaml:"name"`
	Value   float64 `json:"value" yaml:"value"`
	Default float64 `json:"default" yaml:"-"`
	Least   float64 `json:"least" yaml:"least"`
	Most    float64 `json:"most" yaml:"most"`
	Title   string  `json:"title" yaml:"title"`
}

// ThresholdFile is where a repository has its own, from the folder of the suite.
const ThresholdFile = ".pawl/gates.yaml"

const maxThresholdFile = 64 << 10

// With takes over the thresholds of a repository: a mapping from their names to numbers.
// Every mistake is an error with its place; the set is unchanged then.
func (s *Set) With(data []byte, file string) error {
	if len(data) > maxThresholdFile {
		return fmt.Errorf("%s has more than %d bytes: it holds one number a threshold", file, maxThresholdFile)
	}
	w := strictyaml.Walker{Problems: &strictyaml.Problems{}, File: file}
	top, _ := w.Parse(data, strictyaml.Format{Name: "the file", MaxBytes: maxThresholdFile})
	if top == nil || w.Found > 0 {
		return w.Err()
	}
	if top.Kind != yaml.MappingNode {
		return fmt.Errorf("%s:%d:%d: want lines such as %q", file, top.Line, top.Column, "half_speed: 0.4")
	}
	values := map[string]float64{}
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		t, err := s.threshold(key.Value)
		if err != nil {
			return fmt.Errorf("%s:%d:%d: %w", file, key.Line, key.Column, err)
		}
		x, err := strconv.ParseFloat(value.Value, 64)
		switch {
		case value.Kind != yaml.ScalarNode || err != nil || math.IsNaN(x):
			return fmt.Errorf("%s:%d:%d: %s: want a number", file, value.Line, value.Column, t.Name)
		case x < t.Least || x > t.Most:
			return fmt.Errorf("%s:%d:%d: %s: %v is outside of %v to %v: a gate can be moved, not taken away", file, value.Line, value.Column, t.Name, x, t.Least, t.Most)
		}
		if _, twice := values[t.Name]; twice {
			return fmt.Errorf("%s:%d:%d: %s stands there twice", file, key.Line, key.Column, t.Name)
		}
		values[t.Name] = x
	}
	for i, t := range s.Thresholds {
		if x, ok := values[t.Name]; ok {
			s.Thresholds[i].Value = x
		}
	}
	return nil
}

func (s *Set) threshold(name string) (Threshold, error) {
	known := make([]string, len(s.Thresholds))
	for i, t := range s.Thresholds {
		if t.Name == name {
			return t, nil
		}
		known[i] = t.Name
	}
	hint := "there are " + strings.Join(known, ", ")
	if near := spell.Nearest(name, known); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return Threshold{}, fmt.Errorf("there is no threshold %.40q: %s", name, hint)
}

// Moved are the thresholds that a repository has another number for.
func (s *Set) Moved() []Threshold {
	var moved []Threshold
	for _, t := range s.Thresholds {
		if t.Value != t.Default {
			moved = append(moved, t)
		}
	}
	return moved
}
