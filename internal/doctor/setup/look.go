package setup

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/shell"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/measure"
)

// programs adds git and the programs that the suite's commands run.
func (l *planner) programs() {
	l.add(l.program("git", l.search(), true, "the base is a commit: pawl checks it out and measures against it"))
	for _, n := range Needs(l.Suite, l.Dir, l.Path) {
		if l.has(n.Program) {
			continue
		}
		i := l.program(n.Program, n.In, n.Sure || slices.Contains([]string{"nvcc", "hipcc", "cc", "c++"}, n.Program), n.Why)
		if n.Program == "nvcc" && i.State == Missing {
			i = l.withoutToolkit(i)
		}
		if i.State == Missing && strings.Contains(n.Program, "/") {
			i.Note = "it is a file of the suite: correct the command, or create the file"
		}
		l.add(i)
	}
}

// withoutToolkit adds where the CUDA toolkit is, or how to get it.
func (l *planner) withoutToolkit(i Item) Item {
	if at := shell.NewestMatch(l.Root, "usr/local/cuda/bin/nvcc", "usr/local/cuda-*/bin/nvcc"); at != "" {
		at = "/" + at
		i.State, i.At, i.packages = Misconfigured, at, nil
		i.ByHand = true
		i.Fix = []Command{{Line: fmt.Sprintf("export PATH=%s:$PATH", filepath.Dir(at))}}
		i.Note = "it is installed, but not on the search path"
		return i
	}
	i.Note = "about 5 GB; it is in non-free and contrib on Debian, in multiverse on Ubuntu. NVIDIA's own repository has newer versions, which GPUs newer than the system need"
	return i
}

// optionalTools adds tools that make builds faster or safer.
func (l *planner) optionalTools(ctx context.Context) {
	builds := slices.ContainsFunc(Variants(l.Suite), func(v variant) bool { return v.Build.Needed() })
	if !builds {
		return
	}
	for _, tool := range []struct{ name, why string }{
		{"ninja", "CMake and PyTorch build faster with it"},
		{"ccache", "files that were compiled before are not compiled again: the base and the change share most files"},
	} {
		if !l.has(tool.name) {
			l.add(l.program(tool.name, l.search(), false, tool.why))
		}
	}
	l.sandbox(ctx)
}

// sandbox adds the sandbox for builds of untrusted code.
func (l *planner) sandbox(ctx context.Context) {
	modes := map[string]bool{}
	for _, v := range Variants(l.Suite) {
		modes[v.Build.Sandbox] = true
	}
	untrusted := build.UntrustedReason(l.Suite.Trust, os.Getenv)
	required := modes["always"] || untrusted != ""
	if !required && !modes["auto"] {
		return
	}
	why := "builds of untrusted code, such as a pull request from a fork, run in a sandbox"
	switch {
	case untrusted != "":
		why = "builds run in a sandbox: " + untrusted
	case modes["always"]:
		why = "builds run in a sandbox: the suite says build.sandbox: always"
	}
	i := l.program("bwrap", l.search(), required, why)
	i.Name = "bubblewrap"
	if i.State == Present {
		s, err := build.FindSandbox(ctx)
		if err == nil {
			i.Version = s.Version(ctx)
		} else {
			i.State, i.Note = Misconfigured, err.Error()
			i.ByHand = true // it changes what every program on the machine may do
			if _, err := os.Stat("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"); err == nil {
				i.Fix = []Command{{Line: "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0", Root: true}}
			}
		}
	}
	l.add(i)
}

// modules maps the Python modules commonly used by kernels and oracles to their pip packages.
var modules = map[string]string{"torch": "torch", "numpy": "numpy", "scipy": "scipy", "triton": "triton", "cupy": "cupy-cuda12x", "jax": "jax"}

var importLine = lazyregexp.New(`(?m)^\s*(?:from\s+([A-Za-z_]\w*)|import\s+([^#\n]+))`)

// python adds the modules that the suite's scripts import.
func (l *planner) python(ctx context.Context) {
	type use struct{ line, what string }
	var uses []use
	for _, v := range Variants(l.Suite) {
		uses = append(uses, use{v.Harness.Command, "harness"})
		if v.Build.Recipe == "torch" {
			uses = append(uses, use{"python3", "torch"})
		}
	}
	for _, b := range l.Suite.Benchmarks {
		if b.Check != nil {
			uses = append(uses, use{b.Check.Oracle, "oracle"})
		}
	}
	for _, u := range uses {
		python := interpreter(u.line)
		if python == "" {
			continue
		}
		if u.what == "torch" {
			l.module(ctx, python, "torch", "the recipe torch builds against it")
		}
		for _, script := range build.Programs(l.Dir, u.line) {
			text := build.SmallFile(filepath.Join(l.Dir, script))
			for _, name := range imported(text) {
				l.module(ctx, python, name, fmt.Sprintf("%s, the suite's %s, imports it", script, u.what))
			}
		}
	}
}

// imported returns the top-level modules that a script imports: "import numpy.linalg as la, torch" has two.
func imported(script string) []string {
	var names []string
	for _, m := range importLine.FindAllStringSubmatch(script, -1) {
		for word := range strings.SplitSeq(m[1]+m[2], ",") {
			word, _, _ = strings.Cut(strings.TrimSpace(word), " ")
			word, _, _ = strings.Cut(word, ".")
			names = append(names, word)
		}
	}
	return names
}

// pythonName matches the name of an interpreter on the search path. The interpreter is run and
// becomes part of a command, so nothing else is allowed: no file of the suite's folder, and no word
// with a meaning for the shell.
var pythonName = lazyregexp.New(`^python[0-9.]*$`)

// interpreter returns the Python of a command line; empty if there is none.
func interpreter(line string) string {
	for word := range strings.FieldsSeq(line) {
		if name, ok := strings.CutPrefix(word, "/usr/bin/"); pythonName.MatchString(word) || ok && pythonName.MatchString(name) {
			return word
		}
	}
	return ""
}

// askModule reports a module without loading it.
const askModule = `import sys, importlib.util as u, importlib.metadata as m
name = sys.argv[1]
found = u.find_spec(name)
if not found: sys.exit(1)
try: print(m.version(name))
except Exception: print("")`

func (l *planner) module(ctx context.Context, python, name, why string) {
	pip, known := modules[name]
	if !known || l.has("python: "+name) {
		return
	}
	i := Item{Name: "python: " + name, State: Missing, Required: true, Why: why}
	at, runs := l.search().Find(python)
	if runs {
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, at, "-c", askModule, name)
		cmd.Dir = "/" // do not mistake a file in the suite's folder for the module
		if out, err := cmd.Output(); err == nil {
			i.State, i.At, i.Version = Present, at, strings.TrimSpace(string(out))
		}
	}
	if i.State == Missing {
		if p := l.system.Package("import " + name); p != "" && (!runs || strings.HasPrefix(at, "/usr/bin/")) {
			i.packages = []string{p}
		} else {
			i.Fix = []Command{{Line: python + " -m pip install " + pip}}
		}
		if name == "torch" {
			i.Note = "the system's package is for CPUs; for a GPU, install it with pip in a virtual environment"
		}
	}
	l.add(i)
}

// trusted reports whether only the user's own code runs here, according to the suite.
func (l *planner) trusted() bool { return l.Suite.Trust == "" || l.Suite.Trust == measure.Trusted }
