package profile_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

func TestSchemaMatchesTheTypes(t *testing.T) {
	golden.File(t, "profile.schema.json", string(generateSchema(t)))
}

func generateSchema(t *testing.T) []byte {
	t.Helper()
	r := &jsonschema.Reflector{}
	for _, pkg := range []string{"internal/explain/profile", "measure", "gpu"} {
		must(t, r.AddGoComments("github.com/goatnote-inc/pawl/internal/explain/profile", "../../../"+pkg))
	}
	for key, text := range r.CommentMap {
		r.CommentMap[key] = strings.Join(strings.Fields(text), " ")
	}
	s := r.Reflect(&profile.Profile{})
	s.ID = "https://github.com/goatnote-inc/pawl/schema/profile/v1"
	s.Title = "pawl.profile/v1"
	b, err := json.MarshalIndent(s, "", "  ")
	must(t, err)
	return append(b, '\n')
}

func TestPinnedRecordSatisfiesTheSchema(t *testing.T) {
	schema, err := validator.UnmarshalJSON(bytes.NewReader(profile.Schema()))
	must(t, err)
	c := validator.NewCompiler()
	must(t, c.AddResource("profile.json", schema))
	s, err := c.Compile("profile.json")
	must(t, err)
	pinned, err := os.ReadFile("testdata/v1/profile.json")
	must(t, err)
	doc, err := validator.UnmarshalJSON(bytes.NewReader(pinned))
	must(t, err)
	if err := s.Validate(doc); err != nil {
		t.Error(err)
	}
	delete(doc.(map[string]any)["tool"].(map[string]any), "name")
	if err := s.Validate(doc); err == nil {
		t.Error("a profile without the name of its tool satisfies the schema")
	}
}

var must = testrun.Must
