package suite

import (
	"errors"
	"reflect"

	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
)

// many is one value, or a list of distinct values.
type many[T any] []T

func (m *many[T]) ReadYAML(d *strictyaml.Decoder, n *strictyaml.Node, f strictyaml.Field) {
	items := []*strictyaml.Node{n}
	if n.Kind == strictyaml.List {
		items = n.Items
	}
	if len(items) == 0 && !n.Incomplete {
		d.Add(n, "", "%s: the list is empty", f.Key)
	}
	seen := map[any]bool{} // 1.0 and 1 are equal, "1" differs
	for _, item := range items {
		if item.Kind == strictyaml.Scalar {
			if seen[item.Plain()] {
				d.Add(item, "", "%s: %s appears twice", f.Key, item.Describe())
				continue
			}
			seen[item.Plain()] = true
		}
		var x T
		d.Decode(item, reflect.ValueOf(&x).Elem(), f)
		*m = append(*m, x)
	}
}

func (*many[T]) schema(s *schemaWriter, f strictyaml.Field) object {
	one := s.value(reflect.TypeFor[T](), f)
	return object{"anyOf": []object{one, {"type": "array", "items": one, "minItems": 1, "uniqueItems": true}}}
}

// namer is a string type whose values must follow a rule.
type namer interface {
	~string
	rule() rule
}

// entry is one key and value of a mapping.
type entry[T any] struct {
	name  string
	at    *strictyaml.Node // position of the name
	value T
	node  *strictyaml.Node // of the value
	// broken reports that a part of the value could not be read. This was already reported,
	// so checks of the rest are skipped to avoid repeating it.
	broken bool
}

// named is a mapping whose keys the user chose. It keeps their order, in which cases are
// named and measured.
type named[K namer, T any] []entry[T]

func (m *named[K, T]) ReadYAML(d *strictyaml.Decoder, n *strictyaml.Node, f strictyaml.Field) {
	if n.IsNull() && f.MinEntries == 0 {
		return
	}
	if n.Kind != strictyaml.Map {
		d.Want(n, f, "a mapping")
		return
	}
	d.Size(n, f)
	rule := K("").rule()
	*m = make(named[K, T], 0, len(n.Keys))
	for i, key := range n.Keys {
		before := d.Found
		if problem, hint := rule.check(key.Text); problem != "" {
			d.Add(key, hint, "%s", problem)
		}
		e := entry[T]{name: key.Text, at: key, node: n.Items[i]}
		d.Decode(n.Items[i], reflect.ValueOf(&e.value).Elem(), strictyaml.Field{Key: key.Text, Min: f.Min, Max: f.Max})
		e.broken = d.Found > before || !n.Items[i].Complete()
		*m = append(*m, e)
	}
}

func (*named[K, T]) schema(s *schemaWriter, f strictyaml.Field) object {
	rule := K("").rule()
	names := object{"pattern": rule.pattern.String()}
	if len(rule.reserved) > 0 {
		names["not"] = object{"enum": rule.reserved}
	}
	out := object{
		"type": []string{"object", "null"}, "propertyNames": names,
		"additionalProperties": s.value(reflect.TypeFor[T](), strictyaml.Field{Min: f.Min, Max: f.Max}),
	}
	if f.MinEntries > 0 {
		out["type"], out["minProperties"] = "object", f.MinEntries
	}
	if f.MaxEntries > 0 {
		out["maxProperties"] = f.MaxEntries
	}
	return out
}

// get returns the entry of a name, or nil.
func (m named[K, T]) get(name string) *entry[T] {
	for i := range m {
		if m[i].name == name {
			return &m[i]
		}
	}
	return nil
}

func (m named[K, T]) names() []string {
	names := make([]string, len(m))
	for i, e := range m {
		names[i] = e.name
	}
	return names
}

// filter selects configs by parameters that must match, or by an expression.
type filter struct {
	params named[paramName, scalar]
	when   formula
	at     *strictyaml.Node
}

func (x *filter) ReadYAML(d *strictyaml.Decoder, n *strictyaml.Node, f strictyaml.Field) {
	x.at = n
	switch {
	case n.Kind == strictyaml.Map:
		f.MinEntries = 1 // an empty filter would match every config
		x.params.ReadYAML(d, n, f)
	case n.IsText():
		x.when.ReadYAML(d, n, f)
	default:
		d.Want(n, f, "a mapping of parameters or an expression")
	}
}

func (*filter) schema(s *schemaWriter, f strictyaml.Field) object {
	f.MinEntries, f.MaxEntries = 1, 0
	params := (*named[paramName, scalar])(nil).schema(s, f)
	return object{"anyOf": []object{params, {"type": "string", "minLength": 1}}}
}

// addExpression reports an error in an expression, at the exact character if the expression is
// in the file.
func addExpression(p *strictyaml.Problems, x formula, err error) {
	at, msg, hint := x.at.Pos(), err.Error(), ""
	if e, ok := errors.AsType[*expr.Error](err); ok {
		msg, hint = e.Msg, e.Hint
		if x.listed == "" {
			at = x.at.Inside(e.Pos)
		}
	}
	if x.listed != "" {
		p.AddAt(at, hint, "benchmark %q, as listed by the harness: %s: %s", x.listed, x.key, msg)
		return
	}
	p.AddAt(at, hint, "%s: %s", x.key, msg)
}
