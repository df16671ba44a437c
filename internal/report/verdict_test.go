package report_test

import (
	"bytes"
	"testing"

	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// writers are the renderers of a document whose output people or programs read as text.
var writers = map[string]func(*bytes.Buffer, *report.Document) error{
	"md":   func(b *bytes.Buffer, d *report.Document) error { return report.Markdown(b, d) },
	"txt":  func(b *bytes.Buffer, d *report.Document) error { return report.Verdicts(b, d, report.Style{}, false) },
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
		{"every", everyVerdict(), []string{"md", "txt"}},
		{"three", three(), []string{"md", "txt", "json"}},
		{"one", newMaker(4, 30).run(madeCase{name: "gemm", us: 100, effect: 0.002, spread: 0.002}), []string{"md", "txt"}},
		{"none", none, []string{"md", "txt"}},
	} {
		d := judged(tt.run)
		for _, format := range tt.as {
			t.Run(tt.name+"."+format, func(t *testing.T) {
				golden(t, "verdict-"+tt.name+"."+format, []byte(render(t, format, d)))
			})
		}
	}
}

func TestExplainedGolden(t *testing.T) {
	var b bytes.Buffer
	if err := report.Verdicts(&b, judged(three()), report.Style{Color: true, Width: 80}, true); err != nil {
		t.Fatal(err)
	}
	golden(t, "verdict-explained.txt", b.Bytes())
}

// A verdict that stands alone, as from two files of another tool, is a report too.
func TestResultWithoutRun(t *testing.T) {
	r := judge(three())
	d := report.NewDocument(report.Input{Result: r})
	if d.Cases() != 3 || d.Verdict != ratchet.Regression || d.Changed()[0].Figure != nil {
		t.Errorf("%+v", d)
	}
	for format := range writers {
		if len(render(t, format, d)) < 100 {
			t.Errorf("%s says nothing", format)
		}
	}
}
