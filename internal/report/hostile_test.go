package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

var hostileNames = []string{
	"", "|", "a|b\\|c", "`x`", "``", "<script>alert(1)</script>", "</code></td></summary></details>", "<img src=x onerror=alert(1)>",
	"![a](https://evil.example/x.png)", "[a](javascript:alert(1))", "https://evil.example www.evil.example a@evil.example", "@everyone @root/team #1 GH-1",
	"line\nbreak\r\n| a | b |\n| --- | --- |", "# heading", "- item", "1. item", "> quote", "~~~", "$x$ $$y$$", "&lt;b&gt; &#60;", "]]>", "<!--", "-->",
	"\u202egnp.exe", "a\u200bb\u200d\u2066c\ufeff\u00ad", "\x00\x1b[31mred\x07", "\xff\xfe", "a\u0300\u0301\u0302\u0303\u0304\u0305", "{{.Policy}}", "'\"><svg/onload=alert(1)>",
	strings.Repeat("long", 5000), "\u3164\u115f", "\U000e0041tag", "*bold* _it_", ":tada:", "\\", "a\\", "\u2028\u2029",
}

// honest is what hostileDocument puts its words into. It is judged once: a fuzz
// target has better things to do.
var honest = sync.OnceValues(func() (*measure.Run, *ratchet.Result) {
	run := newMaker(4, 12).run(
		madeCase{name: "one", us: 100, effect: 0.2, spread: 0.001},
		madeCase{name: "two", us: 50, spread: 0.001},
		madeCase{name: "three", us: 50, broken: "failed"},
	)
	return run, judge(run)
})

// hostileDocument has a stranger's words in every place where a stranger's words can
// be.
func hostileDocument(name, text string) *report.Document {
	run, result := honest()
	run, result = new(*run), new(*result)
	run.Cases, result.Cases = slices.Clone(run.Cases), slices.Clone(result.Cases)
	for i := range run.Cases {
		run.Cases[i].Benchmark += name
	}
	for i := range result.Cases {
		j := &result.Cases[i]
		j.Name, j.Benchmark, j.Sentence = j.Name+name, j.Benchmark+name, j.Sentence+text
		j.Watch = []string{text + "."}
	}
	result.Sentence, result.Warnings = "all "+text, []string{text + "."}
	run.Suite.Name, run.Device.Name, run.Device.Driver = "suite"+name, "device"+name, "driver"+text
	run.End.State, run.End.Reason = measure.OverBudget, text+"."
	run.Warnings = []measure.Warning{{Code: "x", Message: text + "."}}
	return report.NewDocument(report.Input{
		Run: run, Result: result, Commit: "commit" + name, Now: madeAt,
		Next: []report.Step{{Text: text + ".", Command: "pawl " + text}},
		Whys: []report.Why{hostileWhy(result.Cases[0].Name, text)},
	})
}

// hostileWhy says text wherever a rule of a stranger, or a tool, could.
func hostileWhy(name, text string) report.Why {
	side := seen(1e5, profile.Facts{"stall_" + text: 1, "stall_wait": 2, "flops": 1e9, "dram_bytes": 1e8})
	side.Profile.Tool.Version, side.Profile.Subject.Device.Name, side.Launch.Kernel = "1"+text, "device"+text, text
	return report.Why{
		Case: name, Before: side, After: side, Files: []string{"file" + text},
		Difference: &diagnose.Difference{
			Sentence: "Why " + text + ".",
			Causes: []diagnose.Cause{
				{
					Chain: []diagnose.Change{{Quantity: "q", About: "about " + text, Unit: "x" + text, Before: new(1.0), After: new(2.0)}},
					Fixes: []diagnose.Fix{{Do: "do " + text, Watch: "watch " + text, Example: "code"}},
				}, {Sentence: "And " + text + "."},
			},
		},
		Diagnosis: &diagnose.Diagnosis{Lines: []string{"Line " + text + "."}},
	}
}

// FuzzMarkdown: a name stays one cell of one row, text stays text, and the page
// keeps to its limit.
func FuzzMarkdown(f *testing.F) {
	for _, s := range hostileNames {
		f.Add(s, s)
	}
	shape := func(t testing.TB, page string) (lines, cells, tags int) {
		t.Helper()
		if len(page) > report.MarkdownLimit {
			t.Fatalf("%d bytes", len(page))
		}
		for line := range strings.Lines(page) {
			lines++
			cells += len(unescaped.FindAllString(escapes.ReplaceAllString(line, ""), -1))
		}
		for _, tag := range markup.FindAllString(page, -1) {
			switch tag {
			case "<code>", "</code>": // either way of writing code
			case "<details>", "</details>", "<summary>", "</summary>":
				tags++
			default:
				t.Fatalf("%s in\n%s", tag, page)
			}
		}
		for _, r := range page {
			if r != '\n' && r != '\u200b' && (unicode.Is(unicode.Cf, r) || unicode.IsControl(r)) {
				t.Fatalf("%U in the page", r)
			}
		}
		return lines, cells, tags
	}
	lines, cells, tags := shape(f, render(f, "md", hostileDocument("name", "text")))
	f.Fuzz(func(t *testing.T, name, text string) {
		page := render(t, "md", hostileDocument(name, text))
		gotLines, gotCells, gotTags := shape(t, page)
		if gotLines != lines || gotCells != cells || gotTags != tags {
			t.Fatalf("%d lines, %d cells, %d tags; want %d, %d, %d\n%s", gotLines, gotCells, gotTags, lines, cells, tags, page)
		}
		outside := inCode.ReplaceAllString(page, "")
		if m := forgeLinks.FindString(outside); m != "" {
			t.Fatalf("a forge would act on %q in\n%s", m, page)
		}
	})
}

var (
	escapes    = regexp.MustCompile(`\\.`)
	unescaped  = regexp.MustCompile(`\|`)
	markup     = regexp.MustCompile(`<[^\s&][^>]*>`)
	inCode     = regexp.MustCompile("`[^`\n]*`|<code>[^<]*</code>")
	forgeLinks = regexp.MustCompile(`@[A-Za-z0-9]|#[0-9]|GH-[0-9]|https?://|www\.|[^\\]\]\(|!\[`)
)

// Any text is valid XML, and stands where it belongs.
func FuzzJUnit(f *testing.F) {
	for _, s := range hostileNames {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		page := render(t, "xml", hostileDocument(name, text))
		d := xml.NewDecoder(strings.NewReader(page))
		cases := 0
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v in\n%s", err, page)
			}
			if e, ok := token.(xml.StartElement); ok && e.Name.Local == "testcase" {
				cases++
			}
		}
		if cases != 4 { // three, and all of them together
			t.Fatalf("%d test cases in\n%s", cases, page)
		}
	})
}

// A terminal does what an escape sequence says: none may come from a record.
func FuzzTerminal(f *testing.F) {
	for _, s := range hostileNames {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		for _, r := range render(t, "txt", hostileDocument(name, text)) {
			if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
				t.Fatalf("%U reaches the terminal", r)
			}
		}
	})
}

// FuzzVerdictDocument: a verdict that somebody made up is shown or refused, never a
// crash.
func FuzzVerdictDocument(f *testing.F) {
	good, err := json.Marshal(judge(three()))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"cases":[{"verdict":"perfect"},{"verdict":"regression","evidence":{"change":-2,"unit":"ns","interval":{"low":-9,"high":1e308}}}]}`))
	f.Add([]byte(`{"verdict":"maintained","cases":[{},{}],"suite":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var r ratchet.Result
		if json.Unmarshal(data, &r) != nil || len(r.Cases) > 50 {
			t.Skip()
		}
		d := report.NewDocument(report.Input{Result: &r})
		if d.Cases() != len(r.Cases) {
			t.Fatalf("%d of %d cases", d.Cases(), len(r.Cases))
		}
		for format := range writers {
			if text := render(t, format, d); format == "html" && strings.Contains(text, "NaN") {
				t.Fatal("NaN on the page")
			}
		}
	})
}

func checkPicture(t *testing.T, name string, d *report.Document) {
	t.Helper()
	var b bytes.Buffer
	if err := report.PNG(&b, d); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	image, err := png.Decode(&b)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if size := image.Bounds().Size(); size.X != 1200 || size.Y < 300 || size.Y > 1000 {
		t.Errorf("%s: %v", name, size)
	}
}
