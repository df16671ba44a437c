package scout

import "path"

// recipe is how a program is built from a source.
type recipe struct {
	command  string
	program  string   // from the folder looked at
	makes    []string // what the command leaves in the tree beside what the repository's own build does
	evidence []Evidence
	doubts   []string
}

// recipe finds what builds a source: the innermost Makefile, CMakeLists.txt or
// build.ninja that names it, else the compiler itself.
func (t *tree) recipe(f file, l language) recipe {
	for _, dir := range upward(f.dir()) {
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

// below is the place of a file seen from a folder above it.
func below(dir, name string) string {
	if dir == "." {
		return name
	}
	return name[len(dir)+1:]
}

// inside is the flag that makes a tool work in a folder.
func inside(flag, dir string) string {
	if dir == "." {
		return ""
	}
	return " " + flag + " " + dir
}

// clean makes the ways to write a path inside a build file alike.
func clean(name string) string { return path.Clean(name) }

// builtFrom tells whether words of a build file name a source or its object.
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

// pick chooses among programs that are built from one source: one called harness,
// one called like the source, the first.
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
