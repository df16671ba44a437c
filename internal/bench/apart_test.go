package bench

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/build"
	"github.com/goatnote-inc/pawl/internal/harness"
	"github.com/goatnote-inc/pawl/internal/suite"
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
			r := &run{Options: Options{Trust: tt.trust, Suite: &suite.Suite{}}, sides: make([]side, tt.sides)}
			err := r.keepApart(t.Context())
			warned := slices.ContainsFunc(r.ending.Warnings, func(w measure.Warning) bool { return w.Code == "apart" })
			if (err != nil) != tt.fails || warned != tt.warns || r.apart != nil {
				t.Errorf("error %v, warnings %v", err, r.ending.Warnings)
			}
		})
	}
}

// The tree of another side and git's files are read-only, its own tree is not.
func TestConfine(t *testing.T) {
	t.Setenv("TMPDIR", "/r/tmp")
	r := &run{apart: &build.Apart{}, locked: []string{"/r/.git"}, sides: []side{{root: "/r"}, {root: "/r/.git/pawl/base-1"}, {root: "/r"}}}
	for i, want := range [][]string{
		{"--bind", "/r", "/r", "--bind", "/r/tmp", "/r/tmp", "--ro-bind-try", "/r/.git", "/r/.git", "--ro-bind-try", "/r/.git/pawl/base-1", "/r/.git/pawl/base-1"},
		{"--ro-bind-try", "/r", "/r", "--bind", "/r/tmp", "/r/tmp", "--ro-bind-try", "/r/.git", "/r/.git", "--bind", "/r/.git/pawl/base-1", "/r/.git/pawl/base-1"},
	} {
		var c harness.Command
		r.confine(r.sides[i], &c)
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
