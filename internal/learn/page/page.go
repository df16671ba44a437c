// Package page shows the learning loop to people: the guide, the checklist, one session, and the
// report of all sessions. A page is a title, lines and tables, written for a terminal or as one HTML
// file without script. Every text is sanitized or escaped here.
//
// The package must not decide the answer of a gate, nor read or write a journal.
package page

import (
	"bytes"
	_ "embed" // the template
	"fmt"
	"html/template"
	"io"
	"slices"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/report"
)

// Page is something to read.
type Page struct {
	Title    string
	Lines    []string
	Sections []Section
}

// Section is a part of a page: lines, then a table.
type Section struct {
	Title string
	Lines []string
	Head  []string // of the table
	Right []bool   // columns of numbers; nil for none
	Rows  [][]string
}

func (p *Page) add(s Section) { p.Sections = append(p.Sections, s) }

// clean returns the page with sanitized texts, and rows as long as their head.
func (p Page) clean() Page {
	all := func(list []string) []string {
		return slices.DeleteFunc(words.SanitizeAll(list, words.SentenceLength), func(s string) bool { return s == "" })
	}
	out := Page{Title: words.Sanitize(p.Title), Lines: all(p.Lines)}
	for _, s := range p.Sections {
		c := Section{Title: words.Sanitize(s.Title), Lines: all(s.Lines), Head: s.Head, Right: s.Right}
		for _, row := range s.Rows {
			c.Rows = append(c.Rows, words.SanitizeAll(row, words.SentenceLength))
		}
		if c.Right == nil {
			c.Right = make([]bool, len(s.Head))
		}
		out.Sections = append(out.Sections, c)
	}
	return out
}

// Text writes the page for a terminal.
func (p Page) Text(w io.Writer, style report.Style) error {
	p = p.clean()
	var b bytes.Buffer
	fmt.Fprintln(&b, style.Bold(p.Title))
	for _, line := range p.Lines {
		fmt.Fprintln(&b, line)
	}
	for _, s := range p.Sections {
		fmt.Fprintf(&b, "\n%s\n", style.Bold(s.Title))
		for _, line := range s.Lines {
			fmt.Fprintln(&b, line)
		}
		if len(s.Rows) == 0 {
			continue
		}
		if err := report.Table(&b, style, s.Right, slices.Concat([][]string{s.Head}, s.Rows)); err != nil {
			return err
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

//go:embed html/page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// ownStyle makes a page print on one sheet.
const ownStyle = "@page { size: A4; margin: 10mm; } @media print { body { font-size: 8pt; } }"

// HTML writes the page as one file: no script, nothing loaded, printable.
func (p Page) HTML(w io.Writer) error {
	style := report.PageStyle() + ownStyle
	var b bytes.Buffer
	err := pageTemplate.Execute(&b, struct {
		Page
		Policy string
		Style  template.CSS
	}{p.clean(), report.PagePolicy(style), template.CSS(style)}) //nolint:gosec // our own style
	if err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}
