package suite

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// field is a key of a mapping, as described by its struct tags.
type field struct {
	key, doc, example      string
	min, max               *float64 // of a number, or of each number in a list
	minEntries, maxEntries int      // entries of a list or mapping; 0 means no limit
	required               bool
	index                  []int
	kind                   reflect.Type
}

// customSyntax is a value with its own syntax, beyond its Go type. Its reader and its schema are
// side by side, so that they agree.
type customSyntax interface {
	read(d *decoder, n *node, f field)
	schema(s *schemaWriter, f field) object
}

// enumeration is a value that must be one of a few words.
type enumeration interface{ words() []string }

var (
	spelledType     = reflect.TypeFor[customSyntax]()
	enumerationType = reflect.TypeFor[enumeration]()
)

// fieldsOf returns the keys of a struct, including those of embedded structs.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for _, sf := range reflect.VisibleFields(t) {
		key, ok := sf.Tag.Lookup("key")
		if !ok {
			continue
		}
		fields = append(fields, field{
			key: key, doc: sf.Tag.Get("doc"), example: sf.Tag.Get("example"),
			min: bound(sf.Tag.Get("min")), max: bound(sf.Tag.Get("max")),
			minEntries: count(sf.Tag.Get("least")), maxEntries: count(sf.Tag.Get("most")),
			required: sf.Tag.Get("require") == "true",
			index:    sf.Index, kind: sf.Type,
		})
	}
	return fields
}

func bound(tag string) *float64 {
	if x, err := strconv.ParseFloat(tag, 64); err == nil {
		return &x
	}
	return nil
}

func count(tag string) int {
	n, _ := strconv.Atoi(tag) // no tag means no limit
	return n
}

// size reports a list or mapping with too few or too many entries.
func (d *decoder) size(n *node, f field) {
	switch entries := len(n.items); {
	case entries < f.minEntries && !n.incomplete:
		d.add(n, "", "%s is empty", f.key)
	case f.maxEntries > 0 && entries > f.maxEntries:
		d.add(n, "", "%s has %d entries, the limit is %d", f.key, entries, f.maxEntries)
	}
}

// decoder fills the structs of file.go from nodes and rejects everything else. It continues
// after an error, to report all of them.
type decoder struct{ *problems }

// decodeFile decodes a tree into a fileDoc.
func decodeFile(root *node, p *problems) *fileDoc {
	doc := &fileDoc{}
	d := &decoder{p}
	if root.isNull() {
		d.add(root, `start with "version: 1"`, "the file is empty")
		return doc
	}
	d.decode(root, reflect.ValueOf(doc).Elem(), field{key: "suite"})
	return doc
}

func (d *decoder) decode(n *node, v reflect.Value, f field) {
	switch x := v.Addr().Interface().(type) {
	case customSyntax:
		x.read(d, n, f)
		return
	case enumeration:
		d.word(n, v, x.words(), f)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.decode(n, v.Elem(), f)
	case reflect.Struct:
		d.mapping(n, v, f)
	case reflect.Slice:
		d.list(n, v, f)
	case reflect.Bool:
		if !n.isBool() {
			d.want(n, f, "true or false")
			return
		}
		v.SetBool(strings.EqualFold(n.text, "true"))
	case reflect.Int:
		if d.number(n, f, "a whole number", n.isNumber() && n.num == math.Trunc(n.num)) {
			v.SetInt(int64(n.num))
		}
	case reflect.Float64:
		if d.number(n, f, "a number", n.isNumber()) {
			v.SetFloat(n.num)
		}
	default:
		panic(fmt.Sprintf("suite: a field of file.go has type %s, which the decoder does not know", v.Type()))
	}
}

// want reports a value of the wrong kind.
func (d *decoder) want(n *node, f field, kind string) {
	d.add(n, "", "%s: expected %s, got %s", f.key, kind, n.describe())
}

func (d *decoder) number(n *node, f field, kind string, ok bool) bool {
	switch {
	case !ok:
		d.want(n, f, kind)
		return false
	case f.min != nil && n.num < *f.min, f.max != nil && n.num > *f.max:
		d.add(n, "", "%s is %s, must be %s", f.key, shorten(n.text), f.bounds())
		return false
	}
	return true
}

func (f field) bounds() string {
	if *f.min == *f.max {
		return fmt.Sprintf("%.0f", *f.min)
	}
	return fmt.Sprintf("%.0f to %.0f", *f.min, *f.max)
}

func (d *decoder) word(n *node, v reflect.Value, words []string, f field) {
	if !n.isText() {
		d.want(n, f, "one of "+strings.Join(words, ", "))
		return
	}
	for _, w := range words {
		if n.text == w {
			v.SetString(w)
			return
		}
	}
	hint := didYouMean(n.text, words)
	if len(words) <= 5 { // a short list is printed in full: the right word may look quite different
		hint = "known: " + strings.Join(words, ", ")
	}
	d.add(n, hint, "%s: unknown value %q", f.key, shorten(n.text))
}

// mapping fills a struct. A missing value counts as an empty mapping, so that a section may
// have all its lines commented out.
func (d *decoder) mapping(n *node, v reflect.Value, f field) {
	fields := fieldsOf(v.Type())
	if n.isNull() && !anyRequired(fields) {
		return
	}
	if n.kind != mapNode {
		d.want(n, f, "a mapping")
		return
	}
	known := make([]string, len(fields))
	byKey := map[string]field{}
	for i, f := range fields {
		known[i], byKey[f.key] = f.key, f
	}
	for i, key := range n.keys {
		if f, ok := byKey[key.text]; ok {
			d.decode(n.items[i], v.FieldByIndex(f.index), f)
			continue
		}
		d.add(key, didYouMean(key.text, known), "unknown key %q", shorten(key.text))
	}
	for _, f := range fields {
		if f.required && n.get(f.key) == nil && !n.incomplete {
			d.add(n, "", "missing key %q", f.key)
		}
	}
}

func anyRequired(fields []field) bool {
	return slices.ContainsFunc(fields, func(f field) bool { return f.required })
}

func (d *decoder) list(n *node, v reflect.Value, f field) {
	if n.kind != listNode {
		hint := ""
		if n.kind == scalarNode && !n.isNull() {
			hint = fmt.Sprintf("write [%s]", shorten(n.text))
		}
		d.add(n, hint, "%s: expected a list, got %s", f.key, n.describe())
		return
	}
	d.size(n, f)
	f.minEntries, f.maxEntries = 0, 0 // they apply to the list, not to its items
	list := reflect.MakeSlice(v.Type(), len(n.items), len(n.items))
	for i, item := range n.items {
		d.decode(item, list.Index(i), f)
	}
	v.Set(list)
}
