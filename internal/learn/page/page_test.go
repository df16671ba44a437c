package page_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/learn/gates"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/page"
	"github.com/goatnote-inc/pawl/internal/report"
)

func text(t *testing.T, p page.Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Text(&b, report.Style{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func six(t *testing.T) []*journal.Session {
	t.Helper()
	paths, _ := filepath.Glob("testdata/six/*.jsonl")
	var list []*journal.Session
	for _, path := range paths {
		s, err := journal.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

// The six recorded sessions, with their five measures.
func TestReport(t *testing.T) {
	var all []journal.Summary
	for _, s := range six(t) {
		sum := journal.Summarize(s, time.Time{})
		sum.Forecast = journal.NewForecast(all)
		all = append(all, sum)
	}
	golden.Check(t, "report.txt", text(t, page.Report(all)))
	if got := text(t, page.Report(nil)); !strings.Contains(got, "There is no session yet") {
		t.Error(got)
	}
}

func TestForecast_SaysThatThereIsNoBasis(t *testing.T) {
	if got := page.Forecast(nil); got != "no basis: no session has ended yet" {
		t.Error(got)
	}
}

func state(s *journal.Session) page.State {
	all := gates.Look(gates.Learn(s, gates.Now{}), s.Entries)
	return page.State{Session: s, Status: all, Next: gates.Next(all), Now: s.Last()}
}

func TestGuideAndChecklist(t *testing.T) {
	golden.Check(t, "guide.txt", text(t, page.Guide(page.State{Next: gates.Step{Do: "Start a session.", Command: "pawl session start"}})))
	s := six(t)[5]
	s.Entries = s.Entries[:6]
	golden.Check(t, "checklist.txt", text(t, page.Checklist(state(s))))
}

func TestRules_NameGatesThatExist(t *testing.T) {
	for _, r := range page.Rules() {
		found := false
		for _, g := range gates.All() {
			found = found || g.ID == r[1]
		}
		if !found {
			t.Errorf("%q names the gate %q", r[0], r[1])
		}
	}
}

// What a journal says is text in every form of a page.
func TestPages_EscapeWhatAJournalSays(t *testing.T) {
	hostile := "<script>alert(1)</script> | [x](http://evil) \x1b[31m\u202e"
	s := &journal.Session{Started: journal.Started{ID: "20261115T120000Z-000001", Goal: hostile, Benchmark: hostile}}
	s.Entries = []journal.Entry{
		{Kind: journal.KindStarted, Started: &s.Started, Actor: journal.Actor{Kind: journal.Agent, Name: hostile}},
		{Kind: journal.KindNoted, Noted: &journal.Noted{Text: hostile}},
		{Kind: journal.KindDid, Did: &journal.Did{Command: "bench", Args: []string{hostile}, Exit: 3, Error: hostile}},
	}
	for _, p := range []page.Page{page.Session(s, errors.New(hostile), time.Time{}), page.Checklist(state(s)), page.Guide(state(s)), page.Report([]journal.Summary{journal.Summarize(s, time.Time{})})} {
		var html bytes.Buffer
		if err := p.HTML(&html); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(html.String(), "Content-Security-Policy") || strings.Contains(html.String(), "<script") {
			t.Errorf("%s as HTML", p.Title)
		}
		for _, out := range []string{text(t, p), html.String()} {
			if strings.ContainsAny(out, "\x1b\u202e") {
				t.Errorf("%s has control characters", p.Title)
			}
		}
	}
}
