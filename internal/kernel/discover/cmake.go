package discover

import (
	"io/fs"
	"path"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

var (
	cmakeComment = lazyregexp.New(`#[^\n]*`)
	cmakeCommand = lazyregexp.New(`(?is)\b(add_executable|cuda_add_executable|set|project)\s*\(([^)]*)\)`)
	cmakeOption  = lazyregexp.New(`(?is)\b(?:option|cmake_dependent_option)\s*\(\s*([A-Za-z0-9_]+)\s+"[^"]*"\s+OFF\b`)
	measures     = lazyregexp.New(`(?i)BENCH|CLIENT|EXAMPLE|DEVELOPER|PERF`)
	cmakeTarget  = lazyregexp.New(`^[A-Za-z0-9_.+][A-Za-z0-9_.+-]*$`)
	binaryFolder = lazyregexp.New(`^"?\$\{(?:CMAKE|PROJECT)_BINARY_DIR\}/([A-Za-z0-9_./-]+)"?$`)
)

// cmakeProgram is one add_executable.
type cmakeProgram struct {
	name    string
	sources []string
	line    int
}

// cmakeFile holds the relevant parts of a CMakeLists.txt.
type cmakeFile struct {
	programs []cmakeProgram
	project  bool
	output   string   // folder of the programs, below the build folder; empty for the default
	off      []string // options that are off, and may add benchmarks
}

func parseCMake(text string) *cmakeFile {
	c := &cmakeFile{}
	vars := map[string][]string{}
	text = cmakeComment.ReplaceAllString(text, "")
	for _, m := range cmakeOption.FindAllStringSubmatch(text, maxRules) {
		if measures.MatchString(m[1]) {
			c.off = append(c.off, m[1])
		}
	}
	for _, at := range cmakeCommand.FindAllStringSubmatchIndex(text, maxRules) {
		words := cmakeWords(text[at[4]:at[5]], vars)
		if len(words) == 0 {
			continue
		}
		switch name := strings.ToLower(text[at[2]:at[3]]); name {
		case "project":
			c.project = true
		case "set":
			vars[words[0]] = words[1:]
			if m := binaryFolder.FindStringSubmatch(strings.Join(words[1:], " ")); m != nil && words[0] == "CMAKE_RUNTIME_OUTPUT_DIRECTORY" {
				c.output = m[1]
			}
		default:
			c.programs = append(c.programs, cmakeProgram{words[0], words[1:], 1 + strings.Count(text[:at[0]], "\n")})
		}
	}
	return c
}

// cmakeWords splits the arguments of a command. It expands a variable that is a whole word. Any
// other variable stays unexpanded, and matches no file.
func cmakeWords(args string, vars map[string][]string) []string {
	const most = 1_000
	var words []string
	for w := range strings.FieldsSeq(args) {
		w = strings.Trim(w, `"`)
		for _, here := range []string{"${CMAKE_CURRENT_SOURCE_DIR}/", "${CMAKE_CURRENT_LIST_DIR}/"} {
			w = strings.TrimPrefix(w, here)
		}
		if name, ok := strings.CutPrefix(w, "${"); ok && len(words) < most {
			if value, known := vars[strings.TrimSuffix(name, "}")]; known {
				words = append(words, value...)
				continue
			}
		}
		words = append(words, w)
	}
	return words[:min(len(words), most)]
}

// fromCMake finds the program that a CMakeLists.txt builds from a source.
func (t *tree) fromCMake(dir string, f file) (recipe, bool) {
	lists, ok := t.get(path.Join(dir, "CMakeLists.txt"))
	if !ok {
		return recipe{}, false
	}
	source := below(dir, f.path)
	var found []recipe
	for _, p := range memo(t.cmakes, lists, parseCMake).programs {
		if cmakeTarget.MatchString(p.name) && builtFrom(p.sources, source) {
			r := t.cmake(dir, p.name, f)
			r.evidence = []Evidence{{lists.path, p.line, "builds " + p.name + " from " + source}}
			found = append(found, r)
		}
	}
	return pick(found, source)
}

// guessCMake assumes that a CMake project builds a source into a program of the same name. CMake
// is a full language, of which the package reads only the simplest parts.
func (t *tree) guessCMake(f file) (recipe, bool) {
	for _, dir := range ancestors(f.dir()) {
		if lists, ok := t.get(path.Join(dir, "CMakeLists.txt")); ok {
			r := t.cmake(dir, f.stem(), f)
			r.evidence = []Evidence{{lists.path, 0, "a CMake project"}}
			r.doubts = []string{lists.path + " does not show which target it builds from " + f.path + ": assuming the target " + f.stem()}
			return r, true
		}
	}
	return recipe{}, false
}

// cmake returns the recipe of a target in the CMakeLists.txt of a folder. Setup asks CMake itself for the target.
func (t *tree) cmake(dir, target string, f file) recipe {
	top, output := dir, ""
	var off []string
	for _, up := range ancestors(dir) {
		lists, ok := t.get(path.Join(up, "CMakeLists.txt"))
		if !ok {
			continue
		}
		c := memo(t.cmakes, lists, parseCMake)
		if c.project {
			top = up
		}
		if output == "" {
			output = c.output
		}
		off = append(off, c.off...)
	}
	program := path.Join("build", below(top, path.Join(dir, target)))
	if set := path.Join("build", output, target); output != "" && fs.ValidPath(set) {
		program = set
	}
	g := cmakeGoal{top: top, source: below(top, f.path), target: target, program: program, off: off}
	return recipe{command: g.command(), program: program, makes: []string{"build"}, cmake: []cmakeGoal{g}}
}
