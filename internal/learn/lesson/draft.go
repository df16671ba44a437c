package lesson

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/internal/learn/gates"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// Draft returns a lesson from the best attempt of a session: one with right results whose gain is
// surely above zero. Its body has the note, the verdict and the diff. If a profile was taken before
// the change, what it showed is the symptom; without one the lesson matches nothing until a person
// adds a symptom.
func Draft(s *journal.Session) (*Lesson, bool) {
	best, ok := bestAttempt(journal.Attempts(s))
	if !ok {
		return nil, false
	}
	what := gates.Changed(best.Changes)
	l := &Lesson{
		Title: cut(what+" made it "+gained(best.Gain)+" as fast", maxTitle), Class: "method",
		Cause: "Unknown: no profile was taken before the change.", Fix: cut("Change "+what+" as in the diff below.", maxText),
		Source: []string{"session " + s.ID, "run " + best.Run}, FixID: best.Fix,
	}
	if note := paragraph(words.SanitizeTo(best.Note, maxText)); note != "" {
		l.Title, l.Fix = cut(note, maxTitle), cut(note, maxText)
	}
	if !fixIDForm.MatchString(l.FixID) {
		l.FixID = ""
	}
	if gpuForm.MatchString(s.GPU) {
		l.GPUs = []string{s.GPU}
	}
	if p := profileBefore(s.Entries, best.Run); p != nil {
		if rule, symptom, ok := shown(p, best.Fix); ok {
			l.Symptom, l.Class, l.Cause = symptom, string(rule.Class), rule.Title+"."
		}
	}
	l.Body = body(s, best)
	if _, err := Write(l); err != nil { // perhaps a symptom of a rule that is not pawl's own
		l.Symptom, l.matches = "", nil
	}
	return l, true
}

// body holds the evidence: note, verdict and diff. A fence longer than any in the diff keeps it text.
func body(s *journal.Session, a journal.Attempt) string {
	var b strings.Builder
	if a.Note != "" {
		fmt.Fprintf(&b, "Note: %s\n\n", words.MarkdownText(words.SanitizeTo(a.Note, maxText)))
	}
	verdict := a.Verdict
	if verdict == "" {
		verdict = "faster than the measurement before"
	}
	fmt.Fprintf(&b, "Verdict: %s, %s (%s to %s), run %s of session %s.\n", words.MarkdownText(verdict), gained(a.Gain),
		gained(a.Gain-1.96*a.Error), gained(a.Gain+1.96*a.Error), words.MarkdownText(a.Run), s.ID)
	if a.Diff == "" {
		return b.String()
	}
	fence := "```"
	for strings.Contains(a.Diff, fence) {
		fence += "`"
	}
	plain := strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && words.Invisible(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(a.Diff, "?"))
	fmt.Fprintf(&b, "\n%sdiff\n%s\n%s\n", fence, strings.TrimRight(plain, "\n"), fence)
	return b.String()
}

// bestAttempt returns the one with the largest of the sure gains.
func bestAttempt(attempts []journal.Attempt) (best journal.Attempt, ok bool) {
	for _, a := range attempts {
		sure := a.Correct() && a.Error > 0 && a.Gain-1.96*a.Error > 0 && len(a.Changes) > 0 && a.Run != ""
		if sure && !math.IsInf(a.Gain, 0) && (!ok || a.Gain > best.Gain) {
			best, ok = a, true
		}
	}
	return best, ok
}

// profileBefore returns the last profile before the run: of the state before the change.
func profileBefore(entries []journal.Entry, run string) *journal.Profiled {
	at := slices.IndexFunc(entries, func(e journal.Entry) bool {
		return e.Did != nil && e.Did.Measured != nil && e.Did.Measured.Run == run
	})
	if at < 0 {
		return nil
	}
	after := entries[at].Did.Source
	for _, e := range slices.Backward(entries[:at]) {
		if e.Did != nil && e.Did.Profiled != nil && (after == "" || e.Did.Source != after) {
			return e.Did.Profiled
		}
	}
	return nil
}

// shown returns the rule of the fix, or else of the first finding, whose condition holds, and that
// condition.
func shown(p *journal.Profiled, fixID string) (*diagnose.Rule, string, bool) {
	id, _, _ := strings.Cut(fixID, "/")
	ids := []string{id}
	for _, f := range p.Findings {
		ids = append(ids, f.Rule)
	}
	for _, id := range ids {
		if r, ok := diagnose.Rules().Find(id); ok {
			if symptom, holds := r.Holds(profile.Facts(p.Facts)); holds {
				return r, symptom, true
			}
		}
	}
	return nil, "", false
}

func gained(gain float64) string { return fmt.Sprintf("%.2fx", math.Exp(gain)) }

// cut shortens a text to so many characters.
func cut(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:most-3])) + "..."
}
