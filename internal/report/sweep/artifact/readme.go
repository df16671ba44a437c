package artifact

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/internal/report/summary"
	"github.com/goatnote-inc/pawl/internal/report/sweep"
	"github.com/goatnote-inc/pawl/measure"
)

// maxRows is the max number of table rows, and of omissions named, on the first page. The
// files have all.
const maxRows = 200

// writeReadme writes the first page: everything in tables and figures, and where the rest
// is.
func writeReadme(run *measure.Run, r *sweep.Result, figures []figure) []byte {
	md := words.MarkdownText
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s on %s\n\n", md(cmp.Or(r.Suite, "sweep")), words.Plural(len(r.Implementations), "implementation"), words.Plural(len(r.Configs), "config"))
	fmt.Fprintf(&b, "%s on %s, %s%s. Run %s from %s.\n", md(strings.Join(r.Implementations, ", ")), md(r.Device),
		words.Plural(r.Rounds, "round"), md(clocks(run)), md(r.Run), run.Created.UTC().Format("2006-01-02"))
	if run.End.State != measure.Complete && run.End.State != "" {
		fmt.Fprintf(&b, "\nThe run ended early: %s.\n", md(strings.TrimSpace(string(run.End.State)+" "+run.End.Reason)))
	}
	for _, l := range r.Absent {
		fmt.Fprintf(&b, "\nNot compared: %s (%s).\n", md(l.Name), md(words.Sanitize(l.Reason)))
	}
	for i, t := range tables(r) {
		fmt.Fprintf(&b, "\n## %s\n%s\n\n", md(t.title), md(t.note))
		writeMarkdown(&b, t)
		if i == 0 {
			writeLeftOut(&b, r.Overall.LeftOut)
		}
		for _, f := range figures {
			if f.beside == t.name {
				fmt.Fprintf(&b, "\n![%s](%s)\n", md(f.title), f.path)
			}
		}
	}
	if warnings := report.Warnings(run, summary.Of(run)); len(warnings) > 0 {
		b.WriteString("\n## Warnings\n")
		for _, w := range warnings[:min(len(warnings), maxRows)] {
			fmt.Fprintf(&b, "- %s\n", md(words.Sanitize(w)))
		}
	}
	b.WriteString(files)
	return []byte(b.String())
}

// files describes the other files.
const files = `
## Files
| file | content |
| --- | --- |
| record (current.json) | every sample, in the order taken |
| environment.json | device, driver, machine, compilers, versions |
| commands.txt | how to repeat the measurement and the analysis |
| sweep.json | the analysis, for programs |
| tables | CSV for programs, LaTeX for papers |
| figures | SVG |
| MANIFEST | SHA-256 of every file: sha256sum -c MANIFEST |
`

func clocks(run *measure.Run) string {
	if c := run.Testbed.Clocks.String(); c != "free" {
		return ", clocks " + c
	}
	return ""
}

func writeMarkdown(b *strings.Builder, t table) {
	if len(t.rows) == 0 {
		b.WriteString("Nothing to show.\n")
		return
	}
	var rule []string
	for _, c := range t.columns {
		rule = append(rule, map[bool]string{false: "---", true: "---:"}[c.right])
	}
	for i, cells := range t.texts(func(s string) string { return words.MarkdownText(words.Sanitize(s)) }) {
		if i == 1 {
			fmt.Fprintf(b, "| %s |\n", strings.Join(rule, " | "))
		}
		if i <= maxRows {
			fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
		}
	}
	if more := len(t.rows) - maxRows; more > 0 {
		fmt.Fprintf(b, "\n%s more in [tables/%s.csv](tables/%s.csv).\n", words.Plural(more, "row"), t.name, t.name)
	}
}

func writeLeftOut(b *strings.Builder, list []sweep.Omission) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\nLeft out because not every implementation has %s:\n\n", map[bool]string{true: "it", false: "them"}[len(list) == 1])
	for _, l := range list[:min(len(list), maxRows)] {
		fmt.Fprintf(b, "- %s: %s\n", words.MarkdownText(words.Sanitize(l.Name)), words.MarkdownText(words.Sanitize(l.Reason)))
	}
	if more := len(list) - maxRows; more > 0 {
		fmt.Fprintf(b, "- and %d more, in sweep.json\n", more)
	}
}
