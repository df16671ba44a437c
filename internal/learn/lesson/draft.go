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
	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// Draft makes a lesson of the best thing that a session showed: an attempt with right
// results whose gain is above zero for sure, made after a profile. What the profile showed
// before the change is the symptom. Without such a profile nobody can say when it would
// help again, and there is no lesson.
func Draft(session *journal.Session, attempts []journal.Attempt) (*Lesson, bool) {
	best, ok := bestAttempt(attempts)
	if !ok || session == nil {
		return nil, false
	}
	p := profileBefore(session.Entries, best.Run)
	if p == nil {
		return nil, false
	}
	rule, symptom, ok := shown(p, best.Fix)
	if !ok {
		return nil, false
	}
	what := changes(best.Changes)
	l := &Lesson{
		Title: cut(rule.Title+": "+what, maxTitle), Symptom: symptom, Class: string(rule.Class),
		Cause: cut(cause(rule, symptom, p), maxText), Fix: cut(fix(best, what), maxText), FixID: best.Fix,
		Source: []string{"session " + session.ID, "run " + best.Run},
		Author: author(session), State: Proposed,
	}
	if !fixIDForm.MatchString(l.FixID) {
		l.FixID = ""
	}
	if gpuForm.MatchString(best.GPU) {
		l.GPUs = []string{best.GPU}
	}
	if f := family(best.Kernel + " " + p.Kernel); f != "" {
		l.Kernels = []string{f}
	}
	// What was the best of several was lucky too: the claim is the low end of what it may be.
	if share := 1 - math.Exp(-(best.Gain - 1.28*best.Error)); share >= 0.01 {
		share = math.Floor(share*100) / 100
		l.Claim = &share
	}
	if n := len(session.Entries); n > 0 {
		l.Written = session.Entries[n-1].Time.UTC().Truncate(1e9)
	}
	l.Tests = []Test{{Name: "as it was found", Speaks: true, Kernel: first(l.Kernels), GPU: first(l.GPUs), Facts: asked(l, p.Facts)}}
	l.Body = fmt.Sprintf("Drafted by pawl at the end of session %s. The change was measured as %s.\n\nIs the cause right? Would it help elsewhere? "+
		"Say so with `pawl lesson review`.", session.ID, words.MarkdownText(gained(best)))
	if _, err := Write(l); err != nil {
		return nil, false // a symptom of a rule that is not pawl's own, perhaps
	}
	return l, true
}

// bestAttempt is the one with the largest gain of those that are surely gains.
func bestAttempt(attempts []journal.Attempt) (best journal.Attempt, ok bool) {
	for _, a := range attempts {
		sure := a.Correct && a.Error > 0 && a.Gain-1.96*a.Error > 0 && len(a.Changes) > 0 && a.Run != ""
		if sure && !math.IsInf(a.Gain, 0) && (!ok || a.Gain > best.Gain) {
			best, ok = a, true
		}
	}
	return best, ok
}

// profileBefore is the last profile before the run that shows the gain: of the state before
// the change, or it was not a profile before optimising.
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

// shown is the finding that the fix is about, or else the first whose condition holds of the
// facts, and that condition.
func shown(p *journal.Profiled, fixID string) (*diagnose.Rule, string, bool) {
	rules := diagnose.Rules()
	var ids []string
	if id, _, found := strings.Cut(fixID, "/"); found {
		ids = append(ids, id)
	}
	for _, f := range p.Findings {
		ids = append(ids, f.Rule)
	}
	for _, id := range ids {
		if r, ok := rules.Find(id); ok {
			if symptom, holds := r.Holds(profile.Facts(p.Facts)); holds {
				return r, symptom, true
			}
		}
	}
	return nil, "", false
}

// changes says what changed, in a few words. The names are from the source, so that they
// are made harmless.
func changes(list []journal.Change) string {
	var parts []string
	for i, c := range list {
		if i == 3 {
			parts = append(parts, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		name := words.Sanitize(c.Name)
		switch {
		case c.Before != "" && c.After != "":
			parts = append(parts, fmt.Sprintf("%s from %s to %s", name, cut(words.Sanitize(c.Before), 40), cut(words.Sanitize(c.After), 40)))
		case c.What == journal.Code:
			parts = append(parts, name+" rewritten")
		default:
			parts = append(parts, name+" changed")
		}
	}
	return strings.Join(parts, ", ")
}

func cause(rule *diagnose.Rule, symptom string, p *journal.Profiled) string {
	l := Lesson{Symptom: symptom}
	var values []string
	for _, name := range l.Asks() {
		values = append(values, fmt.Sprintf("%s was %.4g", name, p.Facts[name]))
	}
	return rule.Title + ". Before the change " + strings.Join(values, ", ") + "."
}

func fix(a journal.Attempt, what string) string {
	text := "Change " + what
	if len(a.Changes) == 1 && a.Changes[0].File != "" {
		text += " in " + words.Sanitize(a.Changes[0].File)
	}
	return text + "."
}

// gained is a gain as people read it.
func gained(a journal.Attempt) string {
	low, high := math.Exp(a.Gain-1.96*a.Error), math.Exp(a.Gain+1.96*a.Error)
	return fmt.Sprintf("%.2fx (between %.2fx and %.2fx)", math.Exp(a.Gain), low, high)
}

func author(s *journal.Session) string {
	if len(s.Entries) == 0 {
		return ""
	}
	by := s.Entries[0].Actor
	if by.Kind == journal.Person {
		return cut(words.Sanitize(by.Name), maxName)
	}
	return cut(words.Sanitize(string(by.Kind)+" "+by.Name), maxName)
}

// family is the family of a kernel by its name; empty for one that nobody can tell.
func family(name string) string {
	v := &view{kernel: strings.ToLower(name)}
	for _, f := range []string{"attention", "matmul", "convolution", "sparse", "norm", "reduction", "elementwise"} {
		if v.ofFamily([]string{f}) {
			return f
		}
	}
	return ""
}

func asked(l *Lesson, facts map[string]float64) map[string]float64 {
	out := map[string]float64{}
	for _, name := range l.Asks() {
		if x, ok := facts[name]; ok {
			out[name] = x
		}
	}
	return out
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// cut shortens a text to so many characters.
func cut(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:most-3])) + "..."
}
