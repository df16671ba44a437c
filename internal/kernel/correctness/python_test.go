package correctness

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// pythons returns the interpreters of this machine that run oracles.
func pythons(t *testing.T) map[string]string {
	t.Helper()
	list := map[string]string{}
	for _, name := range []string{"python3", "python3.8", "python3.9", "python3.10", "python3.11", "python3.12", "python3.13", "python3.14"} {
		program, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if out, err := exec.Command(program, "-I", "-c", "import sys; print(sys.version_info >= (3, 8))").Output(); err == nil && string(out) == "True\n" {
			list[name] = program
		}
	}
	if len(list) == 0 {
		t.Skip("needs Python 3.8 or later")
	}
	return list
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// isolate returns a folder with pawl's modules.
func isolate(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := WritePython(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestPython_Isolated(t *testing.T) {
	const loud = "print('shadowed')\n"
	tests := []struct {
		name  string
		files map[string]string
		args  []string
		env   []string
		want  string // $DIR is the folder of the files, $PAWL that of pawl's modules
	}{
		{
			name:  "a json.py beside the script is not loaded",
			files: map[string]string{"json.py": loud, "oracle.py": "import json\nprint(json.dumps([1]))"},
			want:  "[1]",
		},
		{
			name:  "a module that Python loads late is not shadowed either",
			files: map[string]string{"colorsys.py": loud, "oracle.py": "import helper\nimport colorsys\nprint(colorsys.ONE_THIRD > 0)", "helper.py": ""},
			want:  "True",
		},
		{
			name:  "a helper beside the script is found",
			files: map[string]string{"helper.py": "value = 7", "oracle.py": "import helper\nprint(helper.value)"},
			want:  "7",
		},
		{
			name:  "a script in a folder finds what is beside it, and what is in the tree",
			files: map[string]string{"checks/helper.py": "value = 7", "package/__init__.py": "value = 8", "checks/oracle.py": "import helper, package\nprint(helper.value, package.value)"},
			args:  []string{"checks/oracle.py"},
			want:  "7 8",
		},
		{
			name:  "pawl_oracle is pawl's",
			files: map[string]string{"pawl_oracle.py": loud, "oracle.py": "import os, pawl_oracle\nprint(os.path.dirname(pawl_oracle.__file__))"},
			want:  "$PAWL",
		},
		{
			name:  "a sitecustomize and a usercustomize in the tree do not run",
			files: map[string]string{"sitecustomize.py": loud, "usercustomize.py": loud, "oracle.py": "print('quiet')"},
			want:  "quiet",
		},
		{
			name:  "PYTHONPATH, PYTHONSTARTUP and PYTHONINSPECT of the environment have no effect",
			files: map[string]string{"evil/json.py": loud, "evil/sitecustomize.py": loud, "start.py": loud, "oracle.py": "import json\nprint('quiet')"},
			env:   []string{"PYTHONPATH=$DIR/evil", "PYTHONSTARTUP=$DIR/start.py", "PYTHONINSPECT=1"},
			want:  "quiet",
		},
		{
			name:  "a user site is not used",
			files: map[string]string{"oracle.py": "import site\nprint(site.ENABLE_USER_SITE)"},
			want:  "False",
		},
		{
			name:  "a module that is run by name is found, and shadows nothing",
			files: map[string]string{"json.py": loud, "checks/__init__.py": "", "checks/oracle.py": "import json, checks\nprint(json.dumps([2]))"},
			args:  []string{"-m", "checks.oracle"},
			want:  "[2]",
		},
		{
			name:  "a module beside a script that is named with its folder shadows nothing",
			files: map[string]string{"json.py": loud, "oracle.py": "import os\nimport json\nprint(json.dumps([3]))"},
			args:  []string{"./oracle.py"},
			want:  "[3]",
		},
		{
			name:  "no bytecode is written",
			files: map[string]string{"helper.py": "", "oracle.py": "import helper, os\nprint(os.path.exists('__pycache__'))"},
			want:  "False",
		},
	}
	for name, program := range pythons(t) {
		for _, tt := range tests {
			t.Run(name+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				dir, pawl := t.TempDir(), isolate(t)
				writeFiles(t, dir, tt.files)
				places := strings.NewReplacer("$DIR", dir, "$PAWL", pawl)
				args := tt.args
				if args == nil {
					args = []string{"oracle.py"}
				}
				cmd := exec.CommandContext(t.Context(), program, args...)
				cmd.Dir = dir
				cmd.Env = os.Environ()
				for _, e := range tt.env {
					cmd.Env = append(cmd.Env, places.Replace(e))
				}
				cmd.Env = append(cmd.Env, PythonEnv(pawl, nil, []string{dir}, nil)...)
				out, err := cmd.CombinedOutput()
				if got := strings.TrimSpace(string(out)); err != nil || got != places.Replace(tt.want) {
					t.Errorf("%q, %v, want %q", got, err, places.Replace(tt.want))
				}
			})
		}
	}
}

// An environment with an editable install of the repository leads to the working tree, which is the
// change's. The oracle loads its own tree's modules.
func TestPython_LeavesEditableInstallsOfTheChangeOut(t *testing.T) {
	program := pythons(t)["python3"]
	if program == "" {
		t.Skip("needs python3")
	}
	venv := filepath.Join(t.TempDir(), "venv")
	if out, err := exec.CommandContext(t.Context(), program, "-m", "venv", "--without-pip", venv).CombinedOutput(); err != nil {
		t.Skipf("python3 makes no environment: %v\n%s", err, out)
	}
	own, change := t.TempDir(), t.TempDir()
	writeFiles(t, own, map[string]string{"reference.py": "whose = 'base'", "finder.py": "whose = 'base'", "oracle.py": "import reference, finder\nprint(reference.whose, finder.whose)"})
	writeFiles(t, change, map[string]string{"reference.py": "whose = 'change'", "hidden/finder.py": "whose = 'change'"})
	packages, err := filepath.Glob(filepath.Join(venv, "lib", "python3*", "site-packages"))
	if err != nil || len(packages) == 0 {
		t.Fatalf("no site-packages: %v", err)
	}
	// As pip and setuptools write them.
	writeFiles(t, packages[0], map[string]string{
		"repository.pth":          change + "\n",
		"__editable___finder.pth": "import __editable___finder; __editable___finder.install()\n",
		"__editable___finder.py":  editableFinder(filepath.Join(change, "hidden", "finder.py")),
		"unrelated.pth":           t.TempDir() + "\n",
	})
	pawl := isolate(t)
	for _, tt := range []struct {
		away []string
		want string
	}{
		{nil, "change change"}, // an editable install works where there is no other tree
		{[]string{change}, "base base"},
	} {
		cmd := exec.CommandContext(t.Context(), filepath.Join(venv, "bin", "python3"), "oracle.py")
		cmd.Dir, cmd.Env = own, append(os.Environ(), PythonEnv(pawl, nil, []string{own}, tt.away)...)
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != tt.want {
			t.Errorf("away %v: %q, %v, want %q", tt.away, got, err, tt.want)
		}
	}
}

func editableFinder(file string) string {
	return `import sys
from importlib.util import spec_from_file_location
MAPPING = {"finder": ` + "'" + file + "'" + `}
class Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return spec_from_file_location(name, MAPPING[name]) if name in MAPPING else None
def install():
    sys.meta_path.insert(0, Finder)
`
}
