package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// maxPage is the size of a page with its style and script. Pictures are loaded when they are scrolled to.
const maxPage = 300_000

// site is a built site, by name of the file.
type site struct {
	dir   string
	files map[string]bool
	pages map[string]*document
}

// document is what a page refers to, and what can be referred to in it.
type document struct {
	size    int
	ids     map[string]bool
	links   []string // of elements that lead somewhere
	loads   []string // of elements that load something
	scripts int      // inside of the page
	text    string
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{dir: t.TempDir(), files: map[string]bool{}, pages: map[string]*document{}}
	if _, err := build(filepath.Join("..", "..", "docs"), s.dir); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(s.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(s.dir, name)
		rel = filepath.ToSlash(rel)
		s.files[rel] = true
		if strings.HasSuffix(rel, ".html") {
			s.pages[rel] = s.read(t, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.pages) < 100 {
		t.Fatalf("the site has only %d pages", len(s.pages))
	}
	return s
}

func (s *site) bytes(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (s *site) read(t *testing.T, name string) *document {
	t.Helper()
	data := s.bytes(t, name)
	root, err := html.Parse(strings.NewReader(string(data)))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	d := &document{size: len(data), ids: map[string]bool{}}
	var text strings.Builder
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			text.WriteString(n.Data)
		}
		for _, a := range n.Attr {
			switch {
			case a.Key == "id":
				if d.ids[a.Val] {
					t.Errorf("%s: two elements are called %q", name, a.Val)
				}
				d.ids[a.Val] = true
			case a.Key == "src", a.Key == "href" && n.Data == "link":
				d.loads = append(d.loads, a.Val)
			case a.Key == "href":
				d.links = append(d.links, a.Val)
			case strings.HasPrefix(a.Key, "on"), a.Key == "style":
				t.Errorf("%s: the attribute %s would be blocked by the page's policy", name, a.Key)
			}
		}
		if n.Data == "script" && n.FirstChild != nil || n.Data == "style" {
			d.scripts++
		}
	}
	d.text = text.String()
	return d
}

// The site is built once, and looked at as a reader does.
func TestSite(t *testing.T) {
	s := newSite(t)
	t.Run("every link leads somewhere", s.everyLinkLeadsSomewhere)
	t.Run("pages are small and load nothing from elsewhere", s.pagesAreSmall)
	t.Run("without JavaScript a reader has the text and every page", s.worksWithoutJavaScript)
	t.Run("every page is Markdown too", s.everyPageIsMarkdown)
	t.Run("the search knows every page", s.searchKnowsEveryPage)
}

func (s *site) everyLinkLeadsSomewhere(t *testing.T) {
	t.Helper()
	for name, d := range s.pages {
		for _, target := range append(d.links, d.loads...) {
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(target, "#")
			to := name
			if file != "" {
				to = path.Join(path.Dir(name), file)
			}
			if !s.files[to] {
				t.Errorf("%s: %s leads nowhere", name, target)
			} else if other := s.pages[to]; anchor != "" && other != nil && !other.ids[anchor] {
				t.Errorf("%s: %s leads nowhere: %s has no such heading", name, target, to)
			}
		}
	}
}

func (s *site) pagesAreSmall(t *testing.T) {
	t.Helper()
	shared := len(s.bytes(t, "site.css")) + len(s.bytes(t, "site.js"))
	for name, d := range s.pages {
		if size := d.size + shared; size > maxPage {
			t.Errorf("%s takes %d bytes with style and script, want at most %d", name, size, maxPage)
		}
		for _, target := range d.loads {
			if strings.Contains(target, ":") {
				t.Errorf("%s loads %s", name, target)
			}
		}
		if d.scripts > 0 {
			t.Errorf("%s has a script or a style of its own, which its policy blocks", name)
		}
	}
}

func (s *site) worksWithoutJavaScript(t *testing.T) {
	t.Helper()
	for name, d := range s.pages {
		linked := map[string]bool{}
		for _, target := range d.links {
			linked[path.Join(path.Dir(name), target)] = true
		}
		for other := range s.pages {
			if other != "index.html" && !linked[other] && other != name {
				t.Errorf("%s has no link to %s", name, other)
			}
		}
	}
	for name, words := range map[string]string{
		"tutorial/first-ten-minutes.html": "asking ./harness for its cases",
		"explanation/the-judge.html":      "Rounds that resemble the one before",
	} {
		if !strings.Contains(s.pages[name].text, words) {
			t.Errorf("%s does not contain %q", name, words)
		}
	}
}

func (s *site) everyPageIsMarkdown(t *testing.T) {
	t.Helper()
	llms := string(s.bytes(t, "llms.txt"))
	for name := range s.pages {
		md := strings.TrimSuffix(name, ".html") + ".md"
		if !s.files[md] {
			t.Errorf("%s is missing", md)
		}
		if name != "index.html" && !strings.Contains(llms, "]("+md+")") {
			t.Errorf("llms.txt does not list %s", md)
		}
	}
	if text := string(s.bytes(t, "tutorial/first-ten-minutes.md")); strings.Contains(text, "](../../") || !strings.Contains(text, repository+"/tree/main/examples/matmul-c") {
		t.Error("the Markdown of a page has links that work only in the repository")
	}
}

func (s *site) searchKnowsEveryPage(t *testing.T) {
	t.Helper()
	var index struct {
		Pages    [][2]string `json:"pages"`
		Sections []struct {
			Page int    `json:"p"`
			ID   string `json:"i"`
		} `json:"sections"`
	}
	if err := json.Unmarshal(s.bytes(t, "search.json"), &index); err != nil {
		t.Fatal(err)
	}
	if len(index.Pages) != len(s.pages) {
		t.Errorf("the search knows %d pages of %d", len(index.Pages), len(s.pages))
	}
	for _, section := range index.Sections {
		name := index.Pages[section.Page][0]
		if d := s.pages[name]; d == nil || section.ID != "" && !d.ids[section.ID] {
			t.Errorf("the search finds %s#%s, which does not exist", name, section.ID)
		}
	}
}

func TestBuild_KeepsAFolderThatIsNoSite(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "thesis.txt")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := build(filepath.Join("..", "..", "docs"), dir); err == nil {
		t.Error("the folder was taken for a site")
	}
	if _, err := os.Stat(name); err != nil {
		t.Error(err)
	}
}

func TestHeadingIDs_AreGitHubs(t *testing.T) {
	ids := &headingIDs{}
	for _, test := range [][2]string{{"A `b`: c_d, e-f", "a-b-c_d-e-f"}, {"After", "after"}, {"After", "after-1"}} {
		if got := string(ids.Generate([]byte(test[0]), 0)); got != test[1] {
			t.Errorf("%q is called %q, want %q", test[0], got, test[1])
		}
	}
}
