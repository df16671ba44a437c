package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/goatnote-inc/pawl/internal/build"
	"github.com/goatnote-inc/pawl/internal/suite"
)

// packages are where Debian and Ubuntu keep programs, for those whose package
// has another name, and those that builds of kernels use.
var packages = map[string]string{
	"c++": "build-essential", "cc": "build-essential", "g++": "g++", "gcc": "gcc", "make": "make",
	"clang": "clang", "clang++": "clang", "nvcc": "nvidia-cuda-toolkit", "hipcc": "hipcc",
	"cmake": "cmake", "ninja": "ninja-build", "ccache": "ccache", "meson": "meson",
	"python3": "python3", "python": "python-is-python3", "pip": "python3-pip", "pip3": "python3-pip",
	"cargo": "cargo", "rustc": "rustc", "go": "golang-go", "git": "git",
	"numactl": "numactl", "taskset": "util-linux",
}

// install says how to get a program on Debian and Ubuntu; empty where we do not know.
func install(program string) string {
	if p, known := packages[program]; known {
		return "sudo apt install " + p
	}
	return ""
}

// usual are the tools to tell of where no suite says which are needed.
var usual = []string{"cc", "nvcc", "cmake", "ninja", "ccache", "python3"}

// telling are the tools whose name in a recipe means that they are probably
// needed; others, such as "go", are words of comments too. Compilers are a matter of
// choice: those that are here are told of.
var (
	telling   = []string{"nvcc", "hipcc", "cc", "c++", "cmake", "ninja", "ccache", "python3"}
	compilers = []string{"gcc", "g++", "clang", "clang++"}
)

// tools tells of the programs that the suite's commands need.
func tools(ctx context.Context, e *exam) []Finding {
	if e.suite == nil {
		return e.usualTools()
	}
	versions := map[string]string{}
	for _, t := range build.Toolchain(ctx, e.dir(), e.commands()...) {
		versions[t.Name] = " (" + t.Version + ")"
	}
	var list []Finding
	told := map[string]bool{}
	for _, n := range e.needs() {
		if told[n.program] {
			continue
		}
		told[n.program] = true
		if at, found := n.in.find(n.program); found {
			list = append(list, ok(n.program, "%s%s", at, versions[n.program]))
		} else {
			list = append(list, n.absent.mend("%s", install(n.program)))
		}
	}
	return list
}

// need is a program that the suite cannot do without, or probably cannot.
type need struct {
	program string
	in      search
	absent  Finding
}

func (e *exam) needs() []need {
	var list []need
	add := func(what, line string, env map[string]string) {
		for _, name := range commandPrograms(line) {
			if what == "harness" && local(name) {
				continue // programs tells of it
			}
			list = append(list, need{name, e.search(env), missing(name, "not found, and the %s command needs it: %s", what, line)})
		}
	}
	variants := e.variants()
	for _, v := range variants {
		add("build", v.Build.Command, v.Build.Env)
		add("harness", v.Harness.Command, v.Harness.Env)
	}
	for _, name := range build.Named(e.dir(), e.commands()...) {
		in := e.search(variants[0].Build.Env)
		if _, found := in.find(name); slices.Contains(telling, name) || found && slices.Contains(compilers, name) {
			list = append(list, need{name, in, warn(name, "not found, and the files of the build name it")})
		}
	}
	return list
}

// commands are all that the suite runs.
func (e *exam) commands() []string {
	var list []string
	for _, v := range e.variants() {
		list = append(list, v.Build.Command, v.Harness.Command)
	}
	return list
}

func (e *exam) usualTools() []Finding {
	var list []Finding
	for _, name := range usual {
		if at, found := e.search(nil).find(name); found {
			list = append(list, ok(name, "%s", at))
		} else {
			list = append(list, note(name, "not found").mend("%s", install(name)))
		}
	}
	return list
}

// search is where a command with this environment finds its programs.
func (e *exam) search(env map[string]string) search {
	s := search{dir: e.dir(), path: e.Path}
	if p, set := env["PATH"]; set {
		s.path = p
	}
	return s
}

// variants are what the suite builds and starts, each command once, the
// candidate's first. Before the harness has listed its cases the suite's own serve.
func (e *exam) variants() []suite.Variant {
	if e.suite == nil {
		return nil
	}
	list := e.suite.Variants()
	for _, i := range e.suite.Implementations {
		if !slices.ContainsFunc(list, func(v suite.Variant) bool { return v.Implementation == i.Name }) {
			list = append(list, suite.Variant{Implementation: i.Name, Build: i.Build, Harness: i.Harness})
		}
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(v suite.Variant) bool {
		key := v.Build.Key() + v.Harness.Key()
		defer func() { seen[key] = true }()
		return seen[key]
	})
}

// environ lists variables as a process takes them.
func environ(env map[string]string) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, fmt.Sprintf("%s=%s", name, env[name]))
	}
	return list
}
