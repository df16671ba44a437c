package report

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/internal/report/roofline"
	"github.com/goatnote-inc/pawl/ratchet"
)

// Why holds what profiles show about a case. Every field but Case is optional.
type Why struct {
	Case          string
	Before, After *diagnose.Subject // base and candidate; Before is nil if only one was profiled
	Diagnosis     *diagnose.Diagnosis
	Difference    *diagnose.Difference
	Files         []string // kept files, as a reader of the report can open them

	// Verdict and Change are the judge's result for the case: "regression", "6.0 % slower". A
	// document fills them in from its result.
	Verdict ratchet.Verdict
	Change  string
}

// Profiled returns the profiles of w, for a roofline.
func (w Why) Profiled() roofline.Profiled {
	return roofline.Profiled{Case: w.Case, Before: w.Before, After: w.After}
}

// Judged returns w with the case's verdict from r.
func (w Why) Judged(r *ratchet.Result) Why {
	for _, j := range r.Cases {
		if j.Name == w.Case && j.Facts != nil {
			w.Verdict, w.Change = j.Verdict, changeOf(j.Facts)
		}
	}
	return w
}

// Reason is a Why as shown in a report. Its text is sanitized; examples keep their lines.
type Reason struct {
	ID       int // from 1, in the order of the document
	Case     string
	Verdict  ratchet.Verdict
	Change   string
	Sentence string
	Lines    []string // further key points for an expert
	Head     []string // column names of Rows
	Rows     [][]string
	Causes   []string // the other causes, one sentence each
	Fixes    []Remedy // most promising first
	Stalls   *Stalls
	Roofline *roofline.Roof // nil if the case has no position in a roofline
	About    string         // the device, the tool and its settings
	Files    []string
}

// Remedy is a fix in display form.
type Remedy struct {
	Do, Watch string
	Gain      string   // "may save 30 % of the time"; empty if unknown
	Example   []string // lines of code
}

// Limits of what a report shows.
const (
	rowsShown    = 12
	fixesShown   = 4
	causesShown  = 4
	exampleLines = 14
	exampleWidth = 100
	filesShown   = 8
)

// reason arranges the explanation of a case.
func (w Why) reason() Reason {
	r := Reason{
		Case: words.SanitizeTo(w.Case, words.NameLength), Verdict: w.Verdict, Change: words.SanitizeTo(w.Change, words.NameLength),
		Stalls: StallsOf(w.Before, w.After), About: w.about(),
	}
	r.Sentence = w.sentence()
	if d := w.Diagnosis; d != nil {
		for _, text := range d.Lines {
			if text = words.SanitizeTo(text, words.SentenceLength); text != r.Sentence && len(r.Lines) < 3 {
				r.Lines = append(r.Lines, text)
			}
		}
	}
	r.Head, r.Rows = w.table()
	r.Fixes = w.remedies()
	if d := w.Difference; d != nil && len(d.Causes) > 1 {
		for _, c := range d.Causes[1:min(len(d.Causes), causesShown+1)] {
			r.Causes = append(r.Causes, words.SanitizeTo(cmp.Or(c.Sentence, c.Title), words.SentenceLength))
		}
	}
	if roof := roofline.OfProfiles(w.Profiled()); len(roof.Cases) > 0 {
		r.Roofline = roof
	}
	for _, f := range w.Files[:min(len(w.Files), filesShown)] {
		r.Files = append(r.Files, words.SanitizeTo(f, words.NameLength))
	}
	return r
}

// sentence returns the sentence at the top: what changed, or the finding if there is
// nothing to compare with.
func (w Why) sentence() string {
	text := ""
	if w.Difference != nil {
		if text = w.Difference.Sentence; w.Change != "" {
			text = cmp.Or(w.Difference.Reason, text)
		}
	}
	if w.Diagnosis != nil {
		text = cmp.Or(text, w.Diagnosis.Sentence)
	}
	return words.SanitizeTo(text, words.SentenceLength)
}

// remedies returns the fixes for the change, then those for other findings of the profile.
func (w Why) remedies() []Remedy {
	var list []Remedy
	seen := map[string]bool{}
	add := func(fixes []diagnose.Fix) {
		for _, f := range fixes {
			do := asSentence(words.SanitizeTo(f.Do, words.SentenceLength))
			if do == "" || seen[do] || len(list) == fixesShown {
				continue
			}
			seen[do] = true
			r := Remedy{Do: do, Watch: withPeriod(words.SanitizeTo(f.Watch, words.SentenceLength)), Example: exampleOf(f.Example)}
			if f.Gain >= 0.01 && f.Gain <= 1 {
				r.Gain = fmt.Sprintf("may save %.0f %% of the time", 100*f.Gain)
			}
			list = append(list, r)
		}
	}
	if w.Difference != nil {
		for _, c := range w.Difference.Causes {
			add(c.Fixes)
		}
	}
	if w.Diagnosis != nil {
		for _, f := range w.Diagnosis.Findings {
			if !f.Intended {
				add(f.Fixes)
			}
		}
	}
	return list
}

// asSentence adds a capital at the start, except for names such as __ldg or float4, and a
// period at the end. Rules are written either way.
func asSentence(text string) string {
	word, _, _ := strings.Cut(text, " ")
	if word == "" {
		return ""
	}
	if !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLower(r) }) {
		first, size := utf8.DecodeRuneInString(text)
		text = string(unicode.ToUpper(first)) + text[size:]
	}
	return withPeriod(text)
}

// withPeriod adds a period if there is none.
func withPeriod(text string) string {
	if last, _ := utf8.DecodeLastRuneInString(text); text == "" || strings.ContainsRune(".!?…", last) {
		return text
	}
	return text + "."
}

// exampleOf keeps the lines and indentation of code, without invisible characters.
func exampleOf(code string) []string {
	var list []string
	for line := range strings.Lines(strings.Trim(code, "\n")) {
		if len(list) == exampleLines {
			return append(list, "…")
		}
		line = strings.ReplaceAll(strings.TrimRight(line, " \t\r\n"), "\t", "    ")
		text := strings.TrimLeft(line, " ")
		indent := min(len(line)-len(text), exampleWidth/2)
		list = append(list, strings.Repeat(" ", indent)+words.SanitizeTo(text, exampleWidth))
	}
	return list
}

// about names the source of the numbers.
func (w Why) about() string {
	var parts []string
	for _, seen := range []*diagnose.Subject{w.After, w.Before} {
		if seen == nil || seen.Profile == nil {
			continue
		}
		p := seen.Profile
		parts = append(parts, p.Subject.Device.Name)
		if p.Subject.Device.Driver != "" {
			parts = append(parts, "driver "+p.Subject.Device.Driver)
		}
		parts = append(parts, strings.TrimSpace(p.Tool.Name+" "+p.Tool.Version), settings(p.Tool))
		break
	}
	if w.Difference != nil && w.Difference.Timer == "measured" {
		parts = append(parts, "times measured without a profiler")
	}
	var said []string
	for _, text := range parts {
		if text = words.SanitizeTo(text, words.NameLength); text != "" {
			said = append(said, text)
		}
	}
	return strings.Join(said, ", ")
}

// settings describes the tool's settings: clocks first, because everything else depends on
// them.
func settings(t profile.Tool) string {
	var list []string
	for _, s := range t.Settings {
		text := strings.ReplaceAll(s.Name, "_", " ") + " " + s.Value
		if s.Name == "clock_control" {
			list = append([]string{text}, list...)
		} else if len(list) < 4 {
			list = append(list, text)
		}
	}
	return strings.Join(list, ", ")
}
