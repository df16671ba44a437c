package discover

import "path"

// recipe describes how to build a program from a source.
type recipe struct {
	command  string
	program  string   // relative to the searched folder
	makes    []string // files it leaves in the tree, beyond those of the repository's own build
	cmake    []cmakeGoal
	evidence []Evidence
	doubts   []string
}

// recipe finds what builds a source: the innermost Makefile, CMakeLists.txt or build.ninja that
// names it, or else the compiler itself.
func (t *tree) recipe(f file, l language) recipe {
	for _, dir := range ancestors(f.dir()) {
		for _, from := range []func(string, file) (recipe, bool){t.fromMake, t.fromCMake, t.fromNinja} {
			if r, ok := from(dir, f); ok {
				return r
			}
		}
	}
	if r, ok := t.guessCMake(f); ok {
		return r
	}
	return t.fromCompiler(f, l)
}

// below returns the path of a file relative to a folder above it.
func below(dir, name string) string {
	if dir == "." {
		return name
	}
	return name[len(dir)+1:]
}

// inside returns the flag that makes a tool work in a folder.
func inside(flag, dir string) string {
	if dir == "." {
		return ""
	}
	return " " + flag + " " + dir
}

// clean normalizes a path in a build file.
func clean(name string) string { return path.Clean(name) }

// builtFrom reports whether words of a build file name a source or its object file.
func builtFrom(words []string, source string) bool {
	stem := source[:len(source)-len(path.Ext(source))]
	for _, w := range words {
		w = clean(w)
		if w == source || w == stem+".o" || w == source+".o" || path.Base(w) == path.Base(stem)+".o" {
			return true
		}
	}
	return false
}

// pick chooses among programs built from one source: one named harness, or else one named after
// the source, or else the first.
func pick(programs []recipe, source string) (recipe, bool) {
	stem := path.Base(source[:len(source)-len(path.Ext(source))])
	for _, name := range []string{"harness", stem} {
		for _, r := range programs {
			if path.Base(r.program) == name {
				return r, true
			}
		}
	}
	if len(programs) == 0 {
		return recipe{}, false
	}
	return programs[0], true
}
