package workflow

import (
	"bytes"
	_ "embed"
)

//go:embed templates/pull_request.md.tmpl
var pullRequest []byte

// PullRequestPlaces are where GitHub looks for a pull request template. If there is none,
// pawl creates the first of these files.
var PullRequestPlaces = []string{
	".github/pull_request_template.md", ".github/PULL_REQUEST_TEMPLATE.md",
	"pull_request_template.md", "PULL_REQUEST_TEMPLATE.md",
	"docs/pull_request_template.md", "docs/PULL_REQUEST_TEMPLATE.md",
}

// PullRequest adds pawl's section to a pull request template; nil if it is already there.
func PullRequest(text []byte) []byte {
	first, _, _ := bytes.Cut(pullRequest, []byte("\n"))
	if bytes.Contains(text, first[:len("<!-- pawl:")]) {
		return nil
	}
	text = bytes.TrimRight(text, "\n")
	if len(text) > 0 {
		text = append(text, "\n\n"...)
	}
	return append(text, pullRequest...)
}
