package cli

import (
	"io"

	"github.com/goatnote-inc/pawl/internal/tune"
)

// tuneFiles are what a search leaves for people, beside its journal.
var tuneFiles = []struct {
	name  string
	write func(*tune.Suggestions, io.Writer) error
}{
	{"suggestions.md", (*tune.Suggestions).Markdown},
	{"report.html", (*tune.Suggestions).HTML},
}
