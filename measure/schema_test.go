package measure_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/measure"
)

func TestSchemaMatchesTheTypes(t *testing.T) {
	golden.File(t, "run.schema.json", string(generateSchema(t)))
}

func generateSchema(t *testing.T) []byte {
	t.Helper()
	r := &jsonschema.Reflector{
		AllowAdditionalProperties: true, // a newer pawl may add fields, and readers accept them
		Mapper:                    schemaOf,
	}
	for _, pkg := range []string{"measure", "gpu"} {
		must(t, r.AddGoComments("github.com/goatnote-inc/pawl/"+pkg, "../"+pkg))
	}
	// Paths are relative to the module, not to this package.
	comments := map[string]string{}
	for key, text := range r.CommentMap {
		comments[strings.Replace(key, "/../", "/", 1)] = strings.Join(strings.Fields(text), " ")
	}
	for key, text := range comments {
		for _, pkg := range []string{"measure", "gpu"} {
			comments[strings.Replace(key, "pawl/"+pkg+"/"+pkg+".", "pawl/"+pkg+".", 1)] = text
		}
	}
	r.CommentMap = comments
	s := r.Reflect(&measure.Run{})
	s.ID = "https://github.com/goatnote-inc/pawl/schema/run/v1"
	s.Title = "pawl.run/v1"
	b, err := json.MarshalIndent(s, "", "  ")
	must(t, err)
	return append(b, '\n')
}

// schemaOf tells how the types with a form of their own look in JSON.
func schemaOf(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[measure.Samples]():
		return &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "number"}}
	case reflect.TypeFor[gpu.Reasons]():
		return &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "string"}}
	case reflect.TypeFor[gpu.ClockPolicy]():
		return &jsonschema.Schema{Type: "string", Pattern: "^(free|base|max|[1-9][0-9]*MHz)$"}
	default:
		return nil
	}
}

func TestPinnedDocumentSatisfiesTheSchema(t *testing.T) {
	schema, err := validator.UnmarshalJSON(bytes.NewReader(measure.Schema()))
	must(t, err)
	c := validator.NewCompiler()
	must(t, c.AddResource("run.json", schema))
	s, err := c.Compile("run.json")
	must(t, err)
	doc, err := validator.UnmarshalJSON(bytes.NewReader(read(t, "testdata/v1/run.json")))
	must(t, err)
	if err := s.Validate(doc); err != nil {
		t.Error(err)
	}
	delete(doc.(map[string]any)["cases"].([]any)[0].(map[string]any), "benchmark")
	if err := s.Validate(doc); err == nil {
		t.Error("a case without its benchmark satisfies the schema")
	}
}
