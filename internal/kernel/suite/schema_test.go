package suite

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
)

func compileSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("suite.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("suite.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// accepts tells whether an editor with the schema would be content with a file.
func accepts(t testing.TB, s *jsonschema.Schema, data []byte) bool {
	t.Helper()
	var x any
	if err := yaml.Unmarshal(data, &x); err != nil {
		t.Fatalf("not YAML: %v\n%s", err, data)
	}
	text, err := json.Marshal(x)
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(doc) == nil
}

// The schema accepts every good file, and of the bad ones those whose keys, types,
// ranges and words are right. Those that are no YAML never reach it.
func TestSchemaAgreesWithExamples(t *testing.T) {
	s := compileSchema(t)
	for _, path := range append(files(t, "testdata/ok/*.yaml"), files(t, "testdata/bad/*.yaml")...) {
		kind, _, _ := strings.Cut(filepath.Base(path), "-")
		want := strings.Contains(path, "ok") || kind == "sense"
		if kind == "yaml" {
			continue
		}
		if got := accepts(t, s, read(t, path)); got != want {
			t.Errorf("%s: the schema accepts it: %v, want %v", path, got, want)
		}
	}
}

// Decoder and schema come from the same structs. This puts odd values at every key
// and sees to it that both find the same.
func TestSchemaAgreesWithDecoder(t *testing.T) {
	s := compileSchema(t)
	values := []string{
		"1", "0", "-1", "1.5", "1.0", "1e3", "1e9", "2000000", "true", "text", "''", "'1'", "~", "[]", "{}", "[1]", "[1, 1]", "[text]", "[[1]]",
		"{a: 1}", "{a: text}", "{2a: 1}", "{min: 1}", "{a: {}}", "{candidate: {}}", "{time: 1}", "{PAWL_IN: 1}", "[{a: 1}]", "[{}]", "[~]",
		"auto", "cpu", "hot", "[hot, cold]", "[hot, hot]", "free", "1500MHz", "0MHz", "10m", "1.5h", "10", "10 m", "1h30m", "pawl", "higher",
		"[{when: a > 1}]", "[{when: {a: 1}, samples: 0}]", "[{samples: 1}]", "{x: {gate: 1}}", "{x: {gate: true}}", "{x: {matrix: {}}}",
		"{x: {matrix: {a: 1}}}", "{x: {matrix: {a: []}}}", "{x: {matrix: {a: [1, 1]}}}", "{x: {bulid: {}}}", "{x: {build: {timeout: 1}}}",
		"f16", "normal", "{uniform: [0, N]}", "{uniform: [0]}", "{x: {in: f32, shape: [N]}}", "{x: {in: 1}}", "{x: {shape: []}}", "{x: {value: N, type: i32}}",
		"{file: a.so, kernel: k}", "{file: a.so}", "{oracle: x, seeds: 0}", "{fuzz: {matrix: {S: [1, 2]}, jitter: {S: 8}}}", "{S: 8}", "{S: 0}", "{S: 1.5}",
		"[normal, zeros]", "[normal, normal]", "{tolerance: {atol: 2e-3, rtol: 2}}", "no", "bitwise", "trusted", "{out: sum(a) * exp(x)}",
	}
	for _, path := range keyPaths(reflect.TypeFor[fileDoc]()) {
		for _, value := range values {
			text := "version: 1\n" + nest(path, value)
			if path[0] == "version" {
				text = nest(path, value)
			}
			if got, want := accepts(t, s, []byte(text)), decodes(t, text); got != want {
				t.Errorf("the schema accepts it: %v, the decoder: %v\n%s", got, want, text)
			}
		}
	}
}

// keyPaths lists every key of the format; "*" stands for a name the user chose.
func keyPaths(t reflect.Type) [][]string {
	var paths [][]string
	for _, f := range strictyaml.FieldsOf(t) {
		paths = append(paths, []string{f.Key})
		inner := f.Type
		prefix := []string{f.Key}
		if inner.Kind() == reflect.Slice && inner.Elem().Kind() == reflect.Struct {
			if v, ok := inner.Elem().FieldByName("value"); ok { // named
				inner, prefix = v.Type, append(prefix, "x")
			}
		}
		if inner.Kind() == reflect.Struct && !reflect.PointerTo(inner).Implements(spelledType) {
			for _, p := range keyPaths(inner) {
				paths = append(paths, append(append([]string{}, prefix...), p...))
			}
		}
	}
	return paths
}

func nest(path []string, value string) string {
	var b strings.Builder
	for i, key := range path {
		b.WriteString(strings.Repeat("  ", i) + key + ":")
		if i < len(path)-1 {
			b.WriteString("\n")
		}
	}
	return b.String() + " " + value + "\n"
}

// beyondSchema are the mistakes that only reading a value's meaning finds.
var beyondSchema = regexp.MustCompile(`unknown variable|unexpected|bad number syntax|is too large to be stored|values have no members`)

// decodes tells whether the decoder finds nothing wrong with keys, types, ranges and words.
func decodes(t *testing.T, text string) bool {
	t.Helper()
	p := &strictyaml.Problems{}
	root := readYAML("pawl.yaml", []byte(text), p)
	if root == nil {
		t.Fatalf("%v\n%s", p.Err(), text)
	}
	decodeFile(root, p)
	for _, e := range p.All() {
		if !beyondSchema.MatchString(e.Msg) {
			return false
		}
	}
	return true
}

// Every key says what it is for, and its example is a value that it may have.
func TestEveryKeyIsDocumented(t *testing.T) {
	var walk func(at reflect.Type)
	walk = func(at reflect.Type) {
		for _, f := range strictyaml.FieldsOf(at) {
			if !strings.HasSuffix(f.Doc, ".") || len(f.Doc) < 20 {
				t.Errorf("%s.%s: doc %q", at.Name(), f.Key, f.Doc)
			}
			if f.Example != "" {
				p := &strictyaml.Problems{}
				n := readYAML("example", []byte(f.Example), p)
				(&strictyaml.Decoder{Problems: p}).Decode(n, reflect.New(f.Type).Elem(), f)
				if err := p.Err(); err != nil {
					t.Errorf("%s.%s: the example is wrong: %v", at.Name(), f.Key, err)
				}
			}
			if f.Type.Kind() == reflect.Struct && !reflect.PointerTo(f.Type).Implements(spelledType) {
				walk(f.Type)
			}
		}
	}
	for _, at := range []reflect.Type{
		reflect.TypeFor[fileDoc](), reflect.TypeFor[benchmarkDoc](), reflect.TypeFor[overrideDoc](), reflect.TypeFor[metricDoc](),
		reflect.TypeFor[argumentDoc](), reflect.TypeFor[mapDoc](), reflect.TypeFor[launchDoc](), reflect.TypeFor[checkDoc](),
	} {
		walk(at)
	}
}

func TestDefaults(t *testing.T) {
	s := parse(t, "version: 1\nharness: {command: x}\nbenchmarks: {a: {matrix: {N: 1}}}\n")
	golden.Check(t, "defaults.txt", describe(s))
	var doc object
	if err := json.Unmarshal(Schema(), &doc); err != nil {
		t.Fatal(err)
	}
	samples := doc["properties"].(object)["measure"].(object)["properties"].(object)["samples"].(object)
	if samples["default"] != float64(s.Measure.Samples) {
		t.Errorf("the schema says that samples are %v without being written, they are %d", samples["default"], s.Measure.Samples)
	}
}

func TestSchemaGolden(t *testing.T) {
	golden.Check(t, "schema.json", string(Schema()))
}
