package gates

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
)

//go:embed gates.yaml
var gatesYAML []byte

// Set is phases and gates, and the thresholds they are asked with.
type Set struct {
	Phases     []Phase     `json:"phases" yaml:"phases"`
	Thresholds []Threshold `json:"thresholds" yaml:"thresholds"`

	conditions map[string]condition // by gate
}

// condition is a gate's expressions; nil for one that is empty.
type condition struct{ when, known, pass *expr.Expr }

// All are the gates that pawl comes with. The set is the caller's own.
func All() *Set {
	s, err := builtIn()
	if err != nil {
		panic(err) // gates.yaml is part of the program, and a test reads it
	}
	own := *s
	own.Thresholds = slices.Clone(s.Thresholds)
	return &own
}

var builtIn = sync.OnceValues(func() (*Set, error) { return read(gatesYAML) })

// read takes a set from its text and compiles the conditions.
func read(data []byte) (*Set, error) {
	s := &Set{conditions: map[string]condition{}}
	if err := strictyaml.Decode("gates.yaml", data, strictyaml.Format{Name: "gates.yaml", MaxBytes: len(data)}, s); err != nil {
		return nil, err
	}
	for i := range s.Thresholds {
		s.Thresholds[i].Default = s.Thresholds[i].Value
	}
	for _, p := range s.Phases {
		for _, g := range p.Gates {
			c, err := s.compile(g)
			if err != nil {
				return nil, fmt.Errorf("gates.yaml: gate %s: %w", g.ID, err)
			}
			if _, twice := s.conditions[g.ID]; twice {
				return nil, fmt.Errorf("gates.yaml: there are two gates %s", g.ID)
			}
			s.conditions[g.ID] = c
		}
	}
	return s, nil
}

func (s *Set) compile(g Gate) (c condition, err error) {
	for _, part := range []struct {
		text string
		into **expr.Expr
	}{{g.When, &c.when}, {g.Known, &c.known}, {g.Pass, &c.pass}} {
		if part.text == "" {
			continue
		}
		e, err := expr.Compile(part.text)
		if err != nil {
			return c, fmt.Errorf("%q: %w", part.text, err)
		}
		for _, v := range e.Variables() {
			if !s.knows(v.Name) {
				return c, fmt.Errorf("%q: there is no fact %q", part.text, v.Name)
			}
		}
		*part.into = e
	}
	if c.pass == nil {
		return c, fmt.Errorf("it has no condition to pass")
	}
	return c, nil
}

func (s *Set) knows(name string) bool {
	return slices.ContainsFunc(facts, func(f Fact) bool { return f.Name == name }) ||
		slices.ContainsFunc(s.Thresholds, func(t Threshold) bool { return t.Name == name })
}

// holds tells whether a condition is true of the facts. What is empty is; what asks for a
// fact that is missing is not. A number alone asks whether it is there.
func holds(e *expr.Expr, facts map[string]any) bool {
	if e == nil {
		return true
	}
	v, err := e.Eval(facts)
	if err != nil {
		return false
	}
	switch v := v.(type) {
	case bool:
		return v
	case float64:
		return !math.IsNaN(v)
	}
	return false
}

// values are the facts and thresholds as expressions take them.
func (s *Set) values(f Facts) map[string]any {
	v := make(map[string]any, len(f.Numbers)+len(s.Thresholds))
	for name, x := range f.Numbers {
		v[name] = x
	}
	for _, t := range s.Thresholds {
		v[t.Name] = t.Value
	}
	return v
}

// Stoppable are the commands that a gate may stop. They stand in the gates' data, too, and a
// test compares: who only asks whether gates matter need not read them all.
var Stoppable = []string{"bench", "build", "fuzz", "preflight", "profile", "run", "session end --outcome reached", "sweep", "tune"}
