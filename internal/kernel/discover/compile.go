package discover

import (
	"path"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// maxTogether is the maximum number of sources compiled in one command.
const maxTogether = 20

// fromCompiler returns a recipe that compiles a source together with those in its folder.
func (t *tree) fromCompiler(f file, l language) recipe {
	r := recipe{program: path.Join(f.dir(), f.stem())}
	together := t.together(f, l)
	if len(together) > maxTogether {
		r.doubts = append(r.doubts, "there are too many sources next to "+f.path+" to compile them all: add the required ones to build.command")
		together = together[:1]
	}
	compile := t.ownFlags(f, l)
	var sources []string
	for _, s := range together {
		sources = append(sources, s.path)
		if openMP.MatchString(s.text) && !strings.Contains(compile, "-fopenmp") && (l.name == langC.name || l.name == langCPP.name) {
			compile += " -fopenmp"
		}
	}
	r.command = strings.TrimSpace(compile + " -o " + r.program + " " + strings.Join(sources, " ") + " " + l.libs)
	r.makes = []string{r.program}
	r.doubts = append(r.doubts, "no build file names "+f.path+": it is compiled with one command, see build.command")
	return r
}

// together returns a source and those in its folder that have no main and are not included by
// any of them.
func (t *tree) together(f file, l language) []file {
	list := []file{f}
	for _, other := range t.filesIn(f.dir()) {
		if other.path != f.path && slices.Contains(l.with, other.ext()) && !hasMain.MatchString(other.text) {
			list = append(list, other)
		}
	}
	if len(list) > 4*maxTogether {
		return list
	}
	included := func(s file) bool {
		return slices.ContainsFunc(list, func(by file) bool { return strings.Contains(by.text, `"`+s.base()+`"`) })
	}
	return slices.DeleteFunc(slices.Clone(list), func(s file) bool { return s.path != f.path && included(s) })
}

var (
	optimizes = lazyregexp.New(`(?:^| )-O`)
	safeFlags = lazyregexp.New(`^[A-Za-z0-9_.,+@=/ -]*$`)
)

// ownFlags returns the compiler with the flags of the nearest Makefile or, if it sets none that optimize, ours.
func (t *tree) ownFlags(f file, l language) string {
	variables := map[string]string{langC.name: "CFLAGS", langCPP.name: "CXXFLAGS", langCUDA.name: "NVCC_FLAGS", langHIP.name: "HIPCC_FLAGS"}
	for _, dir := range ancestors(f.dir()) {
		for _, name := range makeNames {
			mk, ok := t.get(path.Join(dir, name))
			if !ok {
				continue
			}
			m := memo(t.makefiles, mk, parseMake)
			flags := strings.Join(m.words("$("+variables[l.name]+")"), " ")
			if optimizes.MatchString(flags) && safeFlags.MatchString(flags) {
				return l.tool() + " " + flags
			}
		}
	}
	return l.compile
}
