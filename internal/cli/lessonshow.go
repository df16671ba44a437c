package cli

import (
	"fmt"
	"math"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/learn/lesson"
)

func (f *lessonFlags) show(name string) error {
	b, _ := f.loadLessons()
	s, err := b.Find(name)
	if err != nil {
		return command.Usage(err)
	}
	if f.json {
		return command.WriteJSON(f.Out, s)
	}
	style := f.Style()
	fmt.Fprintln(f.Out, style.Bold(words.Sanitize(s.Title)))
	fmt.Fprintln(f.Out, style.Faint(words.Sanitize(s.Name)))
	f.field("state", fmt.Sprintf("%s, weight %.2f: %s", stateWord(s), s.Weight, s.Why))
	f.field("symptom", s.Symptom)
	f.field("class", s.Class)
	f.field("cause", s.Cause)
	f.field("fix", s.Fix)
	f.field("fix id", s.FixID)
	f.field("GPUs", strings.Join(s.GPUs, ", "))
	f.field("kernels", strings.Join(s.Kernels, ", "))
	if s.Claim != nil {
		f.field("claims", fmt.Sprintf("to save %.0f %% of the time (%.2fx)", 100**s.Claim, 1/(1-*s.Claim)))
	}
	if s.Gain != nil {
		f.field("seen", fmt.Sprintf("%.2fx on average over %s, as predicted in %.1f", math.Exp(*s.Gain), words.Plural(s.Seen, "outcome"), s.Held))
	}
	f.field("source", strings.Join(s.Source, "; "))
	f.field("author", s.Author)
	if !s.Written.IsZero() {
		f.field("written", s.Written.Format("2006-01-02"))
	}
	f.body(s)
	return nil
}

// field prints a value, folded, with its name in front. It sanitizes untrusted text for all fields.
func (f *lessonFlags) field(name, value string) {
	if value == "" {
		return
	}
	lines := folded(value, f.width()-11)
	fmt.Fprintf(f.Out, "%-9s  %s\n", name, lines[0])
	for _, line := range lines[1:] {
		fmt.Fprintf(f.Out, "%11s%s\n", "", line)
	}
}

// paragraph prints untrusted text, sanitized and folded.
func (f *lessonFlags) paragraph(indent, text string) {
	for _, line := range folded(text, f.width()-len(indent)) {
		fmt.Fprintln(f.Out, indent+line)
	}
}

// body prints the text below the front matter line by line. Markdown is shown as plain text, and
// nothing in it is interpreted.
func (f *lessonFlags) body(s lesson.Standing) {
	if s.Body == "" {
		return
	}
	fmt.Fprintln(f.Out)
	for line := range strings.Lines(s.Body) {
		f.paragraph("  ", line)
	}
}

// width returns the width of the terminal, or a readable default.
func (f *lessonFlags) width() int {
	if w := f.Style().Width; w > 40 {
		return min(w, 110)
	}
	return 100
}

// folded sanitizes untrusted text and breaks it into lines.
func folded(text string, most int) []string {
	lines, line := []string{}, ""
	for word := range strings.FieldsSeq(text) {
		if word = words.Sanitize(word); word == "" {
			continue
		}
		if line != "" && len(line)+1+len(word) > most {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
