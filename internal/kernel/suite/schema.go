package suite

import (
	"encoding/json"
	"fmt"
	"reflect"

	"go.yaml.in/yaml/v3"

	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
)

// object is a JSON object under construction.
type object = map[string]any

// Schema returns the JSON Schema (2020-12) of pawl.yaml. Editors use it to complete and check a
// suite that starts with "# yaml-language-server: $schema=FILE". It covers what can be checked
// without interpreting a value: keys, types, ranges, words.
func Schema() []byte {
	s := &schemaWriter{}
	root := s.structure(reflect.TypeFor[fileDoc](), defaults())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "pawl.yaml"
	root["description"] = "A pawl suite, version 1: what to build, what to run, which configs to measure and how."
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("suite: the schema cannot be printed: %v", err)) // maps of plain values always encode
	}
	return append(out, '\n')
}

// customSyntax is a value with its own syntax, beyond its Go type. Its reader and its schema are
// side by side, so that they agree.
type customSyntax interface {
	strictyaml.Reader
	schema(s *schemaWriter, f strictyaml.Field) object
}

var spelledType = reflect.TypeFor[customSyntax]()

// schemaWriter describes the structs of file.go in the same way as decoder reads them.
type schemaWriter struct{}

// structure describes a mapping; defaults holds the values of keys that a file leaves out.
func (s *schemaWriter) structure(t reflect.Type, defaults *strictyaml.Node) object {
	properties := object{}
	var required []string
	fields := strictyaml.FieldsOf(t)
	for _, f := range fields {
		var preset *strictyaml.Node
		if defaults != nil {
			preset = defaults.Get(f.Key)
		}
		p := s.field(f, preset)
		p["description"] = f.Doc
		if f.Example != "" {
			p["examples"] = []any{exampleOf(f)}
		}
		properties[f.Key] = p
		if f.Required {
			required = append(required, f.Key)
		}
	}
	out := object{"type": "object", "properties": properties, "additionalProperties": false}
	if strictyaml.AnyRequired(fields) {
		out["required"] = required
	} else {
		out["type"] = []string{"object", "null"}
	}
	return out
}

func (s *schemaWriter) field(f strictyaml.Field, preset *strictyaml.Node) object {
	if f.Type.Kind() == reflect.Struct && !reflect.PointerTo(f.Type).Implements(spelledType) {
		return s.structure(f.Type, preset)
	}
	p := s.value(f.Type, f)
	if preset != nil && preset.Kind != strictyaml.Map {
		p["default"] = preset.Plain()
	}
	return p
}

// value describes one value of a type. The cases are in the same order as in the decoder.
func (s *schemaWriter) value(t reflect.Type, f strictyaml.Field) object {
	if v, ok := reflect.TypeAssert[customSyntax](reflect.New(t)); ok {
		return v.schema(s, f)
	}
	if v, ok := reflect.TypeAssert[strictyaml.Enumeration](reflect.Zero(t)); ok {
		return object{"enum": v.Words()}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.value(t.Elem(), f)
	case reflect.Struct:
		return s.structure(t, nil)
	case reflect.Slice:
		return s.list(t, f)
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int:
		return limited(object{"type": "integer"}, f)
	default:
		return limited(object{"type": "number"}, f)
	}
}

func (s *schemaWriter) list(t reflect.Type, f strictyaml.Field) object {
	out := object{"type": "array"}
	if f.MinEntries > 0 {
		out["minItems"] = f.MinEntries
	}
	if f.MaxEntries > 0 {
		out["maxItems"] = f.MaxEntries
	}
	f.MinEntries, f.MaxEntries = 0, 0 // they apply to the list, not to its items
	out["items"] = s.value(t.Elem(), f)
	return out
}

func limited(p object, f strictyaml.Field) object {
	if f.Min != nil {
		p["minimum"] = *f.Min
	}
	if f.Max != nil {
		p["maximum"] = *f.Max
	}
	return p
}

func exampleOf(f strictyaml.Field) any {
	var x any
	if err := yaml.Unmarshal([]byte(f.Example), &x); err != nil {
		panic(fmt.Sprintf("suite: the example of %s in file.go is not YAML: %v", f.Key, err))
	}
	return x
}
