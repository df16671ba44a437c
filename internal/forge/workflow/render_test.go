package workflow

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/golden"
)

const commit = "0123456789abcdef0123456789abcdef01234567"

func sample() Settings {
	s := Default()
	s.Action, s.ActionTag, s.Install = "goatnote-inc/pawl@"+commit, "v0.1.0", "0.1.0"
	return s
}

func rendered(t *testing.T, s Settings) []File {
	t.Helper()
	files, err := Render(s, "0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// variants are the kinds of installations: one suite, several, and shared workflows.
func variants() map[string]Settings {
	several, shared := sample(), sample()
	several.Folders = []string{"kernels/softmax", "kernels/matmul"}
	several = several.WithNames([]string{"softmax", "${{ x }}"})
	shared.Shared, shared.Branch = "org/.github@"+commit, "release/1.x"
	return map[string]Settings{"one": sample(), "several": several, "shared": shared}
}

func TestWrittenWorkflowsKeepToTheRules(t *testing.T) {
	for name, s := range variants() {
		for _, f := range rendered(t, s) {
			for _, p := range Check(f.Path, f.Text) {
				t.Errorf("%s: %v", name, p)
			}
			if bytes.Contains(f.Text, []byte("[[")) || bytes.Contains(f.Text, []byte("<no value>")) {
				t.Errorf("%s: %s is not filled in", name, f.Path)
			}
			for line := range strings.Lines(string(f.Text)) {
				if strings.TrimRight(line, " \n") != strings.TrimRight(line, "\n") {
					t.Errorf("%s: %s: trailing space in %q", name, f.Path, line)
				}
			}
		}
	}
	if got := variants()["several"].Checks(); !slices.Equal(got, []string{"pawl / softmax", "pawl / kernels/matmul"}) {
		t.Errorf("the checks are %q", got)
	}
	if n := len(rendered(t, variants()["several"])); n != 9 {
		t.Errorf("two suites have %d workflows, want 5 and 4 calls of them", n)
	}
}

// The real actionlint, where it is installed: CI has it.
func TestActionlint(t *testing.T) {
	lint, err := exec.LookPath("actionlint")
	if err != nil {
		t.Skip("actionlint is not installed")
	}
	for name, s := range variants() {
		dir := t.TempDir()
		writeTo(t, dir, append(rendered(t, s), Lint(s)))
		run(t, dir, lint, name)
	}
	run(t, "../../..", lint, "this repository")
}

func run(t *testing.T, dir, lint, name string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, Folder, "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no workflows: %v", name, err)
	}
	cmd := exec.CommandContext(t.Context(), lint, append([]string{"-no-color", "-config-file", filepath.Join(dir, ".github/actionlint.yaml")}, files...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", name, err, out)
	}
}

func writeTo(t *testing.T, dir string, files []File) {
	t.Helper()
	for _, f := range files {
		path := filepath.Join(dir, f.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Our own copies are what the templates write, for the settings that stand in them. They
// are what other repositories call, and they are the golden files of this package.
//
//	go test ./internal/forge/workflow -run OwnCopies -update
func TestOwnCopiesAreUpToDate(t *testing.T) {
	gate, err := os.ReadFile("../../../" + Folder + "/pawl-gate.yml")
	if err != nil {
		t.Fatal(err)
	}
	st, ok := ReadStamp(gate)
	if !ok {
		t.Fatal("our own gate has no header")
	}
	files, err := Render(st.Settings, st.Version)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		golden.File(t, filepath.Join("../../..", f.Path), string(f.Text))
	}
}

// Nothing that a user can say becomes another workflow.
func TestSettingsThatCannotBe(t *testing.T) {
	for name, change := range map[string]func(*Settings){
		"label":        func(s *Settings) { s.Runner = []string{"gpu'] }} ${{ secrets.X"} },
		"fork label":   func(s *Settings) { s.ForkRunner = []string{"a b"} },
		"no label":     func(s *Settings) { s.Runner = nil },
		"branch":       func(s *Settings) { s.Branch = "main]\non: pull_request_target" },
		"folder":       func(s *Settings) { s.Folders = []string{"a'}}"} },
		"no names":     func(s *Settings) { s.Folders = []string{"a", "b"} },
		"name":         func(s *Settings) { s.Names = []string{"a'"} },
		"parent":       func(s *Settings) { s.Folders = []string{"a/../../b"} },
		"option":       func(s *Settings) { s.Folders = []string{"-rf"} },
		"version":      func(s *Settings) { s.Install = "latest" },
		"no action":    func(s *Settings) { s.Action = "" },
		"action":       func(s *Settings) { s.Action = "goatnote-inc/pawl" },
		"action lines": func(s *Settings) { s.Action = "a/b@c\n  x" },
		"tag":          func(s *Settings) { s.ActionTag = "v1\nrun: x" },
		"shared":       func(s *Settings) { s.Shared = "org/repo" },
		"cron":         func(s *Settings) { s.Cron = "@daily" },
	} {
		s := sample()
		change(&s)
		if files, err := Render(s, "0.1.0"); err == nil {
			t.Errorf("%s: written:\n%s", name, files[0].Text)
		}
	}
}

// The rules hold for every workflow of this repository, also those that no template wrote.
func TestThisRepository(t *testing.T) {
	files, err := filepath.Glob("../../../" + Folder + "/*.yml")
	if err != nil || len(files) < 6 {
		t.Fatalf("only %v: %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range Check(filepath.Base(file), text) {
			t.Error(p)
		}
	}
}
