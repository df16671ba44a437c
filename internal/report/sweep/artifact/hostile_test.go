package artifact_test

import (
	"encoding/csv"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/report/sweep"
	"github.com/goatnote-inc/pawl/internal/report/sweep/artifact"
	"github.com/goatnote-inc/pawl/measure"
)

// hostile are names that mean something in one of the formats.
var hostile = []string{
	`</text><script>alert(1)</script>`, `\input{/etc/passwd}`, `a & b \\ \hline`, `[3cm] *`, "=cmd|' /C calc'!A0",
	"x\n\ntouch pwned\n", "$(touch pwned)", "'; touch pwned; '", "`touch pwned`", "| a | b |", "[x](http://example.com) @root #1",
	"\u202egnp.exe", "-- ?` ``''", "%{}~^_#$", "\x00\x1b[2J\ufffe", strings.Repeat("long", 400), "größe µs", "-rf", "+1", "@A1", "\"q\"",
}

// renamed is a run in which a stranger chose every word.
func renamed(name string) *measure.Run {
	run := attention()
	run.ID, run.Suite.Name, run.Suite.Path, run.Device.Name, run.Pawl = name, name, name, name, name
	run.Plan.Case = name
	for i := range run.Implementations {
		impl := &run.Implementations[i]
		impl.Commit, impl.Digest, impl.Build.Command, impl.Harness.Command = name, name, name, name
		impl.Toolchain = []measure.Tool{{Name: name, Version: name}}
	}
	run.Implementations[1].Name = name
	for i := range run.Cases {
		c := &run.Cases[i]
		c.Benchmark, c.Config = name, name+c.Config
		if c.Implementation == "sdpa" {
			c.Implementation = name
		}
		for r := range c.Rounds {
			if c.Rounds[r].Error != "" {
				c.Rounds[r].Error = name
			}
		}
	}
	run.Warnings = []measure.Warning{{Code: "x", Message: name}}
	return run
}

// Whatever things are called, every format stays what it is.
func TestHostileNames(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.OneOf(rapid.SampledFrom(hostile), rapid.String()).Draw(rt, "name")
		run := renamed(name)
		r, err := sweep.Analyze(run)
		if err != nil {
			rt.Fatal(err)
		}
		list, err := artifact.Files(run, r, "current.json", "0.1.0")
		if err != nil {
			rt.Fatal(err)
		}
		all := map[string]string{}
		for _, f := range list {
			all[f.Path] = string(f.Body)
		}
		checkFigures(rt, all)
		checkLaTeX(rt, all)
		checkCSV(rt, all)
		checkReadme(rt, all)
	})
}

func checkFigures(t *rapid.T, all map[string]string) {
	elements := []string{"svg", "title", "desc", "style", "rect", "line", "text", "path"}
	for name, text := range all {
		if !strings.HasSuffix(name, ".svg") {
			continue
		}
		d := xml.NewDecoder(strings.NewReader(text))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if e, ok := token.(xml.StartElement); ok && !slices.Contains(elements, e.Name.Local) {
				t.Fatalf("%s has an element %s", name, e.Name.Local)
			}
		}
	}
}

// command is one that our own LaTeX uses; a name must not become any other.
var command = regexp.MustCompile(`\\(begin\{tabular\}|end\{tabular\}|toprule|midrule|bottomrule|usepackage\{booktabs\}|` +
	`textbackslash\{\}|textasciicircum\{\}|textasciitilde\{\}|textless\{\}|textgreater\{\}|textbar\{\}|dots\{\}|char34|char96|[{}$&#_%\\])`)

func checkLaTeX(t *rapid.T, all map[string]string) {
	for name, text := range all {
		if !strings.HasSuffix(name, ".tex") {
			continue
		}
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		columns := len(regexp.MustCompile(`[lr]+`).FindString(strings.TrimPrefix(lines[1], `\begin{tabular}{`)))
		for _, line := range lines[3 : len(lines)-2] {
			if line == `\midrule` {
				continue
			}
			row, whole := strings.CutSuffix(line, ` \\`)
			rest := command.ReplaceAllString(row, "")
			if !whole || strings.Count(rest, "&") != columns-1 || strings.ContainsAny(rest, "\\$#_%^~") {
				t.Fatalf("%s: %q", name, line)
			}
			if strings.HasPrefix(strings.TrimSpace(row), "[") || strings.HasPrefix(strings.TrimSpace(row), "*") {
				t.Fatalf("%s: %q would be read as part of the line break before it", name, line)
			}
			if strings.Count(rest, "{") != strings.Count(rest, "}") || strings.ContainsFunc(line, func(r rune) bool { return r > '~' || r < ' ' }) {
				t.Fatalf("%s: %q", name, line)
			}
		}
	}
}

// With a TeX at hand, the worst names are typeset for real.
func TestLaTeXCompiles(t *testing.T) {
	tex, err := exec.LookPath("pdflatex")
	if err != nil {
		t.Skip("needs pdflatex")
	}
	page := strings.Builder{}
	page.WriteString("\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n")
	for _, name := range hostile {
		for path, text := range files(t, renamed(name)) {
			if strings.HasSuffix(path, ".tex") {
				page.WriteString(text + "\n\n")
			}
		}
	}
	page.WriteString("\\end{document}\n")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "t.tex"), []byte(page.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), tex, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "t.tex")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\nof\n%s", err, out, page.String())
	}
}

func checkCSV(t *rapid.T, all map[string]string) {
	for name, text := range all {
		if !strings.HasSuffix(name, ".csv") {
			continue
		}
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll() // as many fields in every row
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, row := range rows {
			for _, field := range row {
				if strings.IndexAny(field, "=+-@\t\r") == 0 {
					t.Fatalf("%s: a spreadsheet would compute %q", name, field)
				}
			}
		}
	}
}

func checkReadme(t *rapid.T, all map[string]string) {
	columns := 0
	for line := range strings.Lines(all["README.md"]) {
		bare := strings.NewReplacer(`\\`, "", `\|`, "").Replace(line)
		if strings.ContainsAny(bare, "<>") || strings.HasPrefix(line, "    ") {
			t.Fatalf("markup in %q", line)
		}
		switch n := strings.Count(bare, "|"); {
		case !strings.HasPrefix(line, "| "):
			columns = 0
		case columns == 0:
			columns = n
		case n != columns:
			t.Fatalf("%d cells, want %d: %q", n, columns, line)
		}
	}
}

// The commands do what they say and nothing else, whatever a commit or a glob is
// called. A real shell reads them.
func TestHostileCommands(t *testing.T) {
	for _, name := range hostile {
		dir := t.TempDir()
		text := files(t, renamed(name))["commands.txt"]
		script := "pawl() { :; }\ngit() { :; }\nsha256sum() { :; }\nset -e\nPATH=/nowhere\n" + strings.ReplaceAll(text, "touch pwned", ": > pwned")
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", script)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		left, _ := os.ReadDir(dir)
		if err != nil || len(out) > 0 || len(left) > 0 {
			t.Errorf("%q: %v, it printed %q and left %v", name, err, out, left)
		}
	}
}
