package report_test

import (
	"bytes"
	"errors"
	"image/png"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/ratchet"
)

func withWhys(whys ...report.Why) *report.Document {
	run := explainedRun()
	return report.NewDocument(report.Input{Run: run, Result: judge(run), Now: madeAt, Whys: whys})
}

func TestWhyGolden(t *testing.T) {
	d := withWhys(explained())
	golden.Check(t, "why.md", render(t, "md", d))
	golden.Check(t, "why.txt", render(t, "txt", d))
	golden.Check(t, "why.html.txt", outline(t, render(t, "html", withWhys(onHost(), explained()))))
}

// The cause stands right below the answer, in every format that people read.
func TestWhyStandsAtTheTop(t *testing.T) {
	d := withWhys(explained())
	for format, before := range map[string]string{"md": "- commit:", "txt": "commit  ", "html": `class="counts"`} {
		text := render(t, format, d)
		why := strings.Index(text, "Loads from global memory use 12")
		if why < 0 || why > strings.Index(text, before) {
			t.Errorf("%s: the cause is at %d, %q at %d", format, why, before, strings.Index(text, before))
		}
	}
	if text := render(t, "json", d); !strings.Contains(text, `"whys": [`) || !strings.Contains(text, `"access-pattern"`) {
		t.Errorf("JSON does not say why")
	}
}

// The reasons come in the order of the cases, with the verdict that the document has.
func TestWhysFollowTheCases(t *testing.T) {
	improved := explained()
	improved.Case, improved.Verdict = "attention/B16_H8_S1024_D64", ""
	d := withWhys(onHost(), improved, explained(), explained())
	var got []string
	for _, r := range d.Whys {
		got = append(got, r.Case+" "+string(r.Verdict))
	}
	want := "attention/B32_H8_S512_D64 regression|attention/B16_H8_S1024_D64 improvement"
	if strings.Join(got, "|") != want {
		t.Errorf("%v", got)
	}
	if lines := d.WhyLines(); len(lines) != 2 || lines[0].Label != "Why attention/B32_H8_S512_D64" {
		t.Errorf("%v", lines)
	}
}

// A comment is not pushed over its limit by causes, however many and long.
func TestWhysKeepToTheLimit(t *testing.T) {
	var whys []report.Why
	var cases []madeCase
	for range 40 {
		w := explained()
		w.Case = strings.Repeat("<b>@root ", 100) + string(rune('a'+len(whys)))
		w.Difference.Sentence = strings.Repeat("long ", 4000)
		w.Difference.Causes[0].Fixes[0].Example = strings.Repeat("```\n</details>", 4000)
		whys, cases = append(whys, w), append(cases, madeCase{name: w.Case, us: 100, effect: 0.2, spread: 0.001})
	}
	run := newMaker(4, 12).run(cases...)
	page := render(t, "md", report.NewDocument(report.Input{Run: run, Result: judge(run), Whys: whys}))
	if len(page) > report.MarkdownLimit {
		t.Errorf("%d bytes", len(page))
	}
	if !strings.Contains(page, "For 35 more cases, report.html explains why.") {
		t.Error("nothing is said of those left out")
	}
	if strings.Contains(page, "<b>") || strings.Contains(page, " @root") {
		t.Error("a name became markup")
	}
	// The fence that opens must be the one that closes: longer than any inside.
	if fence := regexp.MustCompile("(?m)^(`{4,})cpp\n").FindStringSubmatch(page); fence == nil || strings.Count(page, "\n"+fence[1]+"\n") < 1 {
		t.Error("the code can end its fence")
	}
}

func TestReading(t *testing.T) {
	for _, tt := range []struct {
		v    float64
		unit string
		want string
	}{
		{312000, "ns", "312.0 us"},
		{71.43, "%", "71.4 %"},
		{2.2e7, "byte", "22 MB"},
		{3e11, "byte/s", "300 GB/s"},
		{795e6, "hz", "795 MHz"},
		{168, "", "168"},
		{65536, "", "65,536"},
		{8.4e7, "", "84 M"},
		{1.234, "", "1.23"},
		{0, "", "0"},
		{-1234, "", "-1,234"},
		{12, "sectors", "12 sectors"},
	} {
		if got := report.Reading(tt.v, tt.unit); got != tt.want {
			t.Errorf("%v %s: %q, want %q", tt.v, tt.unit, got, tt.want)
		}
	}
}

// Whatever is known and however it is called, the one-pager has its width and an end.
func TestOnePagerOfAnything(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, w report.Why) {
		var b bytes.Buffer
		if err := report.OnePager(&b, w); err != nil {
			t.Fatalf("%v", err)
		}
		if c, err := png.DecodeConfig(&b); err != nil || c.Width != 1200 || c.Height < 150 || c.Height > 2400 {
			t.Fatalf("%v %v", c, err)
		}
	}
	var one, two bytes.Buffer
	if err := errors.Join(report.OnePager(&one, explained()), report.OnePager(&two, explained())); err != nil || !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Errorf("the same case gives another picture, or %v", err)
	}
	hostile := explained()
	hostile.Case = strings.Repeat("w\u4e16\x1b[31m\u202e", 200)
	hostile.Difference.Sentence = strings.Repeat("\u0301word ", 500)
	hostile.Difference.Causes[0].Fixes[0].Example = strings.Repeat(strings.Repeat("\t", 50)+"code\x00\n", 50)
	hostile.Difference.Causes[0].Fixes[0].Do = strings.Repeat("x", 5000)
	for _, w := range []report.Why{{}, {Case: "k"}, explained(), alone(), onHost(), hostile, {Case: "k", Verdict: ratchet.Improvement, Change: strings.Repeat("faster ", 99)}} {
		check(t, w)
	}
	drawn := 0
	rapid.Check(t, func(t *rapid.T) {
		text, number := rapid.String(), rapid.Float64()
		facts := profile.Facts{"stall_" + text.Draw(t, "reason"): number.Draw(t, "cycles"), "flops": number.Draw(t, "flops"), "dram_bytes": number.Draw(t, "bytes"), "time_ns": number.Draw(t, "ns")}
		v := number.Draw(t, "value")
		w := report.Why{
			Case: text.Draw(t, "case"), After: seen(number.Draw(t, "measured"), facts),
			Difference: &diagnose.Difference{Before: v, After: number.Draw(t, "after"), Sentence: text.Draw(t, "sentence"), Changes: []diagnose.Change{{Quantity: "q", About: text.Draw(t, "about"), Unit: text.Draw(t, "unit"), Before: &v}}},
		}
		if drawn++; drawn%40 == 0 { // pictures take their time
			check(t, w)
		}
	})
}
