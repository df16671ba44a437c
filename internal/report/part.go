package report

import (
	_ "embed" // the part's text
	"fmt"
	"html/template"
	"strings"
)

//go:embed page/part.html
var partText string

var part = template.Must(template.Must(page.Clone()).New("part").Parse(partText))

// Part is the document as a part of another page, which loads PageStyle and PageScript
// and has a heading of its own above.
func Part(d *Document) (template.HTML, error) {
	var b strings.Builder
	if err := part.Execute(&b, newPageView(d)); err != nil {
		return "", fmt.Errorf("write HTML: %w", err)
	}
	return template.HTML(b.String()), nil //nolint:gosec // our own template escaped it
}

// PageScript is what pawl's pages add for who has script.
func PageScript() string { return pageScript }
