package report_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/report"
)

// outline is what a page is made of: the elements that carry meaning, with their
// text, indented by what they stand in.
func outline(t testing.TB, page string) string {
	t.Helper()
	var b strings.Builder
	told := map[string]bool{
		"h1": true, "h2": true, "section": true, "details": true, "summary": true, "table": true, "caption": true, "figure": true,
		"figcaption": true, "li": true, "dt": true, "dd": true, "label": true, "input": true, "p": true, "a": true,
	}
	var walk func(n *html.Node, depth int)
	walk = func(n *html.Node, depth int) {
		if n.Type == html.ElementNode && told[n.Data] {
			fmt.Fprintf(&b, "%s%s", strings.Repeat("  ", depth), n.Data)
			for _, a := range n.Attr {
				if a.Key == "id" || a.Key == "href" || a.Key == "open" || a.Key == "hidden" {
					fmt.Fprintf(&b, " %s=%s", a.Key, a.Val)
				}
			}
			if text := ownText(n, told); text != "" {
				fmt.Fprintf(&b, ": %s", text)
			}
			b.WriteString("\n")
			depth++
		}
		for c := range n.ChildNodes() {
			walk(c, depth)
		}
	}
	walk(parse(t, page), 0)
	return b.String()
}

// ownText is the text of an element without that of the told elements in it.
func ownText(n *html.Node, told map[string]bool) string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		for c := range n.ChildNodes() {
			switch {
			case c.Type == html.TextNode:
				b.WriteString(c.Data + " ")
			case c.Type == html.ElementNode && (told[c.Data] || c.Data == "svg"):
			default:
				walk(c)
			}
		}
	}
	walk(n)
	return strings.Join(strings.Fields(b.String()), " ")
}

func parse(t testing.TB, page string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func TestHTMLGolden(t *testing.T) {
	run := three()
	d := report.NewDocument(report.Input{
		Run: run, Result: judge(run), Now: madeAt,
	})
	golden.Check(t, "verdict-three.html.txt", outline(t, render(t, "html", d)))
	golden.Check(t, "run.html.txt", outline(t, render(t, "html", report.NewDocument(report.Input{Run: imported()}))))
}

var address = regexp.MustCompile(`(?:src|href|action|data)\s*=\s*"([^"]*)"`)

// The page loads nothing and runs only what its policy names.
func TestHTMLStandsAlone(t *testing.T) {
	page := render(t, "html", judged(everyVerdict()))
	for _, m := range address.FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(m[1], "#") {
			t.Errorf("the page leads to %q", m[1])
		}
	}
	if strings.Contains(page, "@import") || strings.Contains(page, "url(") || strings.Contains(page, "style=") {
		t.Error("the page has styles from elsewhere, or ones that its policy forbids")
	}
	if !strings.Contains(page, "default-src &#39;none&#39;") || strings.Contains(page, "unsafe") {
		t.Error("the page has no strict policy")
	}
}

// 1,000 cases: what changed first and open, the rest folded, and a phone can load it.
func TestHTMLThousand(t *testing.T) {
	d := large()
	page := render(t, "html", d)
	if len(page) > 3<<20 {
		t.Errorf("%d bytes", len(page))
	}
	root := parse(t, page)
	cases, folded := 0, 0
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == "details" && strings.HasPrefix(attribute(n, "class"), "case") {
			cases++
			for p := n.Parent; p != nil; p = p.Parent {
				if attribute(p, "class") == "fold" {
					folded++
					break
				}
			}
		}
	}
	changed := len(d.Changed())
	if cases != 1000 || folded != cases-changed || changed == 0 || changed > 100 {
		t.Errorf("%d cases, %d folded, %d changed", cases, folded, changed)
	}
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// FuzzHTML: whatever a record calls things, the page has the elements it would have
// anyway, and nothing in it acts.
func FuzzHTML(f *testing.F) {
	for _, s := range hostileNames {
		f.Add(s, s)
	}
	count := func(t testing.TB, page string) map[string]int {
		t.Helper()
		elements := map[string]int{}
		for n := range parse(t, page).Descendants() {
			if n.Type == html.ElementNode {
				elements[n.Data]++
				for _, a := range n.Attr {
					if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "src" {
						t.Fatalf("<%s %s=%q>", n.Data, a.Key, a.Val)
					}
					if a.Key == "href" && !strings.HasPrefix(a.Val, "#") {
						t.Fatalf("a link to %q", a.Val)
					}
				}
			}
		}
		return elements
	}
	want := count(f, render(f, "html", hostileDocument("name", "text")))
	f.Fuzz(func(t *testing.T, name, text string) {
		got := count(t, render(t, "html", hostileDocument(name, text)))
		for element, n := range got {
			if want[element] != n {
				t.Fatalf("%d <%s>, want %d, from %q and %q", n, element, want[element], name, text)
			}
		}
	})
}

func TestPicture(t *testing.T) {
	for name, d := range map[string]*report.Document{
		"every": judged(everyVerdict()), "none": judged(newMaker(1, 1).run()), "measured": report.NewDocument(report.Input{Run: imported()}),
		"hostile": hostileDocument(strings.Repeat("w\u4e16", 500), "\x1b[31m"), "thousand": large(),
	} {
		checkPicture(t, name, d)
	}
	var one, two bytes.Buffer
	if err := report.PNG(&one, judged(three())); err != nil {
		t.Fatal(err)
	}
	if err := report.PNG(&two, judged(three())); err != nil || !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Errorf("the same result gives another picture, or %v", err)
	}
}
