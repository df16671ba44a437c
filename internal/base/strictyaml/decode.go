package strictyaml

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Field is a key of a mapping, as described by the tags of a struct field: yaml is its name, doc and example are
// for people, min and max bound numbers, least and most the entries of a list or mapping, require makes it required.
type Field struct {
	Key, Doc, Example      string
	Min, Max               *float64 // of a number, or of each number in a list
	MinEntries, MaxEntries int      // entries of a list or mapping; 0 means no limit
	Required               bool
	Index                  []int
	Type                   reflect.Type
}

// Reader is a value with its own syntax.
type Reader interface {
	ReadYAML(d *Decoder, n *Node, f Field)
}

// Enumeration is a value that must be one of a few words.
type Enumeration interface{ Words() []string }

// FieldsOf returns the keys of a struct, including those of embedded structs.
func FieldsOf(t reflect.Type) []Field {
	var fields []Field
	for _, sf := range reflect.VisibleFields(t) {
		key, ok := sf.Tag.Lookup("yaml")
		if !ok || key == "-" {
			continue
		}
		fields = append(fields, Field{
			Key: key, Doc: sf.Tag.Get("doc"), Example: sf.Tag.Get("example"),
			Min: bound(sf.Tag.Get("min")), Max: bound(sf.Tag.Get("max")),
			MinEntries: count(sf.Tag.Get("least")), MaxEntries: count(sf.Tag.Get("most")),
			Required: sf.Tag.Get("require") == "true",
			Index:    sf.Index, Type: sf.Type,
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

// AnyRequired reports whether a mapping with these keys cannot be left empty.
func AnyRequired(fields []Field) bool {
	return slices.ContainsFunc(fields, func(f Field) bool { return f.Required })
}

// Decode reads a file into a struct, by the yaml tags of its fields. It rejects everything else. An empty file, and a
// key without a value, leave what the struct has. The error is an Errors.
func Decode(name string, data []byte, f Format, into any) error {
	d := &Decoder{Problems: &Problems{}, skipNull: true}
	if root := Read(name, data, f, d.Problems); root != nil {
		d.Decode(root, reflect.ValueOf(into).Elem(), Field{Key: "the file"})
	}
	return d.Err()
}

// Decoder fills structs from nodes and rejects everything else. It continues after an error, to report all of
// them.
type Decoder struct {
	*Problems
	skipNull bool
}

// Decode reads a value, which messages call by the field's key.
func (d *Decoder) Decode(n *Node, v reflect.Value, f Field) {
	switch x := v.Addr().Interface().(type) {
	case Reader:
		x.ReadYAML(d, n, f)
		return
	case Enumeration:
		d.word(n, v, x.Words(), f)
		return
	case *time.Duration:
		span, err := time.ParseDuration(n.Text)
		if n.Kind != Scalar || err != nil {
			d.Want(n, f, "a time such as 90s or 10m")
		}
		*x = span
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.Decode(n, v.Elem(), f)
	case reflect.Struct:
		d.Mapping(n, v, f)
	case reflect.Map:
		d.entries(n, v, f)
	case reflect.Slice:
		d.list(n, v, f)
	case reflect.String:
		if n.Kind != Scalar {
			d.Want(n, f, "text")
			return
		}
		v.SetString(n.Text)
	case reflect.Bool:
		if !n.IsBool() {
			d.Want(n, f, "true or false")
			return
		}
		v.SetBool(strings.EqualFold(n.Text, "true"))
	case reflect.Int, reflect.Int64:
		if d.number(n, f, "a whole number", n.IsNumber() && n.Num == math.Trunc(n.Num) && math.Abs(n.Num) < 1<<53) {
			v.SetInt(int64(n.Num))
		}
	case reflect.Float64:
		if d.number(n, f, "a number", n.IsNumber()) {
			v.SetFloat(n.Num)
		}
	default:
		panic(fmt.Sprintf("strictyaml: key %s has type %s, which the decoder does not know", f.Key, v.Type()))
	}
}

// Want reports a value of the wrong kind.
func (d *Decoder) Want(n *Node, f Field, kind string) {
	d.Add(n, "", "%s: expected %s, got %s", f.Key, kind, n.Describe())
}

func (d *Decoder) number(n *Node, f Field, kind string, ok bool) bool {
	switch {
	case !ok:
		d.Want(n, f, kind)
		return false
	case f.Min != nil && n.Num < *f.Min, f.Max != nil && n.Num > *f.Max:
		d.Add(n, "", "%s is %s, must be %s", f.Key, Shorten(n.Text), f.Bounds())
		return false
	}
	return true
}

// Bounds returns the range of a number, for people.
func (f Field) Bounds() string {
	if *f.Min == *f.Max {
		return fmt.Sprintf("%.0f", *f.Min)
	}
	return fmt.Sprintf("%.0f to %.0f", *f.Min, *f.Max)
}

func (d *Decoder) word(n *Node, v reflect.Value, words []string, f Field) {
	if !n.IsText() {
		d.Want(n, f, "one of "+strings.Join(words, ", "))
		return
	}
	if slices.Contains(words, n.Text) {
		v.SetString(n.Text)
		return
	}
	hint := DidYouMean(n.Text, words)
	if len(words) <= 5 { // a short list is printed in full: the right word may look quite different
		hint = "known: " + strings.Join(words, ", ")
	}
	d.Add(n, hint, "%s: unknown value %q", f.Key, Shorten(n.Text))
}

// Mapping fills a struct. A missing value counts as an empty mapping, so that a section may
// have all its lines commented out.
func (d *Decoder) Mapping(n *Node, v reflect.Value, f Field) {
	fields := FieldsOf(v.Type())
	if n.IsNull() && !AnyRequired(fields) {
		return
	}
	if n.Kind != Map {
		d.Want(n, f, "a mapping")
		return
	}
	known := make([]string, len(fields))
	byKey := map[string]Field{}
	for i, f := range fields {
		known[i], byKey[f.Key] = f.Key, f
	}
	for i, key := range n.Keys {
		switch f, ok := byKey[key.Text]; {
		case !ok:
			d.Add(key, DidYouMean(key.Text, known), "unknown key %q", Shorten(key.Text))
		case d.skipNull && n.Items[i].IsNull():
		default:
			d.Decode(n.Items[i], v.FieldByIndex(f.Index), f)
		}
	}
	for _, f := range fields {
		if f.Required && n.Get(f.Key) == nil && !n.Incomplete {
			d.Add(n, "", "missing key %q", f.Key)
		}
	}
}

// entries fills a map whose keys the user chose.
func (d *Decoder) entries(n *Node, v reflect.Value, f Field) {
	if n.Kind != Map {
		d.Want(n, f, "a mapping")
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for i, key := range n.Keys {
		item := reflect.New(v.Type().Elem()).Elem()
		d.Decode(n.Items[i], item, Field{Key: key.Text})
		v.SetMapIndex(reflect.ValueOf(key.Text), item)
	}
}

func (d *Decoder) list(n *Node, v reflect.Value, f Field) {
	if n.Kind != List {
		hint := ""
		if n.Kind == Scalar && !n.IsNull() {
			hint = fmt.Sprintf("write [%s]", Shorten(n.Text))
		}
		d.Add(n, hint, "%s: expected a list, got %s", f.Key, n.Describe())
		return
	}
	d.Size(n, f)
	f.MinEntries, f.MaxEntries = 0, 0 // they apply to the list, not to its items
	list := reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items))
	for i, item := range n.Items {
		d.Decode(item, list.Index(i), f)
	}
	v.Set(list)
}

// Size reports a list or mapping with too few or too many entries.
func (d *Decoder) Size(n *Node, f Field) {
	switch entries := len(n.Items); {
	case entries < f.MinEntries && !n.Incomplete:
		d.Add(n, "", "%s is empty", f.Key)
	case f.MaxEntries > 0 && entries > f.MaxEntries:
		d.Add(n, "", "%s has %d entries, the limit is %d", f.Key, entries, f.MaxEntries)
	}
}
