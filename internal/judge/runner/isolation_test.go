package runner

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// Where sides cannot be kept apart, a run says so, and one that believes no side does not begin.
func TestKeepApart(t *testing.T) {
	for _, tt := range []struct {
		name    string
		trust   measure.Trust
		sides   int
		sandbox string
		warns   bool
		fails   bool
	}{
		{name: "trusted", trust: measure.Trusted, sides: 2, warns: true},
		{name: "self-timed", trust: measure.SelfTimed, sides: 2, fails: true},
		{name: "checked", trust: measure.Checked, sides: 2},
		{name: "one side", trust: measure.Trusted, sides: 1},
		{name: "switched off", trust: measure.SelfTimed, sides: 2, sandbox: "never"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("PATH", t.TempDir()) // no bubblewrap
			t.Setenv(build.SandboxVariable, tt.sandbox)
			r := &Setup{Options: Options{Trust: tt.trust, Suite: &suite.Suite{}}, sides: make([]side, tt.sides)}
			err := r.setupIsolation(t.Context())
			warned := slices.ContainsFunc(r.ending.Warnings, func(w measure.Warning) bool { return w.Code == "apart" })
			if (err != nil) != tt.fails || warned != tt.warns || r.isolation != nil {
				t.Errorf("error %v, warnings %v", err, r.ending.Warnings)
			}
		})
	}
}

// The tree of another side and git's files are read-only, its own tree is not.
func TestConfine(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git, base, tmp := filepath.Join(top, ".git"), filepath.Join(top, ".git", "pawl", "base-1"), filepath.Join(top, "t")
	for _, dir := range []string{base, tmp} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TMPDIR", tmp)
	r := &Setup{isolation: &build.Isolation{}, locked: []string{git}, sides: []side{{root: top}, {root: base}, {root: top}}}
	for i, want := range [][]string{
		{"--bind", top, top, "--bind", tmp, tmp, "--ro-bind", git, git, "--ro-bind", base, base},
		{"--ro-bind", top, top, "--bind", tmp, tmp, "--ro-bind", git, git, "--bind", base, base},
	} {
		var c harness.Command
		r.isolate(r.sides[i], &c)
		cmd := exec.CommandContext(t.Context(), "/bin/true")
		started, err := c.Confine(cmd)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 4096)
		n, err := cmd.ExtraFiles[0].Read(got)
		started()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(got[:n]), strings.Join(want, "\x00")) {
			t.Errorf("side %d: %q, want %q in it", i, got[:n], want)
		}
	}
}
