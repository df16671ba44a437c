package main

import (
	"bytes"
	_ "embed" // embeds the frame of a page
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"unicode"

	"github.com/goatnote-inc/pawl/internal/base/chart"
)

var (
	//go:embed assets/page.html
	frame string
	//go:embed assets/site.css
	style string
	//go:embed assets/site.js
	script []byte
	//go:embed assets/icon.svg
	icon []byte
)

var pageTemplate = template.Must(template.New("page").Parse(frame))

// navItem is a link of the navigation, as a page shows it.
type navItem struct {
	Title, Href string
	Current     bool
}

type navPart struct {
	Title  string
	Open   bool
	Groups []navList
}

type navList struct {
	Title string
	Items []navItem
}

// html renders a page in its frame.
func (p *page) html(sections []*navSection) ([]byte, error) {
	data := struct {
		Root, Title, About, Markdown, Source string
		Body                                 template.HTML
		Parts                                []navPart
		Contents                             []navItem
		Previous, Next                       *navItem
	}{
		Root: p.root(), Title: p.title, About: p.about, Body: p.body,
		Markdown: p.path[strings.LastIndex(p.path, "/")+1:] + ".md", Source: repository + "/blob/main/docs/" + p.source,
	}
	var order []*page
	for _, s := range sections {
		part := navPart{Title: s.title, Open: s.has(p)}
		for _, g := range s.groups {
			list := navList{Title: g.title}
			for _, to := range g.pages {
				list.Items = append(list.Items, p.item(to))
			}
			order = append(order, g.pages...)
			part.Groups = append(part.Groups, list)
		}
		data.Parts = append(data.Parts, part)
	}
	if i := slices.Index(order, p); i >= 0 {
		if i > 0 {
			data.Previous = new(p.item(order[i-1]))
		}
		if i+1 < len(order) {
			data.Next = new(p.item(order[i+1]))
		}
	}
	for _, s := range p.sections {
		if s.level == 2 {
			data.Contents = append(data.Contents, navItem{Title: s.title, Href: "#" + s.id})
		}
	}
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, data); err != nil {
		return nil, fmt.Errorf("fill the frame: %w", err)
	}
	return b.Bytes(), nil
}

func (p *page) item(to *page) navItem {
	return navItem{Title: to.title, Href: p.href(to.source, ""), Current: to == p}
}

// stylesheet returns the style of the site: the colors of pawl's reports, also by name for readers
// who choose, and the rules of the site.
func stylesheet() string {
	colors, _, _ := strings.Cut(chart.Style, "/* drawings */")
	light, rest, _ := strings.Cut(after(colors, ":root {"), "}")
	dark, _, _ := strings.Cut(after(rest, ":root {"), "}")
	return colors + ":root[data-theme=light] {" + strings.Replace(light, "light dark", "light", 1) + "}\n" +
		":root[data-theme=dark] { color-scheme: dark;" + dark + "}\n" + style
}

func after(text, mark string) string {
	_, rest, _ := strings.Cut(text, mark)
	return rest
}

// excerptLength is how much of a section the search shows.
const excerptLength = 200

// searchIndex returns what the search reads: all pages, and their sections with an excerpt and the
// other words that they contain.
func searchIndex(pages []*page) ([]byte, error) {
	type entry struct {
		Page  int    `json:"p"`
		ID    string `json:"i,omitempty"`
		Title string `json:"t,omitempty"`
		Text  string `json:"x"`
		Words string `json:"w,omitempty"`
	}
	index := struct {
		Pages    [][2]string `json:"pages"`
		Sections []entry     `json:"sections"`
	}{}
	for i, p := range pages {
		index.Pages = append(index.Pages, [2]string{p.path + ".html", p.title})
		for _, s := range p.sections {
			excerpt, words := shorten(s.text)
			index.Sections = append(index.Sections, entry{i, s.id, s.title, excerpt, words})
		}
	}
	data, err := json.Marshal(index)
	if err != nil {
		return nil, fmt.Errorf("write the search index: %w", err)
	}
	return data, nil
}

// shorten returns the start of a text, and the words of the rest, each once.
func shorten(text string) (excerpt, words string) {
	text = strings.TrimSpace(text)
	if len(text) <= excerptLength {
		return text, ""
	}
	cut := strings.LastIndexByte(text[:excerptLength], ' ')
	if cut < 0 {
		cut = len(text)
	}
	list := strings.FieldsFunc(strings.ToLower(text[cut:]), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./", r)
	})
	slices.Sort(list)
	return text[:cut], strings.Join(slices.Compact(list), " ")
}
