package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/kernel/correctness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

func parsed(t *testing.T, text string) *suite.Suite {
	t.Helper()
	s, err := suite.Parse("pawl.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// checkedBy is a suite of one benchmark whose check is given.
func checkedBy(check string) string {
	return `version: 1
device: {kind: cpu}
harness: {command: ./h}
implementations: {ref: {}, other: {}}
benchmarks:
  b:
    matrix: {N: [1]}
    arguments: {x: {in: f32, shape: [N]}, y: {out: f32, shape: [N]}}
    check: {` + check + "}\n"
}

func TestReferenceSide(t *testing.T) {
	const withoutCheck = "version: 1\ndevice: {kind: cpu}\nharness: {command: ./h}\nbenchmarks: {b: {matrix: {N: [1]}}}\n"
	tests := []struct {
		name, change string
		base         string // its suite; empty if it has none that can be read
		without      bool   // there is no base
		want         string
	}{
		{name: "the base names the same oracle", change: checkedBy("oracle: python3 o.py"), base: checkedBy("oracle: python3 o.py"), want: suite.Base},
		{name: "tolerances differ", change: checkedBy("oracle: o, tolerance: {atol: 1}"), base: checkedBy("oracle: o"), want: suite.Base},
		{name: "the base names another oracle", change: checkedBy("oracle: python3 p.py"), base: checkedBy("oracle: python3 o.py"), want: suite.Candidate},
		{name: "the base names the same implementation", change: checkedBy("implementation: ref"), base: checkedBy("implementation: ref"), want: suite.Base},
		{name: "the base names another implementation", change: checkedBy("implementation: other"), base: checkedBy("implementation: ref"), want: suite.Candidate},
		{name: "the base names an oracle, the change an implementation", change: checkedBy("implementation: ref"), base: checkedBy("oracle: o"), want: suite.Candidate},
		{name: "the base says nothing of what is right", change: checkedBy("oracle: o"), base: withoutCheck, want: suite.Candidate},
		{name: "the base has no suite", change: checkedBy("oracle: o"), want: suite.Candidate},
		{name: "there is no base", change: checkedBy("oracle: o"), without: true, want: suite.Candidate},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &Setup{Options: Options{Suite: parsed(t, tt.change), Dir: t.TempDir()}}
			r.sides = []side{{name: suite.Candidate, dir: r.Dir}}
			if !tt.without {
				base := side{name: suite.Base, dir: t.TempDir()}
				if tt.base != "" {
					base.own = parsed(t, tt.base)
				}
				r.sides = append(r.sides, base)
			}
			if got := r.referenceSide(r.Suite.Benchmark("b")).name; got != tt.want {
				t.Errorf("it runs in the tree of %s, want %s", got, tt.want)
			}
		})
	}
}

func TestSite_SearchPathLeavesTheChangeOut(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	change, venv := filepath.Join(root, "change"), filepath.Join(root, "change", ".venv")
	if err := os.MkdirAll(filepath.Join(change, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(root, "link")
	if err := os.Symlink(filepath.Join(change, "bin"), link); err != nil {
		t.Fatal(err)
	}
	path := strings.Join([]string{
		filepath.Join(change, "bin"), "", "relative", link, filepath.Join(venv, "bin"), "/usr/bin", filepath.Join(root, "changeling"), change,
	}, string(filepath.ListSeparator))
	for _, tt := range []struct {
		name string
		site referenceSite
		want []string
	}{
		{"the tree of the base", referenceSite{hidden: []string{change}}, []string{"/usr/bin", filepath.Join(root, "changeling")}},
		{"an environment that is the user's", referenceSite{hidden: []string{change}, kept: []string{venv}}, []string{filepath.Join(venv, "bin"), "/usr/bin", filepath.Join(root, "changeling")}},
		{"the working tree", referenceSite{}, []string{filepath.Join(change, "bin"), link, filepath.Join(venv, "bin"), "/usr/bin", filepath.Join(root, "changeling"), change}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.site.outside(path)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// An environment in the tree is the user's unless the commit or the build of the change writes to it.
func TestSite_Environments(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	repository(t, dir)
	venv := filepath.Join(dir, ".venv")
	t.Setenv("VIRTUAL_ENV", venv)
	t.Setenv("CONDA_PREFIX", "")
	if err := os.MkdirAll(filepath.Join(venv, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(venv, "bin", "python3"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	r := &Setup{}
	change := side{dir: dir, root: dir}
	if got := r.environments(t.Context(), change); !cmp.Equal(got, []string{venv}) {
		t.Errorf("an environment of the user's: %v", got)
	}
	built := change
	built.impl.Build.Outputs = []measure.FileDigest{{Path: ".venv/bin/python3"}}
	if got := r.environments(t.Context(), built); got != nil {
		t.Errorf("one that the build writes to: %v", got)
	}
	gitIn(t, dir, "add", "-f", ".venv")
	if got := r.environments(t.Context(), change); got != nil {
		t.Errorf("one that is part of the change: %v", got)
	}
}

func TestSite_EnvironmentOfAnOracle(t *testing.T) {
	t.Setenv("PATH", "/change/bin:/usr/bin")
	t.Setenv("PYTHONPATH", "/change/lib:/opt/lib")
	s := &referenceSite{side: side{dir: "/base/suite", root: "/base"}, hidden: []string{"/change"}, python: "/pawl"}
	env := s.env()
	for _, want := range []string{
		"PATH=/usr/bin", "PYTHONPATH=/pawl", "PYTHONSAFEPATH=1", "PYTHONNOUSERSITE=1", "PYTHONDONTWRITEBYTECODE=1", "PYTHONSTARTUP=",
		"PAWL_ORACLE_PATH=/opt/lib", "PAWL_ORACLE_TREE=/base/suite:/base", "PAWL_ORACLE_AWAY=/change",
	} {
		if !strings.Contains("\n"+strings.Join(env, "\n")+"\n", "\n"+want+"\n") {
			t.Errorf("%q is not in %q", want, env)
		}
	}
	for _, name := range correctness.PythonVariables {
		if !strings.Contains(strings.Join(oracleVariables, " "), name) {
			t.Errorf("%s does not reach an oracle in a sandbox", name)
		}
	}
}
