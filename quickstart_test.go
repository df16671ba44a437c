package pawl_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/kernel/device/devicetest"
)

// quickStarts are the pages of at most five minutes, and what each needs on this machine. env stands in for what CI does
// not have; each page says so.
var quickStarts = []struct {
	page, tools string
	env         func(t *testing.T) []string
}{
	{page: "quick-pytorch", tools: "git python3 sed", env: func(t *testing.T) []string {
		t.Helper()
		return []string{"PYTHONPATH=" + absolute(t, "testdata/quickstart"), "PYTHONDONTWRITEBYTECODE=1"}
	}},
	{page: "quick-cuda", tools: "git cc c++ sed", env: func(t *testing.T) []string {
		t.Helper()
		return []string{
			"PATH=" + absolute(t, "sdk/virtualgpu") + ":" + os.Getenv("PATH"), devicetest.VirtualEnv(t),
			"VGPU_CLOCK=real", // pawl times the harness from outside
			"VGPU_SCALE=2048", // a kernel takes longer by the model's clock than on the host that computes it
			"VGPU_STEP=10",    // short kernels need no batches, which would take long here
		}
	}},
	{page: "quick-benchmarks", tools: "git sh"},
	{page: "quick-ci", tools: "git sh"},
	{page: "quick-agent", tools: "git cc sed bwrap"},
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

// The quick starts are typed as they stand. A file that a page shows with cat is written first; every other line of output has to
// come out, but for numbers and the name of the device.
func TestQuickStarts_AreTyped(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	for _, q := range quickStarts {
		t.Run(q.page, func(t *testing.T) {
			t.Parallel()
			for tool := range strings.FieldsSeq(q.tools) {
				if _, err := exec.LookPath(tool); err != nil {
					t.Skipf("there is no %s here", tool)
				}
			}
			text, err := os.ReadFile(filepath.Join("docs", "tutorial", q.page+".md"))
			if err != nil {
				t.Fatal(err)
			}
			shell := newTyped(t)
			shell.dir = t.TempDir()
			if q.env != nil {
				shell.env = append(shell.env, q.env(t)...)
			}
			for _, s := range testrun.Steps(string(text)) {
				if name, ok := strings.CutPrefix(s.Command, "cat "); ok {
					shell.showFile(t, name, s.Output)
					continue
				}
				shell.typeStep(t, s)
			}
		})
	}
}

// showFile writes a file that a page shows, or compares it if a command of the page wrote it.
func (s *typed) showFile(t *testing.T, name, content string) {
	t.Helper()
	path := filepath.Join(s.dir, name)
	got, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		err = os.WriteFile(path, []byte(content), 0o666)
	} else if diff := cmp.Diff(content, string(got)); diff != "" {
		t.Errorf("%s (-page +now)\n%s", name, diff)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// typeStep types a command. A regression and a wrong candidate are answers too.
func (s *typed) typeStep(t *testing.T, step testrun.Step) {
	t.Helper()
	command := step.Command
	if strings.HasPrefix(command, "pawl") {
		command += " || [ $? -le 2 ]"
	}
	got := s.run(t, command)
	masked := withoutNumbers(got)
	for line := range strings.Lines(withoutNumbers(step.Output)) {
		if strings.TrimSpace(line) != "..." && !strings.Contains(masked, line) {
			t.Errorf("$ %s prints no line %q:\n%s", step.Command, line, got)
		}
	}
}
