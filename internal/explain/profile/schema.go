package profile

import (
	"bytes"
	_ "embed" // the schema
)

//go:embed profile.schema.json
var profileSchema []byte

// Schema returns the JSON Schema of the record pawl.profile/v1. A test checks that it matches the types.
func Schema() []byte { return bytes.Clone(profileSchema) }
