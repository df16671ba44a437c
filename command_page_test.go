package pawl_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

// The page about commands is typed as it stands. The benchmark reports fixed times, so that the verdict does not depend on
// the machine; numbers are not compared.
func TestRunAnyCommand_PageIsTyped(t *testing.T) {
	for _, tool := range []string{"git", "python3"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s here", tool)
		}
	}
	text, err := os.ReadFile("docs/how-to/run-any-command.md")
	if err != nil {
		t.Fatal(err)
	}
	shell := newTyped(t)
	shell.dir = t.TempDir()
	for name, content := range map[string]string{
		".gitignore": "results/\n__pycache__/\n",
		"kernel.py":  "MS = 100\n",
		"bench.py": "import random\nfrom kernel import MS\nfor n in (64, 256):\n  for i in range(9):\n" +
			"    print(f'sort N={n} took {MS * n / 64 * (1 + 0.002 * random.random()):.4f} ms')\n",
	} {
		if err := os.WriteFile(filepath.Join(shell.dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	shell.run(t, "git init -q -b main && git add -A && git commit -q -m fast && echo 'MS = 120' > kernel.py && git commit -q -a -m slow")
	steps := testrun.Steps(string(text))
	if len(steps) == 0 {
		t.Fatal("the page has no command")
	}
	for _, s := range steps {
		got := withoutNumbers(shell.run(t, s.Command+" || [ $? = 1 ]")) // a regression is an answer
		for line := range strings.Lines(withoutNumbers(s.Output)) {
			if line != "...\n" && !strings.Contains(got, line) {
				t.Errorf("$ %s prints no line %q:\n%s", s.Command, line, got)
			}
		}
	}
}

var (
	anyNumber  = regexp.MustCompile(`[0-9][0-9.,]*`)
	manySpaces = regexp.MustCompile(` {2,}`)
	deviceName = regexp.MustCompile(`(?m), on .*$`)
)

// withoutNumbers replaces what depends on the machine.
func withoutNumbers(s string) string {
	return manySpaces.ReplaceAllString(anyNumber.ReplaceAllString(deviceName.ReplaceAllString(s, ", on CPU"), "#"), " ")
}
