package pawl_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

// integrations are the sections of the page that are typed, and what their repository holds before.
var integrations = []struct {
	section string
	files   map[string]string
}{
	{section: "vLLM and SGLang"},
	{section: "Helion"},
	{
		section: "NVBench",
		files: map[string]string{
			"Makefile":   "bench: kernel.cuh\n\tcp $(NVBENCH) bench\n",
			"kernel.cuh": "constexpr int threads = 256;\n",
			".gitignore": "bench\nrun.json*\nresults/\n",
		},
	},
}

// integrationShell types in a folder of its own, with stand-ins for the tools of the page.
func integrationShell(t *testing.T, files map[string]string) *typed {
	t.Helper()
	for _, tool := range []string{"git", "make", "python3", "sed"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s here", tool)
		}
	}
	shell := newTyped(t)
	shell.dir = t.TempDir()
	stand := absolute(t, "testdata/integrations")
	shell.env = append(shell.env, "PATH="+filepath.Join(stand, "bin")+":"+os.Getenv("PATH"), "PYTHONPATH="+stand+":"+absolute(t, "testdata/quickstart"),
		"PYTHONDONTWRITEBYTECODE=1", "NVBENCH="+filepath.Join(stand, "nvbench.py"))
	for name, text := range files {
		path := filepath.Join(shell.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if len(files) > 0 {
		shell.run(t, "git init -q -b main && git add -A && git commit -q -m first")
	}
	return shell
}

// integrationSection returns a section of the page, with the lines that continue a command joined to it.
func integrationSection(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("docs/how-to/integrations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n## "+name+"\n")
	if !ok {
		t.Fatalf("the page has no section %q", name)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	return strings.NewReplacer("; do\n> ", "; do ", "\n> done", "; done", "\n> ", "; ").Replace(section)
}

func TestIntegrations_AreTyped(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	for _, i := range integrations {
		t.Run(i.section, func(t *testing.T) {
			t.Parallel()
			shell := integrationShell(t, i.files)
			for _, s := range testrun.Steps(integrationSection(t, i.section)) {
				if name, ok := strings.CutPrefix(s.Command, "cat "); ok {
					shell.showFile(t, name, s.Output)
					continue
				}
				shell.typeStep(t, s)
			}
		})
	}
}

// The script for Buildkite measures a pull request and shows its report, whatever the verdict.
func TestIntegrations_Buildkite(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	section := integrationSection(t, "Buildkite")
	steps := testrun.Steps(section)
	if len(steps) != 1 {
		t.Fatalf("the section has %d commands, want one file", len(steps))
	}
	shell := integrationShell(t, map[string]string{
		".buildkite/pawl.sh": steps[0].Output,
		".gitignore":         "pawl-results/\nannotation.md\n",
		"pawl.yaml":          "version: 1\nname: sort\ndefinition: [bench.sh]\nharness: {command: sh bench.sh, format: lines}\n",
		"bench.sh":           ". ./settings\nfor i in 1 2 3 4 5; do echo \"sort N=64 took $((COST * 100 + i)) us\"; done\n",
		"settings":           "COST=10\n",
	})
	shell.run(t, "git remote add origin . && git checkout -q -b change && echo COST=12 > settings && git commit -q -a -m slower")
	got := shell.run(t, "BUILDKITE_PULL_REQUEST_BASE_BRANCH=main sh .buildkite/pawl.sh; echo exit $?")
	for _, want := range []string{"FAIL: 1 regression", "buildkite-agent annotate --context pawl --style error", "buildkite-agent artifact upload pawl-results/*", "exit 1\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("the script prints no %q:\n%s", want, got)
		}
	}
	if report, err := os.ReadFile(filepath.Join(shell.dir, "annotation.md")); err != nil || !strings.Contains(string(report), "sort") {
		t.Errorf("the annotation: %v\n%s", err, report)
	}
	_, text, _ := strings.Cut(section, "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	var pipeline struct {
		Steps []struct {
			Command string
			If      string
		}
	}
	if err := yaml.Unmarshal([]byte(text), &pipeline); err != nil || len(pipeline.Steps) != 1 || pipeline.Steps[0].Command != "sh .buildkite/pawl.sh" || pipeline.Steps[0].If == "" {
		t.Errorf("%v: %+v", err, pipeline)
	}
}
