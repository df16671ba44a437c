package main

import (
	"bytes"
	"fmt"
	"html/template"
	"path"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// page is one page of the documentation.
type page struct {
	source   string // below docs, with slashes
	path     string // below the site, without extension
	title    string
	about    string // its first sentence
	markdown []byte // the source; links out of the documentation are URLs
	body     template.HTML
	sections []section
	links    []link
}

// section is a heading and the text below it.
type section struct {
	level     int
	id, title string
	text      string
}

// link is a link of a page to another page of the documentation.
type link struct {
	section, group string // the last heading of level 2, and the first cell of the row that it is in
	to             string // source of the other page
}

var markdown = goldmark.New(
	// As extension.GFM, but cells are aligned by an attribute: the policy of a page blocks styles in it.
	goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), extension.Linkify, extension.Strikethrough, extension.TaskList),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(html.WithUnsafe()), // the documentation is our own
)

// parse reads one page. The file exists below docs under the name source.
func parse(docs, source string, raw []byte) (*page, error) {
	p := &page{source: source, path: pagePath(source), markdown: outwardLinks(docs, source, raw)}
	doc := markdown.Parser().Parse(text.NewReader(p.markdown), parser.WithContext(parser.NewContext(parser.WithIDs(&headingIDs{}))))
	p.collect(doc)
	if p.title == "" {
		return nil, fmt.Errorf("%s has no title", source)
	}
	p.collectLinks(doc)
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, p.markdown, doc); err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	p.body = template.HTML(b.String()) //nolint:gosec // rendered from the documentation, which is our own
	return p, nil
}

// pagePath returns where a page is on the site. README is what a folder shows.
func pagePath(source string) string {
	dir, name := path.Split(strings.TrimSuffix(source, ".md"))
	if name == "README" {
		name = "index"
	}
	return dir + name
}

// collect fills the title, the first sentence and the sections of a page.
func (p *page) collect(doc ast.Node) {
	p.sections = append(p.sections, section{})
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		words := plain(n, p.markdown)
		if h, ok := n.(*ast.Heading); ok {
			if h.Level == 1 && p.title == "" {
				p.title = words
				continue
			}
			id, _ := h.AttributeString("id")
			name, _ := id.([]byte)
			p.sections = append(p.sections, section{level: h.Level, id: string(name), title: words})
			continue
		}
		if _, ok := n.(*ast.Paragraph); ok && p.about == "" && p.title != "" {
			p.about = firstSentence(words)
		}
		p.sections[len(p.sections)-1].text += words + " "
	}
}

// collectLinks records the links to other pages, and makes them lead to their HTML.
func (p *page) collectLinks(doc ast.Node) {
	var at link
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level == 2 {
				at = link{section: plain(n, p.markdown)}
			}
		case *ast.Link:
			if to, ok := p.resolve(string(n.Destination)); ok {
				p.links = append(p.links, link{at.section, at.group, to})
				n.Destination = []byte(p.href(to, string(n.Destination)))
			}
		case *ast.Image:
			n.SetAttributeString("loading", []byte("lazy"))
		default:
			if n.Kind().String() == "TableRow" {
				at.group = plain(n.FirstChild(), p.markdown)
			}
		}
		return ast.WalkContinue, nil
	})
}

// resolve returns the source of the page that a link leads to; false if it leads elsewhere.
func (p *page) resolve(target string) (string, bool) {
	file, _, _ := strings.Cut(target, "#")
	if !strings.HasSuffix(file, ".md") || strings.Contains(file, "://") {
		return "", false
	}
	return path.Join(path.Dir(p.source), file), true
}

// href returns the link to another page, with the anchor of the target.
func (p *page) href(to, target string) string {
	_, anchor, has := strings.Cut(target, "#")
	href := p.root() + pagePath(to) + ".html"
	if has {
		href += "#" + anchor
	}
	return href
}

// root returns the way from the page to the top of the site.
func (p *page) root() string { return strings.Repeat("../", strings.Count(p.path, "/")) }

// plain returns the words of a node, without markup.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if !entering {
			if n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.AutoLink:
			b.Write(n.Label(source))
		case *ast.FencedCodeBlock:
			b.Write(n.Lines().Value(source))
		case *ast.CodeBlock:
			b.Write(n.Lines().Value(source))
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// firstSentence returns the text up to the end of its first sentence.
func firstSentence(text string) string {
	for i, r := range text {
		rest := text[i+1:]
		if strings.ContainsRune(".:", r) && (rest == "" || rest[0] == ' ') && i > 20 {
			return text[:i] + "."
		}
	}
	return text
}

// headingIDs names headings as GitHub does, so that a link works in both places.
type headingIDs struct{ used map[string]int }

// Generate returns the name of a heading.
func (h *headingIDs) Generate(value []byte, _ ast.NodeKind) []byte {
	id := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		default:
			return -1
		}
	}, strings.TrimSpace(string(value)))
	if h.used == nil {
		h.used = map[string]int{}
	}
	n := h.used[id]
	h.used[id]++
	if n > 0 {
		id = fmt.Sprintf("%s-%d", id, n)
	}
	return []byte(id)
}

// Put does nothing: no heading sets a name of its own.
func (h *headingIDs) Put([]byte) {}
