package pawl_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

// A page is a Markdown file of the repository, as its reader sees it.
type page struct {
	path  string // from the root, with slashes
	lines []pageLine
}

type pageLine struct {
	number int
	text   string
	code   bool   // inside a fence, or indented
	lang   string // what the fence says it is; empty for an indented line
}

// pages reads every Markdown file but those that are test data.
func pages(t *testing.T) []page {
	t.Helper()
	var list []page
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); name != "." && (base[0] == '.' || base == "testdata" || base == "results" || base == "starter") { // the starter set of lessons is data
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".md" {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		list = append(list, page{path: filepath.ToSlash(name), lines: pageLines(string(text))})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 20 {
		t.Fatalf("found only %d pages", len(list))
	}
	return list
}

func pageLines(text string) []pageLine {
	var list []pageLine
	lang, fenced := "", false
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if after, ok := strings.CutPrefix(strings.TrimLeft(line, " "), "```"); ok {
			lang, fenced = "", !fenced
			if fenced {
				lang = after
			}
			continue
		}
		list = append(list, pageLine{number: number, text: line, code: fenced || strings.HasPrefix(line, "    "), lang: lang})
	}
	return list
}

// A link is what stands between ( and ) behind ]: the text before may be on another line.
var link = regexp.MustCompile(`\]\(([^()\s]+)\)`)

var codeSpan = regexp.MustCompile("`[^`]*`")

// links are the targets a page names that are not on the web.
func (p page) links() map[int][]string {
	targets := map[int][]string{}
	for _, line := range p.lines {
		if line.code {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(codeSpan.ReplaceAllString(line.text, ""), -1) {
			if !strings.Contains(m[1], "://") && !strings.HasPrefix(m[1], "mailto:") {
				targets[line.number] = append(targets[line.number], m[1])
			}
		}
	}
	return targets
}

// resolve is the file or folder a link of this page leads to, and the anchor in it.
func (p page) resolve(target string) (file, anchor string) {
	file, anchor, _ = strings.Cut(target, "#")
	if file == "" {
		return p.path, anchor
	}
	return path.Join(path.Dir(p.path), file), anchor
}

// anchors are the names that GitHub gives to the headings of a page.
func (p page) anchors() map[string]bool {
	names := map[string]bool{}
	for _, line := range p.lines {
		title := strings.TrimLeft(line.text, "#")
		if line.code || title == line.text || !strings.HasPrefix(title, " ") {
			continue
		}
		names[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			default:
				return -1
			}
		}, strings.TrimSpace(title))] = true
	}
	return names
}

// What the other tests lean on: code is not prose, and a heading has GitHub's name.
func TestDocsAreReadAsAReaderDoes(t *testing.T) {
	p := page{path: "docs/a/b.md", lines: pageLines("# A `b`: c_d, e-f\n[x](../y.md#z) [on\ntwo lines](#a) [web](https://example.com) `[no](link)`\n\n" +
		"    [no](indented.md)\n```c\n# no heading\n[no](fenced.md)\n```\n## After\n")}
	if diff := cmp.Diff(map[int][]string{2: {"../y.md#z"}, 3: {"#a"}}, p.links()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]bool{"a-b-c_d-e-f": true, "after": true}, p.anchors()); diff != "" {
		t.Error(diff)
	}
	for target, want := range map[string][2]string{"../y.md#z": {"docs/y.md", "z"}, "#a": {"docs/a/b.md", "a"}, "../../../x": {"../x", ""}} {
		if file, anchor := p.resolve(target); file != want[0] || anchor != want[1] {
			t.Errorf("%s leads to %s and %s, want %v", target, file, anchor, want)
		}
	}
	if lang := p.lines[len(p.lines)-2].lang; lang != "c" {
		t.Errorf("the fence is of %q, want c", lang)
	}
}

func TestDocsLinks(t *testing.T) {
	all := map[string]page{}
	for _, p := range pages(t) {
		all[p.path] = p
	}
	for _, p := range all {
		for number, targets := range p.links() {
			for _, target := range targets {
				file, anchor := p.resolve(target)
				if strings.HasPrefix(file, "..") {
					t.Errorf("%s:%d: %s leads out of the repository", p.path, number, target)
				} else if _, err := os.Stat(file); err != nil {
					t.Errorf("%s:%d: %s leads nowhere: there is no %s", p.path, number, target, file)
				} else if anchor != "" && !all[file].anchors()[anchor] {
					t.Errorf("%s:%d: %s leads nowhere: %s has no heading of that name", p.path, number, target, file)
				}
			}
		}
	}
}

// Whoever begins at the README finds every page.
func TestDocsCanBeFound(t *testing.T) {
	all := map[string]page{}
	for _, p := range pages(t) {
		all[p.path] = p
	}
	seen := map[string]bool{"README.md": true}
	for queue := []string{"README.md"}; len(queue) > 0; queue = queue[1:] {
		p := all[queue[0]]
		for _, targets := range p.links() {
			for _, target := range targets {
				file, _ := p.resolve(target)
				if info, err := os.Stat(file); err == nil && info.IsDir() {
					file = path.Join(file, "README.md") // what a forge shows of a folder
				}
				if _, ok := all[file]; ok && !seen[file] {
					seen[file] = true
					queue = append(queue, file)
				}
			}
		}
	}
	for name := range all {
		if !seen[name] {
			t.Errorf("no way leads from README.md to %s", name)
		}
	}
}
