package improve

import (
	"io"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/tune"
)

// tuneFiles are the files that a search writes beside its journal, for users and for pawl tune apply.
var tuneFiles = []struct {
	name  string
	write func(*tune.Suggestions, io.Writer) error
}{
	{"suggestions.md", (*tune.Suggestions).Markdown},
	{"report.html", (*tune.Suggestions).HTML},
	{tuneReport, func(s *tune.Suggestions, w io.Writer) error { return command.WriteJSON(w, s.Report) }},
}
