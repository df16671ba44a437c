package suite

import (
	"encoding/json"
	"fmt"
	"reflect"

	"go.yaml.in/yaml/v3"
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

// schemaWriter describes the structs of file.go in the same way as decoder reads them.
type schemaWriter struct{}

// structure describes a mapping; defaults holds the values of keys that a file leaves out.
func (s *schemaWriter) structure(t reflect.Type, defaults *node) object {
	properties := object{}
	var required []string
	fields := fieldsOf(t)
	for _, f := range fields {
		var preset *node
		if defaults != nil {
			preset = defaults.get(f.key)
		}
		p := s.field(f, preset)
		p["description"] = f.doc
		if f.example != "" {
			p["examples"] = []any{exampleOf(f)}
		}
		properties[f.key] = p
		if f.required {
			required = append(required, f.key)
		}
	}
	out := object{"type": "object", "properties": properties, "additionalProperties": false}
	if anyRequired(fields) {
		out["required"] = required
	} else {
		out["type"] = []string{"object", "null"}
	}
	return out
}

func (s *schemaWriter) field(f field, preset *node) object {
	if f.kind.Kind() == reflect.Struct && !reflect.PointerTo(f.kind).Implements(spelledType) {
		return s.structure(f.kind, preset)
	}
	p := s.value(f.kind, f)
	if preset != nil && preset.kind != mapNode {
		p["default"] = preset.plain()
	}
	return p
}

// value describes one value of a type. The cases are in the same order as in the decoder.
func (s *schemaWriter) value(t reflect.Type, f field) object {
	if v, ok := reflect.TypeAssert[customSyntax](reflect.New(t)); ok {
		return v.schema(s, f)
	}
	if v, ok := reflect.TypeAssert[enumeration](reflect.Zero(t)); ok {
		return object{"enum": v.words()}
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
		return f.limit(object{"type": "integer"})
	default:
		return f.limit(object{"type": "number"})
	}
}

func (s *schemaWriter) list(t reflect.Type, f field) object {
	out := object{"type": "array"}
	if f.minEntries > 0 {
		out["minItems"] = f.minEntries
	}
	if f.maxEntries > 0 {
		out["maxItems"] = f.maxEntries
	}
	f.minEntries, f.maxEntries = 0, 0 // they apply to the list, not to its items
	out["items"] = s.value(t.Elem(), f)
	return out
}

func (f field) limit(p object) object {
	if f.min != nil {
		p["minimum"] = *f.min
	}
	if f.max != nil {
		p["maximum"] = *f.max
	}
	return p
}

func exampleOf(f field) any {
	var x any
	if err := yaml.Unmarshal([]byte(f.example), &x); err != nil {
		panic(fmt.Sprintf("suite: the example of %s in file.go is not YAML: %v", f.key, err))
	}
	return x
}

// plain returns a value without its position.
func (n *node) plain() any {
	switch {
	case n.kind == listNode:
		list := make([]any, len(n.items))
		for i, item := range n.items {
			list[i] = item.plain()
		}
		return list
	case n.kind == mapNode:
		m := object{}
		for i, key := range n.keys {
			m[key.text] = n.items[i].plain()
		}
		return m
	case n.isNumber():
		return n.num
	case n.isBool():
		return n.text == "true"
	case n.isNull():
		return nil
	default:
		return n.text
	}
}
