package gates

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The reference is made from the data; go test -update writes it.
func TestReferencePage(t *testing.T) {
	const name = "../../../docs/reference/gates.md"
	page := referencePage(All())
	if *update {
		if err := os.WriteFile(name, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), page); diff != "" {
		t.Errorf("docs/reference/gates.md is not what gates.yaml says (go test -update writes it):\n%s", diff)
	}
}

func referencePage(s *Set) string {
	var b strings.Builder
	b.WriteString(`# Gates

The phases of kernel work and their gates, in order. This page is made from the file that pawl itself reads. [How to work with
them](../how-to/gates.md), [why they are so](../decisions/0026-gates.md).

A gate is *asked* while its condition holds, *open* until its answer is known, then *passed* or a *stop*. Conditions are over
[facts](#facts) and [thresholds](#thresholds); a fact alone asks whether it is known. "Stops" are commands that do not run inside
a session while the answer is no; "before" those that do not run while it is open either. An override holds for the session or
up to the next measurement. In a text, ` + "`{fact}`" + ` is filled in, and what stands in brackets is left out where its fact is not known.
`)
	for _, p := range s.Phases {
		fmt.Fprintf(&b, "\n## %s\n", p.Title)
		for _, g := range p.Gates {
			referenceGate(&b, g)
		}
	}
	b.WriteString("\n## Thresholds\nA repository has others in `" + ThresholdFile + "`, one `name: number` a line, within the bounds.\n\n| name | value | from | to | |\n| --- | --- | --- | --- | --- |\n")
	for _, t := range s.Thresholds {
		fmt.Fprintf(&b, "| `%s` | %v | %v | %v | %s |\n", t.Name, t.Value, t.Least, t.Most, t.Title)
	}
	b.WriteString("\n## Facts\nNumbers, taken from the journal of the session and from how the source lies there. Those that are always known are marked.\n\n| name | always | |\n| --- | --- | --- |\n")
	for _, f := range Names() {
		always := ""
		if f.Always {
			always = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Name, always, f.About)
	}
	return b.String()
}

func referenceGate(b *strings.Builder, g Gate) {
	fmt.Fprintf(b, "\n### %s\n**%s.** %s\n\n", g.ID, g.Title, g.Why)
	row := func(name, text string) {
		if text != "" {
			fmt.Fprintf(b, "- %s: %s\n", name, text)
		}
	}
	code := func(text string) string {
		if text == "" {
			return ""
		}
		return "`" + text + "`"
	}
	row("asked when", code(g.When))
	row("known when", code(g.Known))
	row("passed when", code(g.Pass))
	row("stops", strings.Join(g.Stops, ", "))
	row("before", strings.Join(g.Before, ", "))
	if g.Lasts != "" {
		row("an override holds for the", string(g.Lasts))
	}
	// [ ] stands around what is left out where a fact is missing: nothing a reader types.
	typed := strings.NewReplacer("[", "", "]", "").Replace
	row("while open", code(typed(g.Run)))
	if g.Fails != "" {
		command := g.FailRun
		if command == "" {
			command = g.Run
		}
		row("when it stops", code(typed(command))+", and: "+code(g.Fails))
	}
}
