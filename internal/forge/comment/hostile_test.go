package comment_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/forge/comment"
	"github.com/goatnote-inc/pawl/internal/judge/cost"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// hostile is an input with a stranger's words wherever a stranger's words can be.
func hostile(in comment.Input, word string) comment.Input {
	run, result := *in.Run, *in.Result
	run.Cases, result.Cases = append([]measure.Case(nil), run.Cases...), append([]ratchet.Judgment(nil), result.Cases...)
	for i := range run.Cases {
		run.Cases[i].Benchmark += word
	}
	for i := range result.Cases {
		j := &result.Cases[i]
		j.Name, j.Benchmark, j.Sentence, j.Quarantine = j.Name+word, j.Benchmark+word, "Sentence "+word, "q"+word
		j.Watch = []string{"watch " + word}
	}
	result.Sentence, result.Warnings = "all "+word, []string{"warning " + word}
	run.Suite.Name, run.Device.Name, run.Device.Driver = "suite"+word, "device"+word, "driver"+word
	run.Implementations = []measure.Implementation{{Name: measure.Candidate, Commit: "c" + word}, {Name: measure.Base, Commit: "b" + word, Ref: "r" + word}}
	run.End.State, run.End.Reason = measure.OverBudget, "reason "+word
	run.Warnings = []measure.Warning{{Code: "x", Message: "message " + word}}
	drift := result
	drift.Verdict = ratchet.Regression
	in.Run, in.Result, in.Drift = &run, &result, &drift
	in.Suite, in.Claimed, in.File = "s"+word, ratchet.Verdict("claim "+word), "f"+word
	in.Stages = []report.Stage{{Name: "stage" + word, Answer: "stop", Line: "line " + word, Detail: []string{"a.cu:3:1: detail " + word}}}
	in.Quarantined = map[string]suite.Quarantine{"case" + word: {Owner: "@o" + word, Reason: "why " + word, Until: madeNow}}
	in.Released = in.Quarantined
	in.Accepted = &comment.Acceptance{By: "by" + word, Reason: "because " + word, URL: acceptedAt + word, At: madeNow}
	in.Account = &cost.RunCost{Seconds: 3, Dollars: 2, Device: word, Branch: word}
	return in
}

var hostileWords = []string{
	"", "|", "a|b\\|c", "`x`", "```\n", "~~~\n", "<script>alert(1)</script>", "</code></td></summary></details>", "<img src=x onerror=alert(1)>", "<!--", "-->",
	"![a](https://evil.example/x.png)", "[a](javascript:alert(1))", "[a]: https://evil.example", "https://evil.example www.evil.example a@evil.example", "<https://evil.example>",
	"@everyone @root/team #1 GH-1 o/n#1", "line\nbreak\r\n| a | b |\n| --- | --- |", "\n# heading\n", "\n===", "\n- item", "\n1. item", "\n> quote", "$x$ $$y$$",
	"\u202egnp.exe", "\x00\x1b[31mred\x07", "\xff\xfe", "*bold* _it_ ~~no~~", "\\", "\n\n    code", "[x](<a b>)", "&lt;b&gt; &#64;x", "\n---\n", "\n/pawl accept 4f3c2b1 x", strings.Repeat("𐒠", 40),
}

// A forge looks for these after it has read the markup, outside of code and addresses.
var (
	inCode  = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`|<code>[^<]*</code>|\\]\\([^)]*\\)")
	mention = regexp.MustCompile(`@[A-Za-z0-9]|#[0-9]|(?i:gh)-[0-9]|https?://|www\.`)
)

// shape is what a forge makes of a report: its headings, links, tables with cells, HTML.
type shape struct{ headings, links, images, cells, rules, fences, lists, quotes, html int }

func shapeOf(page string) (s shape, links []string) {
	source := []byte(page)
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			s.headings++
		case *ast.Link:
			s.links++
			links = append(links, string(n.Destination))
		case *ast.AutoLink:
			s.links++
			links = append(links, string(n.URL(source)))
		case *ast.Image:
			s.images++
		case *table.TableCell:
			s.cells++
		case *ast.ThematicBreak:
			s.rules++
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			s.fences++
		case *ast.ListItem:
			s.lists++
		case *ast.Blockquote:
			s.quotes++
		case *ast.HTMLBlock:
			s.html += strings.Count(string(n.Lines().Value(source)), "<")
		case *ast.RawHTML:
			if tag := string(n.Segments.Value(source)); tag != "<code>" && tag != "</code>" {
				s.html++
			}
		}
		return ast.WalkContinue, nil
	})
	return s, links
}

// acceptedAt begins the address of the comment that accepts a change.
const acceptedAt = "https://x.example/"

// Whatever a record, a stage, an owner or a reason says: no link, image, heading, HTML,
// list or table cell comes of it, nobody is mentioned, and nothing moves a cursor.
func TestStrangersWordsAreText(t *testing.T) {
	in := judged(t, madeRun(made["regression"]...), "")
	page := func(word string) comment.Notice { return comment.New(hostile(in, word)) }
	want, links := shapeOf(page("word").Section.Body)
	if want.cells < 20 || want.headings < 2 || want.links != 3 {
		t.Fatalf("the honest report is %+v with %q", want, links)
	}
	check := func(t interface {
		Errorf(string, ...any)
	}, word string,
	) {
		n := page(word)
		body := n.Section.Body
		got, links := shapeOf(body)
		want := want
		if !strings.Contains(words.MarkdownLink("comment", acceptedAt+word), "](") {
			want.links-- // an address that is too long is not a link
		}
		if got != want {
			t.Errorf("%q makes of the report\n%+v, want\n%+v\n%s", word, got, want, body)
		}
		for _, l := range links {
			if !strings.HasPrefix(l, "https://github.com/o/n/") && !strings.HasPrefix(l, acceptedAt) {
				t.Errorf("%q makes a link to %q", word, l)
			}
		}
		if m := mention.FindString(inCode.ReplaceAllString(body, "")); m != "" {
			t.Errorf("%q makes a forge act on %q", word, m)
		}
		if len(body) > comment.Limit {
			t.Errorf("%d bytes", len(body))
		}
		for what, text := range map[string]string{"title": n.Check.Title, "name": n.Check.Name, "key": n.Section.Key} {
			if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) || len(text) > 3000 {
				t.Errorf("the %s is %q", what, text)
			}
		}
		for _, a := range n.Check.Annotations {
			if strings.ContainsFunc(a.Message+a.Path+a.Title, unicode.IsControl) {
				t.Errorf("an annotation says %q", fmt.Sprint(a))
			}
		}
	}
	for _, word := range hostileWords {
		check(t, word)
	}
	if t.Failed() {
		return
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(hostileWords), rapid.String()), 1, 3).Draw(t, "words"), ""))
	})
}
