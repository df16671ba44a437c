package cli

import (
	"io"

	"github.com/goatnote-inc/pawl/internal/tune"
)

// tuneFiles are what a search leaves for people, and for pawl tune apply, beside its journal.
var tuneFiles = []struct {
	name  string
	write func(*tune.Suggestions, io.Writer) error
}{
	{"suggestions.md", (*tune.Suggestions).Markdown},
	{"report.html", (*tune.Suggestions).HTML},
	{tuneReport, func(s *tune.Suggestions, w io.Writer) error { return writeJSON(w, s.Report) }},
}
