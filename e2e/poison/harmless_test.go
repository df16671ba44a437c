package poison

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// What a report of ours has of markup: folds, names that cannot stand between backquotes,
// and the marks of its sections. And where its links lead.
var (
	ownHTML    = regexp.MustCompile(`^(</?(details|summary|code|sub|br)( open)?/?>|<!-- /?pawl:[a-z0-9=./ -]* -->)$`)
	tags       = regexp.MustCompile(`<!--.*?-->|<[^>]*>`)
	ownLinks   = regexp.MustCompile(`^https://github\.(example/octo/kernels|com/goatnote-inc/pawl)/`)
	mention    = regexp.MustCompile(`(^|[^A-Za-z0-9_.])@[A-Za-z0-9]`)
	reference  = regexp.MustCompile(`#[0-9]|(?i)\bgh-[0-9]`)
	wholeSHA   = regexp.MustCompile(`\b[0-9a-f]{40}\b`)
	acceptLine = regexp.MustCompile(`(?m)^/pawl accept [0-9a-f]{7}`)
)

var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM))

// harmless reads a report as GitHub does and looks for anything that is not ours.
func harmless(t *testing.T, report string) {
	t.Helper()
	source := []byte(report)
	inCode := 0
	err := ast.Walk(markdown.Parser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if _, ok := n.(*ast.CodeSpan); ok {
			if entering {
				inCode++
			} else {
				inCode--
			}
		}
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			checkLink(t, string(n.Destination))
		case *ast.AutoLink:
			t.Errorf("a link that nobody wrote: %q", n.URL(source))
		case *ast.Image:
			t.Errorf("an image: %q", n.Destination)
		case *ast.RawHTML:
			tag := string(n.Segments.Value(source))
			switch tag {
			case "<code>": // what GitHub looks for in text it does not look for in code
				inCode++
			case "</code>":
				inCode--
			}
			checkHTML(t, tag)
		case *ast.HTMLBlock:
			checkHTML(t, string(n.Lines().Value(source)))
		case *east.TaskCheckBox, *ast.Blockquote:
			t.Errorf("a %s that is not ours", n.Kind())
		case *ast.Heading:
			if title := string(n.Lines().Value(source)); !strings.HasPrefix(title, "pawl: ") && n.Level < 4 {
				t.Errorf("a heading that is not ours: %q", title)
			}
		case *ast.Text:
			if inCode == 0 {
				checkText(t, string(n.Segment.Value(source)))
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Error(err)
	}
	if strings.ContainsFunc(strings.ReplaceAll(strings.ReplaceAll(report, "\n", ""), "\u200b", ""), hidden) {
		t.Errorf("letters nobody sees: %.2000q", report)
	}
	for _, line := range acceptLine.FindAllString(report, -1) {
		if line != "/pawl accept 1111111" {
			t.Errorf("a line that accepts: %q", line)
		}
	}
	if strings.Contains(report, "/pawl accept 1111111 because") && acceptLine.MatchString(strings.ReplaceAll(report, "/pawl accept 1111111 REASON", "")) {
		t.Error("a stranger's line accepts")
	}
	if n := len(report); n > 4*66_000 {
		t.Errorf("%d bytes", n)
	}
}

func checkLink(t *testing.T, to string) {
	t.Helper()
	if !ownLinks.MatchString(to) {
		t.Errorf("a link to %q", to)
	}
}

func checkHTML(t *testing.T, html string) {
	t.Helper()
	for _, tag := range tags.FindAllString(html, -1) {
		if !ownHTML.MatchString(tag) {
			t.Errorf("HTML that is not ours: %q", tag)
		}
	}
}

func checkText(t *testing.T, s string) {
	t.Helper()
	for what, pattern := range map[string]*regexp.Regexp{"mention": mention, "reference": reference, "commit": wholeSHA} {
		if found := pattern.FindString(s); found != "" {
			t.Errorf("a %s in %q", what, s)
		}
	}
}

// hidden are letters that a reader does not see, or that move what they see.
func hidden(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
