package report

import (
	"fmt"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/measure"
)

// Stage is the result of a step before measuring.
type Stage struct {
	Name   string   `json:"name"`   // "preflight"
	Answer string   `json:"answer"` // "pass", "warn", "stop" or "skipped"
	Line   string   `json:"line"`
	Detail []string `json:"detail,omitempty"`
}

// stagesShown is the max number of detail lines of a stage.
const stagesShown = 12

// stagesText summarizes the stages in one line. Passed stages need no more.
func stagesText(stages []Stage) string {
	var parts []string
	for _, s := range stages {
		if s.Answer == "" { // not reached
			continue
		}
		text := s.Name + ": " + s.Line
		if s.Answer != "pass" {
			text = fmt.Sprintf("%s: %s, %s", s.Name, s.Answer, s.Line)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// notableStages returns the stages to be shown in full: warnings and stops.
func notableStages(stages []Stage) []Stage {
	var list []Stage
	for _, s := range stages {
		if s.Answer != "warn" && s.Answer != "stop" {
			continue
		}
		out := Stage{Name: words.SanitizeTo(s.Name, words.NameLength), Answer: s.Answer, Line: words.SanitizeTo(s.Line, words.SentenceLength)}
		for i, text := range s.Detail {
			if i == stagesShown {
				out.Detail = append(out.Detail, fmt.Sprintf("and %d more", len(s.Detail)-i))
				break
			}
			out.Detail = append(out.Detail, words.SanitizeTo(text, words.SentenceLength))
		}
		list = append(list, out)
	}
	return list
}

// trustText says how far to trust the numbers, and why.
func trustText(run *measure.Run) string {
	if run.Trust == "" {
		return ""
	}
	verified, compared, clocks := 0, 0, 0
	for _, c := range run.Cases {
		for _, r := range c.Rounds {
			verified += r.Verified
			compared += r.Compared
			if r.Outside != nil {
				clocks++
			}
		}
	}
	parts := []string{string(run.Trust)}
	if verified > 0 {
		parts = append(parts, words.Plural(verified, "result")+" of timed runs compared and correct")
	} else {
		parts = append(parts, "no result of a timed run was compared")
	}
	if compared > 0 {
		parts = append(parts, fmt.Sprintf("%s agreed with the base on the same inputs", words.Plural(compared, "timed run")))
	}
	if clocks > 0 {
		parts = append(parts, "pawl's own outside clock was read in "+words.Plural(clocks, "round"))
	}
	return strings.Join(parts, "; ")
}

// definitionText says how the change altered the benchmark definition, and how that was
// accepted.
func definitionText(run *measure.Run) string {
	var parts []string
	if run.Definition != nil {
		parts = append(parts, "changed: "+strings.Join(run.Definition.Changed, ", "))
	}
	if run.Accepted != "" {
		parts = append(parts, "accepted: "+run.Accepted)
	}
	return strings.Join(parts, "; ")
}
