package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// navSection is a part of the navigation: a folder of the documentation, in groups.
type navSection struct {
	title  string
	groups []navGroup
}

type navGroup struct {
	title string
	pages []*page
}

// has reports whether the section has a page.
func (s *navSection) has(p *page) bool {
	return slices.ContainsFunc(s.groups, func(g navGroup) bool { return slices.Contains(g.pages, p) })
}

func (s *navSection) add(group string, p *page) {
	i := slices.IndexFunc(s.groups, func(g navGroup) bool { return g.title == group })
	if i < 0 {
		i = len(s.groups)
		s.groups = append(s.groups, navGroup{title: group})
	}
	s.groups[i].pages = append(s.groups[i].pages, p)
}

// listed are folders whose own README lists their pages.
var listed = []struct{ folder, title string }{{"lab/", "Lab"}, {"decisions/", "Decisions"}}

// navigation returns the parts of the site in the order of the first page, docs/README.md: its
// headings are the sections, the rows of its tables the groups.
func navigation(pages []*page) ([]*navSection, error) {
	bySource := map[string]*page{}
	for _, p := range pages {
		bySource[p.source] = p
	}
	home := bySource["README.md"]
	if home == nil {
		return nil, errors.New("there is no README.md")
	}
	var sections []*navSection
	placed := map[*page]bool{home: true}
	for _, l := range home.links {
		p := bySource[l.to]
		if p == nil {
			return nil, fmt.Errorf("README.md links to %s, which does not exist", l.to)
		}
		if l.section == "" || placed[p] || slices.ContainsFunc(listed, func(f struct{ folder, title string }) bool { return strings.HasPrefix(p.source, f.folder) }) {
			continue
		}
		if len(sections) == 0 || sections[len(sections)-1].title != l.section {
			sections = append(sections, &navSection{title: l.section})
		}
		sections[len(sections)-1].add(l.group, p)
		placed[p] = true
	}
	for _, f := range listed {
		s := &navSection{title: f.title}
		for _, p := range pages {
			if strings.HasPrefix(p.source, f.folder) {
				s.add("", p)
				placed[p] = true
			}
		}
		first := bySource[f.folder+"README.md"]
		slices.SortStableFunc(s.groups[0].pages, func(a, b *page) int { // the list of the folder first
			switch first {
			case a:
				return -1
			case b:
				return 1
			}
			return 0
		})
		sections = append(sections, s)
	}
	for _, p := range pages {
		if !placed[p] {
			return nil, fmt.Errorf("%s is in no part of docs/README.md", p.source)
		}
	}
	return sections, nil
}

// llms returns the list of all pages for language models, in the form of llmstxt.org.
func llms(pages []*page, sections []*navSection) []byte {
	var b strings.Builder
	b.WriteString("# pawl\n\n> " + pages[slices.IndexFunc(pages, func(p *page) bool { return p.source == "README.md" })].about + "\n")
	for _, s := range sections {
		b.WriteString("\n## " + s.title + "\n\n")
		for _, g := range s.groups {
			for _, p := range g.pages {
				fmt.Fprintf(&b, "- [%s](%s.md): %s\n", p.title, p.path, p.about)
			}
		}
	}
	return []byte(b.String())
}
