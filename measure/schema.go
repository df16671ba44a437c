package measure

import (
	"bytes"
	_ "embed" // for the schema
)

//go:embed run.schema.json
var runSchema []byte

// Schema returns the JSON Schema of the document pawl.run/v1. A test keeps it in sync with the types.
func Schema() []byte { return bytes.Clone(runSchema) }
