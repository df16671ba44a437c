package learn

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/lesson"
)

func subject() Subject {
	return Subject{Kernel: "attention", Class: "memory", GPU: "sm_89", Fixes: []Known{
		{ID: "narrow-loads/1", Do: "load 16 bytes", Share: 0.30}, {ID: "bank-conflicts/1", Do: "pad", Share: 0.10},
	}}
}

// Without outcomes it is the rules' word; outcomes that contradict it turn the order.
func TestAdvice(t *testing.T) {
	book := lesson.NewBook()
	first := Advise(subject(), book, nil)
	if first.Outcomes != 0 || first.Fixes[0].Fix != "narrow-loads/1" {
		t.Fatalf("from rules alone: %d outcomes, first %s", first.Outcomes, first.Fixes[0].Fix)
	}
	var tales []Tale
	for range 6 {
		tales = append(tales, Tale{Tries: []Try{
			{Attempt: attempt("narrow-loads/1", -0.05, true), Prior: 0.35},
			{Attempt: attempt("bank-conflicts/1", 0.40, true), Prior: 0.10},
			{Attempt: attempt("narrow-loads/1", 3, false), Prior: 0.35}, // its results are wrong: it does not count
			{Attempt: attempt("", 1, true)},
		}})
	}
	then := Advise(subject(), book, tales)
	if then.Outcomes != 12 || then.Fixes[0].Fix != "bank-conflicts/1" || then.Fixes[0].Do != "pad" {
		t.Errorf("after %d outcomes %s is first", then.Outcomes, then.Fixes[0].Fix)
	}
	if g := Tie(tales).Gains; len(g.Fixes) != 12 {
		t.Errorf("%d gains are judged, want 12", len(g.Fixes))
	}
	if none := Advise(Subject{Class: "memory"}, book, nil); none.Fixes == nil || len(none.Fixes) != 0 {
		t.Errorf("nothing is known to fix, and it says %v", none.Fixes)
	}
}

func attempt(fix string, gain float64, correct bool) journal.Attempt {
	return journal.Attempt{Fix: fix, Class: "memory", GPU: "sm_89", Kernel: "attention", Gain: gain, Error: 0.02, Correct: correct, Profiled: true}
}

// Fixes of a journal have the words of their rules.
func TestJournaledFixes(t *testing.T) {
	list := Journaled(&journal.Profiled{Findings: []journal.Found{{Rule: "bank-conflicts", Fixes: []journal.Fix{{ID: "bank-conflicts/1", Gain: 0.2}}}}})
	if len(list) != 1 || !strings.Contains(list[0].Do, "pad") {
		t.Errorf("%+v", list)
	}
}

// What strangers wrote stays text on the page.
func TestHostileTexts(t *testing.T) {
	const evil = `"><script>alert(1)</script><img src=x onerror=alert(2)>` + "\x1b[31m\u202e"
	s := newScript(0, journal.Started{Goal: evil, Benchmark: evil})
	s.add(5, journal.Entry{Kind: journal.KindRefused, Refused: &journal.Refused{Gate: evil, Why: evil}})
	s.built(6, false, evil).built(50, true, "")
	s.end(60, journal.Ended{Outcome: journal.Result(evil), Text: evil})
	story := Tie([]Tale{Tell(&s.session, t0)})
	story.Problems = []string{evil}
	var page, text bytes.Buffer
	if err := story.HTML(&page); err != nil {
		t.Fatal(err)
	}
	if err := story.Terminal(&text, reportStyle); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(text.String(), "\x1b\u202e") {
		t.Errorf("the terminal is told %q", text.String())
	}
	root, err := html.Parse(&page)
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && (n.Data == "script" || n.Data == "img") {
			t.Errorf("a %s element is on the page", n.Data)
		}
	}
	svg := story.Picture().SVG("title", story.Headline())
	if strings.Contains(svg, "<script") || strings.Contains(svg, "<img") {
		t.Error("the picture has an element that a stranger wrote")
	}
}
