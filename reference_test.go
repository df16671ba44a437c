package pawl_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/cli"
	"github.com/goatnote-inc/pawl/internal/cli/agent"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/server/daemon"
)

// program runs one of the programs in memory and returns what it prints.
type program func(args ...string) string

func pawlProgram(main func(context.Context, []string, *command.IO) int) program {
	return func(args ...string) string {
		var out bytes.Buffer
		main(context.Background(), args, &command.IO{Out: &out, Err: &out, Getenv: func(string) string { return "" }})
		return out.String()
	}
}

func pawldProgram(args ...string) string {
	var out bytes.Buffer
	daemon.Main(context.Background(), args, &daemon.IO{Out: &out, Err: &out, Environ: []string{"HOME=/root"}})
	return out.String()
}

// The references of commands are what the programs print. go test . -run CommandReference -update writes them.
func TestCommandReference_IsWhatTheProgramsPrint(t *testing.T) {
	for _, test := range []struct {
		name, page, about string
		run               program
	}{
		{"pawl", "cli", "`pawl` is the command on the machine that measures.", pawlProgram(cli.Main)},
		{"pawld", "cli-pawld", "`pawld` is the server. [What each command is for](pawld.md).", pawldProgram},
		{"pawl-agent", "cli-agent", "`pawl-agent` runs gates of a [fleet](../how-to/fleet.md) on a GPU host.", pawlProgram(agent.Main)},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b strings.Builder
			fmt.Fprintf(&b, "# Commands of %s\n\n%s This page has every command and flag, as `%s COMMAND --help` prints them. A test keeps it current.\n", test.name, test.about, test.name)
			n := test.run.document(&b, test.name, nil)
			if n < 2 {
				t.Fatalf("found only %d commands", n)
			}
			golden.File(t, filepath.Join("docs", "reference", test.page+".md"), b.String())
		})
	}
}

var (
	helpBlock   = regexp.MustCompile(`(?m)^([A-Z][A-Za-z, ]*):\n\n?((?:  .*\n)+)`)
	helpCommand = regexp.MustCompile(`(?m)^  ([a-z][a-z-]*) {2,}`)
)

// document writes the help of a command and of all below it, and returns how many there are.
func (run program) document(b *strings.Builder, name string, words []string) int {
	help := run(append(slices.Clone(words), "--help")...)
	if path := strings.Join(append([]string{name}, words...), " "); !regexp.MustCompile(`(?m)^  ` + path + `( |$)`).MatchString(help) {
		return 0 // a word of the text above, not a command
	}
	more := ""
	if words == nil && name == "pawl" {
		more = run("help", "more")
	}
	text, _, _ := strings.Cut(help, "\nDocs: ")
	if words != nil {
		text, _, _ = strings.Cut(text, "\nGlobal Flags:")
	}
	fmt.Fprintf(b, "\n## %s\n```text\n%s\n```\n", strings.Join(append([]string{name}, words...), " "), strings.TrimSpace(text))
	n := 1
	for _, block := range helpBlock.FindAllStringSubmatch(help+more, -1) {
		if slices.Contains([]string{"Usage", "Aliases", "Examples", "Flags", "Global Flags"}, block[1]) {
			continue
		}
		for _, m := range helpCommand.FindAllStringSubmatch(block[2], -1) {
			if m[1] != "help" && m[1] != "completion" {
				n += run.document(b, name, append(slices.Clone(words), m[1]))
			}
		}
	}
	return n
}

// The page about pawld names every command.
func TestPawldPage_NamesEveryCommand(t *testing.T) {
	page, err := os.ReadFile("docs/reference/pawld.md")
	if err != nil {
		t.Fatal(err)
	}
	reference, err := os.ReadFile("docs/reference/cli-pawld.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^## (pawld .*)$`).FindAllStringSubmatch(string(reference), -1) {
		if !strings.Contains(string(page), "`"+m[1]+"`") && !strings.Contains(string(page), "`"+m[1]+" ") {
			t.Errorf("docs/reference/pawld.md does not name %s", m[1])
		}
	}
}

// environment matches the variables in Go code; those of tests are read by packages that only tests import.
var environment = regexp.MustCompile(`"(PAWL_[A-Z_]*[A-Z])\b`)

// The reference of environment variables names every variable of the code, and no other.
func TestEnvironmentReference_IsWhatTheCodeReads(t *testing.T) {
	page, err := os.ReadFile("docs/reference/environment.md")
	if err != nil {
		t.Fatal(err)
	}
	inCode := map[string]bool{"PAWL_OPENCL_DEVICE": true} // of pawl.h
	for _, path := range sources(t) {
		path = filepath.ToSlash(path)
		if !strings.HasPrefix(path, "internal/") || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || slices.Contains(testHelpers, filepath.ToSlash(filepath.Dir(path))) {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range environment.FindAllStringSubmatch(string(text), -1) {
			inCode[m[1]] = true
		}
	}
	onPage := map[string]bool{}
	for _, m := range regexp.MustCompile("`(PAWL_[A-Z_]+)`").FindAllStringSubmatch(string(page), -1) {
		onPage[m[1]] = true
		if !inCode[m[1]] {
			t.Errorf("docs/reference/environment.md names %s, which no code reads", m[1])
		}
	}
	for name := range inCode {
		if !onPage[name] {
			t.Errorf("docs/reference/environment.md does not name %s", name)
		}
	}
}
