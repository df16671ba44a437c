package report

import (
	_ "embed" // embeds the template
	"fmt"
	"html/template"
	"strings"
)

//go:embed page/part.html
var partText string

var part = template.Must(template.Must(page.Clone()).New("part").Parse(partText))

// Part renders the document as a part of another page. That page loads PageStyle and
// PageScript and has its own heading above.
func Part(d *Document) (template.HTML, error) {
	var b strings.Builder
	if err := part.Execute(&b, newPageView(d)); err != nil {
		return "", fmt.Errorf("cannot write HTML: %w", err)
	}
	return template.HTML(b.String()), nil //nolint:gosec // our own template escaped it
}

// PageScript returns the optional script of pawl's pages.
func PageScript() string { return pageScript }
