package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// writers are the renderers of a document whose output people or programs read as text.
var writers = map[string]func(*bytes.Buffer, *report.Document) error{
	"md":   func(b *bytes.Buffer, d *report.Document) error { return report.Markdown(b, d) },
	"txt":  func(b *bytes.Buffer, d *report.Document) error { return report.Verdicts(b, d, report.Style{}, false) },
	"xml":  func(b *bytes.Buffer, d *report.Document) error { return report.JUnit(b, d) },
	"html": func(b *bytes.Buffer, d *report.Document) error { return report.HTML(b, d) },
	"json": func(b *bytes.Buffer, d *report.Document) error { return report.VerdictJSON(b, d) },
}

func render(t testing.TB, format string, d *report.Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := writers[format](&b, d); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return b.String()
}

func TestVerdictGolden(t *testing.T) {
	none := newMaker(1, 1).run()
	for _, tt := range []struct {
		name string
		run  *measure.Run
		as   []string
	}{
		{"every", everyVerdict(), []string{"md", "txt", "xml"}},
		{"three", three(), []string{"md", "txt", "json"}},
		{"one", newMaker(4, 30).run(madeCase{name: "gemm", us: 100, effect: 0.002, spread: 0.002}), []string{"md", "txt"}},
		{"none", none, []string{"md", "txt"}},
	} {
		d := judged(tt.run)
		for _, format := range tt.as {
			t.Run(tt.name+"."+format, func(t *testing.T) {
				golden.Check(t, "verdict-"+tt.name+"."+format, render(t, format, d))
			})
		}
	}
}

func TestExplainedGolden(t *testing.T) {
	var b bytes.Buffer
	if err := report.Verdicts(&b, judged(three()), report.Style{Color: true, Width: 80}, true); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "verdict-explained.txt", b.String())
}

// A calibration that is added later is where it would have been.
func TestAddCalibration_SameAsIfItHadBeenKnown(t *testing.T) {
	run, text := three(), "GPU-1 calibrated <b>|2026-11-18*: noise 0.2 %"
	made := func(name string, calibrations ...string) string {
		r := judge(run)
		r.Calibrations = calibrations
		if name == "verdict.json" {
			text, err := json.MarshalIndent(r, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		return render(t, map[string]string{"ratchet_report.md": "md", "report.html": "html"}[name], report.NewDocument(report.Input{Run: run, Result: r, Now: madeAt}))
	}
	for _, name := range []string{"verdict.json", "ratchet_report.md", "report.html"} {
		got, err := report.AddCalibration(name, []byte(made(name)), text)
		if want := made(name, text); err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, want)
		}
	}
	for _, other := range []string{"", "{}", "# Broken\n"} {
		if got, err := report.AddCalibration("verdict.json", []byte(other), text); err != nil || string(got) != other {
			t.Errorf("%q became %q, %v", other, got, err)
		}
	}
}

// A verdict that stands alone, as from two files of another tool, is a report too.
func TestResultWithoutRun(t *testing.T) {
	r := judge(three())
	d := report.NewDocument(report.Input{Result: r})
	if d.Cases() != 3 || d.Verdict != ratchet.Regression || d.Figure(d.Changed()[0]) != nil {
		t.Errorf("%+v", d)
	}
	for format := range writers {
		if len(render(t, format, d)) < 100 {
			t.Errorf("%s says nothing", format)
		}
	}
}

// A comment has a limit. What did not change gives way first, and is counted.
func TestMarkdownKeepsToItsLimit(t *testing.T) {
	d := large()
	page := render(t, "md", d)
	if len(page) > report.MarkdownLimit {
		t.Errorf("%d bytes", len(page))
	}
	for _, c := range d.Changed() {
		if !strings.Contains(page, "| `"+c.Name+"` |") {
			t.Errorf("%s changed and is not there", c.Name)
		}
	}
	if m := regexp.MustCompile(`(\d+) more are not shown`).FindAllStringSubmatch(page, -1); len(m) > 1 {
		t.Errorf("more than the unchanged were cut: %v", m)
	}
	rows := strings.Count(page, "\n| `")
	if evidence := strings.Count(page, "% to "); rows < 500 || evidence == 0 {
		t.Errorf("%d rows, %d of evidence: there is room for more", rows, evidence)
	}
}

// Long names make a page short of room: regressions are the last to go.
func TestMarkdownCutsFromTheBottom(t *testing.T) {
	var cases []madeCase
	for i := range 400 {
		c := madeCase{name: fmt.Sprintf("%s/%d", strings.Repeat("n", 150), i), us: 100, spread: 0.001}
		if i%2 == 0 {
			c.effect = 0.1
		}
		cases = append(cases, c)
	}
	d := judged(newMaker(8, 8).run(cases...))
	page := render(t, "md", d)
	if len(page) > report.MarkdownLimit {
		t.Errorf("%d bytes", len(page))
	}
	worst := d.Sections[0]
	if worst.Class != report.ClassRegressed || len(worst.Cases) < 150 {
		t.Fatalf("%d of class %s", len(worst.Cases), worst.Class)
	}
	for _, c := range worst.Cases {
		if !strings.Contains(page, "| `"+c.Name+"` |") {
			t.Errorf("%s got slower and is not there", c.Name)
		}
	}
	if !strings.Contains(page, "more are not shown") {
		t.Error("nothing was cut, so this test shows nothing")
	}
}

func TestStepsComeFromTheVerdicts(t *testing.T) {
	run := newMaker(8, 30).run(madeCase{name: "gemm", us: 100, effect: 0.1, spread: 0.002}, madeCase{name: "$(rm -rf ~)", us: 100, effect: 0.2, spread: 0.002})
	d := judged(run)
	if len(d.Next) != 1 || d.Next[0].Command != "pawl run --base main" {
		t.Errorf("a command with a name that a shell would run: %+v", d.Next)
	}
	improved := judged(newMaker(8, 30).run(madeCase{name: "gemm", us: 100, effect: -0.3, spread: 0.002}, madeCase{name: "rope", us: 100, spread: 0.002}))
	if improved.Outcome != "pass" || len(improved.Next) != 1 || !strings.Contains(improved.Next[0].Text, "baseline") {
		t.Errorf("%s %+v", improved.Outcome, improved.Next)
	}
	alone := judged(newMaker(32, 30).run(madeCase{name: "gemm", us: 100, effect: 0.02, spread: 0.3}))
	if len(alone.Next) != 1 || alone.Next[0].Command != "pawl doctor --noise" {
		t.Errorf("undecided after 32 rounds alone: %s %+v", alone.Outcome, alone.Next)
	}
	watched := judged(newMaker(8, 30).run(madeCase{name: "gemm", us: 100, effect: 0.3, spread: 0.002, watched: true}))
	if watched.Outcome == "fail" || !strings.Contains(fmt.Sprint(watched.Next), "gate: true") {
		t.Errorf("%s %+v", watched.Outcome, watched.Next)
	}
}

// Where all cases together got slower and none did alone, the answer and every
// format say so.
func TestAllTogether(t *testing.T) {
	var cases []madeCase
	for i := range 12 {
		cases = append(cases, madeCase{name: fmt.Sprintf("k%d", i), us: 500, effect: 0.022, spread: 0.002})
	}
	d := judged(newMaker(16, 30).run(cases...))
	if d.Outcome != "fail" || len(d.Changed()) != 0 || !strings.Contains(d.Sentence, "All 12 cases together") {
		t.Fatalf("%s, %d changed: %s", d.Outcome, len(d.Changed()), d.Sentence)
	}
	if page := render(t, "xml", d); strings.Count(page, "<failure") != 1 {
		t.Errorf("%s", page)
	}
}

// Two files of another tool: the report is about them, and sends nobody to a suite
// that may not be there.
func TestTwoFiles(t *testing.T) {
	a, b := three(), three()
	r := ratchet.Judge(ratchet.Default().ForPlan(a.Plan), ratchet.Gather([]*measure.Run{a}, []*measure.Run{b}, measure.Base, measure.Candidate))
	d := report.NewDocument(report.Input{Result: &r, Sides: report.Sides{Base: []*measure.Run{a}, Candidate: []*measure.Run{b}}})
	if d.Title != "attention on NVIDIA L4" || d.Figure(d.Sections[0].Cases[0]) == nil {
		t.Errorf("%q, %+v", d.Title, d.Sections[0].Cases[0])
	}
	for _, step := range d.Next {
		if strings.Contains(step.Command, "bench") {
			t.Errorf("%+v", step)
		}
	}
}

// A table that wraps cannot be read.
func TestVerdictsFitTheTerminal(t *testing.T) {
	d := judged(newMaker(8, 30).run(madeCase{name: strings.Repeat("attention_forward/", 6) + "B32", us: 300, effect: 0.1, spread: 0.002}, madeCase{name: "rope", us: 50, spread: 0.002}))
	for _, width := range []int{60, 80, 100, 200} {
		var b bytes.Buffer
		if err := report.Verdicts(&b, d, report.Style{Width: width}, false); err != nil {
			t.Fatal(err)
		}
		rows := 0
		for line := range strings.Lines(b.String()) {
			if strings.HasPrefix(line, "regression ") || strings.HasPrefix(line, "maintained ") {
				rows++
				if n := utf8.RuneCountInString(line) - 1; n > width {
					t.Errorf("%d columns of %d: %s", n, width, line)
				}
			}
		}
		if rows != 2 {
			t.Errorf("%d rows in\n%s", rows, b.String())
		}
	}
}

func BenchmarkReport(b *testing.B) {
	run := thousand(8, 100)
	result := judge(run)
	b.Run("document", func(b *testing.B) {
		for b.Loop() {
			report.NewDocument(report.Input{Run: run, Result: result})
		}
	})
	d := report.NewDocument(report.Input{Run: run, Result: result})
	for format, write := range writers {
		b.Run(format, func(b *testing.B) {
			for b.Loop() {
				var out bytes.Buffer
				if err := write(&out, d); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(out.Len()), "bytes")
			}
		})
	}
	b.Run("png", func(b *testing.B) {
		for b.Loop() {
			if err := report.PNG(io.Discard, d); err != nil {
				b.Fatal(err)
			}
		}
	})
}
