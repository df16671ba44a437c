package pawl_test

import (
	"bytes"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/cli"
	"github.com/goatnote-inc/pawl/internal/cli/agent"
	"github.com/goatnote-inc/pawl/internal/cli/lab"
)

// A mention is a command that a page names: a line of a shell, or a code span.
type mention struct {
	page   string
	number int
	words  []string
	line   string // all of it, with what it says of the command
}

var (
	shells     = []string{"", "sh", "console"}
	assignment = regexp.MustCompile(`^[A-Z_]+=`)
	separators = regexp.MustCompile(`&&|\|\|?|;`)
)

// mentions are the commands of this name in all pages, without what stands behind #.
func mentions(t *testing.T, name string) []mention {
	t.Helper()
	var list []mention
	for _, p := range pages(t) {
		for _, line := range p.lines {
			var texts []string
			switch {
			case line.code && slices.Contains(shells, line.lang):
				text, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line.text), "$ "), " #")
				texts = separators.Split(text, -1)
			case !line.code:
				for _, span := range codeSpan.FindAllString(line.text, -1) {
					texts = append(texts, separators.Split(strings.Trim(span, "`"), -1)...)
				}
			}
			for _, text := range texts {
				words := strings.Fields(text)
				for len(words) > 0 && assignment.MatchString(words[0]) {
					words = words[1:]
				}
				if len(words) > 0 && words[0] == name {
					list = append(list, mention{page: p.path, number: line.number, words: words, line: line.text})
				}
			}
		}
	}
	if len(list) == 0 {
		t.Fatalf("no page names %s: the reader of pages is broken", name)
	}
	return list
}

var (
	commandName = regexp.MustCompile(`^[a-z]+$`)
	longFlag    = regexp.MustCompile(`^--[a-z-]+`)
)

// Every command of pawl and pawld that a page names is there, with its flags, or the line
// says that it comes later.
func TestDocsCommands(t *testing.T) {
	for binary, run := range map[string]program{
		"pawl": pawlProgram(cli.Main), "pawl-agent": pawlProgram(agent.Main), "pawl-lab": pawlProgram(lab.Main), "pawld": pawldProgram,
	} {
		t.Run(binary, func(t *testing.T) { testDocsCommands(t, binary, run) })
	}
}

func testDocsCommands(t *testing.T, binary string, run program) {
	t.Helper()
	helps := map[string]string{}
	help := func(command []string) string {
		name := strings.Join(command, " ")
		if helps[name] == "" {
			helps[name] = run(append(slices.Clone(command), "--help")...)
			if name == "" && binary == "pawl" {
				helps[name] += run("help", "more")
			}
		}
		return helps[name]
	}
	for _, m := range mentions(t, binary) {
		var command []string
		rest := m.words[1:]
		for len(rest) > 0 && commandName.MatchString(rest[0]) && strings.Contains(help(command), "\n  "+rest[0]+"  ") {
			command, rest = append(command, rest[0]), rest[1:]
		}
		if command == nil && len(rest) > 0 && commandName.MatchString(rest[0]) {
			if !strings.Contains(m.line, "later") {
				t.Errorf("%s:%d: there is no command %q, and the line does not say that it comes later", m.page, m.number, rest[0])
			}
			continue
		}
		for _, word := range rest {
			if word == "--" {
				break // what follows is another program's
			}
			if flag := longFlag.FindString(word); flag != "" && !strings.Contains(help(command), flag+" ") {
				t.Errorf("%s:%d: %s %s has no flag %s", m.page, m.number, binary, strings.Join(command, " "), flag)
			}
		}
	}
	if len(helps) < 2 {
		t.Errorf("pages name only %d commands", len(helps))
	}
}

var makeRule = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`)

// Every target of make that a page names is there: a page of an example speaks of its
// own Makefile, any other of the one at the root or of an example's.
func TestDocsMake(t *testing.T) {
	targets := map[string]map[string]bool{}
	files, err := filepath.Glob("examples/*/Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, "Makefile") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		of := map[string]bool{}
		for _, m := range makeRule.FindAllStringSubmatch(string(text), -1) {
			of[m[1]] = true
		}
		targets[filepath.ToSlash(filepath.Dir(file))] = of
	}
	for _, m := range mentions(t, "make") {
		known := targets[path.Dir(m.page)]
		if known == nil || path.Dir(m.page) == "." {
			known = map[string]bool{}
			for of := range maps.Values(targets) {
				maps.Copy(known, of)
			}
		}
		for _, word := range m.words[1:] {
			if !strings.Contains(word, "=") && !strings.HasPrefix(word, "-") && !known[word] {
				t.Errorf("%s:%d: no Makefile has the target %q", m.page, m.number, word)
			}
		}
	}
}

// Every script a page or the Makefile names is there, and can be started if it begins with #!.
func TestDocsScripts(t *testing.T) {
	script := regexp.MustCompile(`(?:^|[\s/` + "`" + `(])((?:scripts|\.ci)/[a-z]+(?:-[a-z]+)*)`)
	check := func(where, text string) {
		for _, m := range script.FindAllStringSubmatch(text, -1) {
			info, err := os.Stat(m[1])
			if err != nil {
				t.Errorf("%s names %s: %v", where, m[1], err)
			} else if text, _ := os.ReadFile(m[1]); bytes.HasPrefix(text, []byte("#!")) && info.Mode()&0o111 == 0 {
				t.Errorf("%s names %s, which cannot be started", where, m[1])
			}
		}
	}
	for _, p := range pages(t) {
		for _, line := range p.lines {
			check(p.path, line.text)
		}
	}
	text, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	check("Makefile", string(text))
}
