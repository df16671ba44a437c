package suite

import (
	"errors"
	"reflect"

	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
)

// many is one value, or a list of distinct values.
type many[T any] []T

func (m *many[T]) read(d *decoder, n *node, f field) {
	items := []*node{n}
	if n.kind == listNode {
		items = n.items
	}
	if len(items) == 0 && !n.incomplete {
		d.add(n, "", "%s: the list is empty", f.key)
	}
	seen := map[scalarKey]bool{}
	for _, item := range items {
		key := keyOf(item)
		if item.kind == scalarNode && seen[key] {
			d.add(item, "", "%s: %s appears twice", f.key, item.describe())
			continue
		}
		seen[key] = true
		var x T
		d.decode(item, reflect.ValueOf(&x).Elem(), f)
		*m = append(*m, x)
	}
}

func (*many[T]) schema(s *schemaWriter, f field) object {
	one := s.value(reflect.TypeFor[T](), f)
	return object{"anyOf": []object{one, {"type": "array", "items": one, "minItems": 1, "uniqueItems": true}}}
}

// scalarKey identifies a value: 1.0 and 1 are equal, "1" differs.
type scalarKey struct {
	number bool
	num    float64
	tag    string
	text   string
}

func keyOf(n *node) scalarKey {
	if n.isNumber() {
		return scalarKey{number: true, num: n.num}
	}
	return scalarKey{tag: n.tag, text: n.text}
}

// namer is a string type whose values must follow a rule.
type namer interface {
	~string
	rule() rule
}

// entry is one key and value of a mapping.
type entry[T any] struct {
	name  string
	at    *node // position of the name
	value T
	node  *node // of the value
	// broken reports that a part of the value could not be read. This was already reported,
	// so checks of the rest are skipped to avoid repeating it.
	broken bool
}

// named is a mapping whose keys the user chose. It keeps their order, in which cases are
// named and measured.
type named[K namer, T any] []entry[T]

func (m *named[K, T]) read(d *decoder, n *node, f field) {
	if n.isNull() && f.minEntries == 0 {
		return
	}
	if n.kind != mapNode {
		d.want(n, f, "a mapping")
		return
	}
	d.size(n, f)
	rule := K("").rule()
	*m = make(named[K, T], 0, len(n.keys))
	for i, key := range n.keys {
		before := d.found
		if problem, hint := rule.check(key.text); problem != "" {
			d.add(key, hint, "%s", problem)
		}
		e := entry[T]{name: key.text, at: key, node: n.items[i]}
		d.decode(n.items[i], reflect.ValueOf(&e.value).Elem(), field{key: key.text, min: f.min, max: f.max})
		e.broken = d.found > before || !n.items[i].complete()
		*m = append(*m, e)
	}
}

func (*named[K, T]) schema(s *schemaWriter, f field) object {
	rule := K("").rule()
	names := object{"pattern": rule.pattern.String()}
	if len(rule.reserved) > 0 {
		names["not"] = object{"enum": rule.reserved}
	}
	out := object{
		"type": []string{"object", "null"}, "propertyNames": names,
		"additionalProperties": s.value(reflect.TypeFor[T](), field{min: f.min, max: f.max}),
	}
	if f.minEntries > 0 {
		out["type"], out["minProperties"] = "object", f.minEntries
	}
	if f.maxEntries > 0 {
		out["maxProperties"] = f.maxEntries
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
	at     *node
}

func (x *filter) read(d *decoder, n *node, f field) {
	x.at = n
	switch {
	case n.kind == mapNode:
		f.minEntries = 1 // an empty filter would match every config
		x.params.read(d, n, f)
	case n.isText():
		x.when.read(d, n, f)
	default:
		d.want(n, f, "a mapping of parameters or an expression")
	}
}

func (*filter) schema(s *schemaWriter, f field) object {
	f.minEntries, f.maxEntries = 1, 0
	params := (*named[paramName, scalar])(nil).schema(s, f)
	return object{"anyOf": []object{params, {"type": "string", "minLength": 1}}}
}

// expression reports an error in an expression, at the exact character if the expression is
// in the file.
func (p *problems) expression(x formula, err error) {
	at, msg, hint := x.at.pos(), err.Error(), ""
	if e, ok := errors.AsType[*expr.Error](err); ok {
		msg, hint = e.Msg, e.Hint
		if x.listed == "" {
			at = x.at.inside(e.Pos)
		}
	}
	if x.listed != "" {
		p.addAt(at, hint, "benchmark %q, as listed by the harness: %s: %s", x.listed, x.key, msg)
		return
	}
	p.addAt(at, hint, "%s: %s", x.key, msg)
}
