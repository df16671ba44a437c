package pawl_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

// The tutorial is typed as it stands. What does not depend on the machine has to come
// out to the letter; of measurements the shape has to, and to have it sooner they are
// brief.
func TestTutorial(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	for _, tool := range []string{"cc", "make", "git", "sed"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s here", tool)
		}
	}
	text, err := os.ReadFile("docs/tutorial/first-ten-minutes.md")
	if err != nil {
		t.Fatal(err)
	}
	shell := newTyped(t)
	steps := testrun.Steps(string(text))
	if len(steps) < 12 {
		t.Fatalf("found only %d commands", len(steps))
	}
	for _, s := range steps {
		if dir, ok := strings.CutPrefix(s.Command, "cd "); ok {
			shell.dir = filepath.Join(shell.dir, dir)
			continue
		}
		if strings.HasPrefix(s.Command, "git init") {
			shell.beBrief(t)
		}
		got := shell.run(t, s.Command)
		if s.Command != "pawl" && !strings.HasPrefix(s.Command, "pawl bench") && s.Command != "pawl doctor" {
			if diff := cmp.Diff(s.Output, got); diff != "" {
				t.Errorf("$ %s (-tutorial +now)\n%s", s.Command, diff)
			}
			continue
		}
		for _, want := range marks(s.Output) {
			if !slices.Contains(marks(got), want) {
				t.Errorf("$ %s prints no line that begins with %q:\n%s", s.Command, want, got)
			}
		}
	}
}

// beBrief makes the suite measure little, before it is committed.
func (s *typed) beBrief(t *testing.T) {
	t.Helper()
	path := filepath.Join(s.dir, "pawl.yaml")
	suite, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	brief := strings.Replace(string(suite), "measure:\n", "measure:\n  rounds: [1]\n  samples: 3\n", 1)
	if brief == string(suite) {
		t.Fatalf("the suite has no section to put the number of rounds in:\n%s", suite)
	}
	if err := os.WriteFile(path, []byte(brief), 0o666); err != nil {
		t.Fatal(err)
	}
}

type typed struct {
	dir string
	env []string
}

// newTyped is a shell in a folder where pawl's repository lies beside.
func newTyped(t *testing.T) *typed {
	t.Helper()
	dir := t.TempDir()
	example := filepath.Join(dir, "pawl", "examples", "matmul-c")
	if err := os.MkdirAll(example, 0o777); err != nil {
		t.Fatal(err)
	}
	// Not what somebody built or measured there.
	for _, name := range []string{"Makefile", "README.md", "harness.c", "matmul.c", "matmul.h", "pawl.yaml", ".gitignore"} {
		data, err := os.ReadFile(filepath.Join("examples", "matmul-c", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(example, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return &typed{dir: dir, env: append(
		os.Environ(),
		"PAWL_LOCK_DIR="+filepath.Join(dir, ".locks"), "PAWL_CACHE="+filepath.Join(dir, ".cache"), "LC_ALL=C",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com",
	)}
}

func (s *typed) run(t *testing.T, command string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", command)
	cmd.Dir, cmd.Env = s.dir, s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("$ %s: %v\n%s", command, err, out)
	}
	return string(out)
}

// marks are the words that lines begin with, but for those that depend on the
// machine and on how many rounds there are.
func marks(output string) []string {
	ofTheMachine := []string{"warning:", "ok", "warn", "note", "fix:"}
	var list []string
	for line := range strings.Lines(output) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word != "" && !strings.ContainsAny(word[:1], "0123456789") && !slices.Contains(ofTheMachine, word) {
			list = append(list, word)
		}
	}
	return list
}
