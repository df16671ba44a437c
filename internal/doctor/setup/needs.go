package setup

import (
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/shell"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// Need is a program that a suite requires, or probably requires.
type Need struct {
	Program string
	In      shell.Search // where to look for it
	Sure    bool         // a command of the suite runs it; otherwise a file of the build names it
	Why     string
}

// telling lists the tools that are probably needed if a build file names them; others, such as "go", are also
// words in comments. Compilers are interchangeable, so only installed ones are listed.
var (
	tellingTools = []string{"nvcc", "hipcc", "cc", "c++", "cmake", "ninja", "ccache", "python3"}
	compilers    = []string{"gcc", "g++", "clang", "clang++"}
)

// Needs lists the programs of a suite whose commands run in dir with this PATH, each once. It omits
// harnesses that are given by a path.
func Needs(s *suite.Suite, dir, path string) []Need {
	var list []Need
	add := func(n Need) {
		if !slices.ContainsFunc(list, func(o Need) bool { return o.Program == n.Program }) {
			list = append(list, n)
		}
	}
	command := func(what, line string, env map[string]string) {
		for _, name := range shell.Programs(line) {
			if what != "harness" || !strings.Contains(name, "/") {
				add(Need{name, SearchOf(dir, path, env), true, "the " + what + " command needs it: " + line})
			}
		}
	}
	variants := Variants(s)
	for _, v := range variants {
		command("build", v.Build.Command, v.Build.Env)
		if v.Build.Command == "" && v.Build.Needed() {
			// Errors of a recipe are reported when it is built; its tools are known before.
			r, _ := build.Compose(v.Build, build.Location{Dir: dir})
			for _, tool := range r.Tools {
				add(Need{tool, SearchOf(dir, path, v.Build.Env), true, "the recipe " + v.Build.Recipe + " needs it"})
			}
		}
		command("harness", v.Harness.Command, v.Harness.Env)
	}
	for _, b := range s.Benchmarks {
		if b.Check != nil {
			command("oracle", b.Check.Oracle, nil)
		}
	}
	for _, name := range build.Named(dir, Commands(s)...) {
		in := SearchOf(dir, path, variants[0].Build.Env)
		if _, found := in.Find(name); slices.Contains(tellingTools, name) || found && slices.Contains(compilers, name) {
			add(Need{name, in, false, "the build files mention it"})
		}
	}
	return list
}

// Commands returns the build and harness commands of the suite.
func Commands(s *suite.Suite) []string {
	var list []string
	for _, v := range Variants(s) {
		list = append(list, v.Build.Command, v.Harness.Command)
	}
	return list
}

// Variants returns what the suite builds and starts, each once, the candidate's first. Before the
// harness has listed its cases, the suite's own commands are used.
func Variants(s *suite.Suite) []suite.Variant {
	if s == nil {
		return nil
	}
	list := s.Variants()
	for _, i := range s.Implementations {
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

// SearchOf returns where a command in dir with this environment finds its programs.
func SearchOf(dir, path string, env map[string]string) shell.Search {
	if p, set := env["PATH"]; set {
		path = p
	}
	return shell.Search{Dir: dir, Path: path}
}
