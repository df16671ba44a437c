package report

import (
	"fmt"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
)

// whysShown is how many causes a comment explains. The page has all of them.
const whysShown = 5

// whyLines returns the causes, one sentence each.
func (m *markdown) whyLines() string {
	var b strings.Builder
	for _, f := range m.WhyLines() {
		label := "Why"
		if name, named := strings.CutPrefix(f.Label, "Why "); named {
			label = "Why " + words.MarkdownCode(name)
		}
		fmt.Fprintf(&b, "**%s:** %s\n\n", label, words.MarkdownText(f.Text))
	}
	return b.String()
}

// whys returns the evidence of the causes, folded.
func (m *markdown) whys() string {
	var b strings.Builder
	for i, r := range m.Whys {
		if i == whysShown {
			fmt.Fprintf(&b, "For %s, report.html explains why.\n\n", words.Plural(len(m.Whys)-i, "more case"))
			break
		}
		fmt.Fprintf(&b, "<details><summary>Why %s: what changed, and what to try first</summary>\n\n", htmlCode(r.Case))
		if i >= whysInHead && r.Sentence != "" {
			fmt.Fprintf(&b, "%s\n\n", words.MarkdownLine(r.Sentence))
		}
		b.WriteString(r.markdown())
		b.WriteString("</details>\n\n")
	}
	return b.String()
}

// mdRows is how many changes a comment lists.
const mdRows = 6

func (r Reason) markdown() string {
	var b strings.Builder
	if len(r.Rows) > 0 {
		b.WriteString(mdRow(escapeAll(r.Head)...) + "| --- | ---: | ---: |\n")
		for _, row := range r.Rows[:min(len(r.Rows), mdRows)] {
			b.WriteString(mdRow(escapeAll(row)...))
		}
		b.WriteString("\n")
	}
	if len(r.Fixes) > 0 {
		fix := r.Fixes[0]
		fmt.Fprintf(&b, "**Try first:** %s", words.MarkdownText(fix.Do))
		if fix.Gain != "" {
			fmt.Fprintf(&b, " It %s.", fix.Gain)
		}
		b.WriteString("\n\n" + fenced(fix.Example))
		if fix.Watch != "" {
			fmt.Fprintf(&b, "Watch: %s\n\n", words.MarkdownText(fix.Watch))
		}
	}
	if r.About != "" {
		fmt.Fprintf(&b, "%s\n\n", words.MarkdownLine(r.About))
	}
	return b.String()
}

func escapeAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = words.MarkdownText(s)
	}
	return out
}

// fenced returns code in a fence that its content cannot end.
func fenced(code []string) string {
	if len(code) == 0 {
		return ""
	}
	fence := "```"
	for _, l := range code {
		for strings.Contains(l, fence) {
			fence += "`"
		}
	}
	return fence + "cpp\n" + strings.Join(code, "\n") + "\n" + fence + "\n\n"
}

// htmlCode formats a name inside an HTML element, where Markdown is not interpreted.
func htmlCode(name string) string {
	text := words.MarkdownCode(name)
	if strings.HasPrefix(text, "`") {
		return "<code>" + strings.Trim(text, "`") + "</code>"
	}
	return text
}
