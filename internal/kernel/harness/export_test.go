package harness

// For tests.
var (
	MappedCode = mappedCode
	GroupOf    = groupOf
)
