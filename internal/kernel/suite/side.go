package suite

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// side is an implementation whose commands may still contain placeholders.
type side struct {
	name string
	variantDoc
	templates []template // its placeholders, one per parameter
	known     map[string]int
	variants  []Variant
}

// maxSides is the maximum number of references, the same as file.go sets for those of the file.
const maxSides = 100

// declareSides creates the candidate and the references. A reference inherits everything it
// does not set from the candidate.
func (r *resolver) declareSides() {
	candidate := variantDoc{r.doc.Build, r.doc.Harness}
	r.checkBuild(candidate.Build, r.section("build"))
	r.suite.sides = []*side{newSide(Candidate, candidate)}
	for _, e := range r.doc.Implementations {
		if e.broken {
			r.broken = true
		}
		reference := e.value.over(candidate)
		if e.value.Build.Recipe != "" || len(e.value.Build.written()) > 0 { // otherwise it is the candidate's, already checked
			r.checkBuild(reference.Build, e.at)
		}
		r.suite.sides = append(r.suite.sides, newSide(e.name, reference))
	}
	for _, s := range r.suite.sides {
		r.suite.Implementations = append(r.suite.Implementations, s.implementation())
	}
}

func (s *side) implementation() Implementation {
	params := Params{}
	if len(s.templates) > 0 {
		params = nil // only a config can fill them in
	}
	return Implementation{Name: s.name, Build: s.Build.plain(params), Harness: s.Harness.plain(params)}
}

func newSide(name string, doc variantDoc) *side {
	return &side{name: name, variantDoc: doc, templates: doc.templates(), known: map[string]int{}}
}

func (s *Suite) side(name string) *side {
	i := slices.IndexFunc(s.sides, func(x *side) bool { return x.name == name })
	if i < 0 {
		return nil
	}
	return s.sides[i]
}

// over overlays a reference's settings on the candidate's, with the rule of extends: mappings
// merge, lists and values replace.
func (v variantDoc) over(base variantDoc) variantDoc {
	v.Harness.Env = mergeEnv(v.Harness.Env, base.Harness.Env)
	return variantDoc{v.Build.over(base.Build), overlay(v.Harness, base.Harness)}
}

// overlay returns over with every unset field taken from base.
func overlay[T any](over, base T) T {
	to, from := reflect.ValueOf(&over).Elem(), reflect.ValueOf(base)
	for i := range to.NumField() {
		if f := to.Field(i); f.IsZero() {
			f.Set(from.Field(i))
		}
	}
	return over
}

func mergeEnv(over, base named[envName, loose]) named[envName, loose] {
	out := slices.Clone(base)
	for _, e := range over {
		if same := out.get(e.name); same != nil {
			*same = e
			continue
		}
		out = append(out, e)
	}
	return out
}

// plain fills the placeholders of a harness with the parameters; nil leaves them.
func (h harnessDoc) plain(params Params) Harness {
	return Harness{
		Command: fill(h.Command.string, params), Files: fillAll(h.Files, params),
		Env: fillEnv(h.Env, params), Timeout: h.Timeout.Duration,
		Format: string(h.Format), Output: fill(h.Output.string, params), Pattern: h.Pattern.string,
	}
}

func fillAll(texts []text, params Params) []string {
	var out []string
	for _, t := range texts {
		out = append(out, fill(t.string, params))
	}
	return out
}

func fillEnv(env named[envName, loose], params Params) map[string]string {
	out := map[string]string{}
	for _, e := range env {
		out[e.name] = fill(e.value.string, params)
	}
	return out
}

// Key returns a text that is equal for harnesses that are equal in every field.
func (h Harness) Key() string {
	key := fmt.Sprintf("%q %q %q %s %q %q", h.Command, h.Files, Variables(h.Env), h.Timeout, h.Format, h.Output)
	if h.Pattern != "" {
		key += fmt.Sprintf(" %q", h.Pattern)
	}
	return key
}

// Variables returns an environment in the form that processes take, sorted.
func Variables(env map[string]string) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}
