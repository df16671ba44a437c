// Package touch knows which files of a change can change what a suite measures. It looks
// at names only, and where they leave it unsure it says yes: a measurement too many costs
// minutes, one too few costs the regression. It must not know how the change was found.
package touch

import (
	"path"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/suite"
)

// Rules say what touches a suite. Paths are from the top of the repository, with slashes.
type Rules struct {
	folder string   // of the suite; "." for the top
	whole  bool     // a build reads it does not say what: any file may matter
	globs  []string // of further files
	suite  []string // the files of the suite itself
}

// Of are the rules of a suite that stands in a folder of its repository.
func Of(s *suite.Suite, folder string) Rules {
	r := Rules{folder: path.Clean(folder), globs: slices.Clone(s.Gate.Paths)}
	at := func(names ...string) []string {
		var list []string
		for _, name := range names {
			list = append(list, path.Join(r.folder, name))
		}
		return list
	}
	for _, name := range s.Files {
		if !path.IsAbs(name) {
			r.suite = append(r.suite, at(name)...)
		}
	}
	r.globs = append(r.globs, at(s.Definition...)...)
	for _, i := range s.Implementations {
		r.globs = append(r.globs, at(i.Build.Inputs...)...)
		r.globs = append(r.globs, at(i.Build.Sources...)...)
		r.globs = append(r.globs, at(i.Harness.Files...)...)
		r.globs = append(r.globs, at(named(i.Build.Command+" "+i.Build.Folder+" "+i.Harness.Command)...)...)
		r.whole = r.whole || i.Build.Needed() && i.Build.Inputs == nil && len(s.Gate.Paths) == 0
	}
	for _, b := range s.Benchmarks {
		if b.Check != nil {
			r.globs = append(r.globs, at(named(b.Check.Oracle)...)...)
		}
	}
	return r
}

// named are the words of a command line that look like files elsewhere: those in the
// folder of the suite count anyway.
func named(command string) []string {
	var list []string
	for _, word := range strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n;&|<>()='\"`$,:", r) }) {
		if strings.Contains(word, "..") {
			list = append(list, strings.TrimLeft(word, "-IL"))
		}
	}
	return list
}

// Why says why a file touches the suite; empty when it does not.
func (r Rules) Why(file string) string {
	inside := r.folder == "." || strings.HasPrefix(file, r.folder+"/")
	switch {
	case slices.Contains(r.suite, file):
		return "the suite"
	case slices.ContainsFunc(r.globs, func(glob string) bool { return Match(glob, file) }):
		return "named by the suite"
	case strings.HasPrefix(file, ".github/workflows/pawl-"):
		return "how it is measured"
	case prose(file):
		return ""
	case inside:
		return "in the suite's folder"
	case r.whole:
		return "the build may read it"
	default:
		return ""
	}
}

// prose are files that no build reads, as far as anybody can tell by a name.
func prose(file string) bool {
	base := strings.ToLower(path.Base(file))
	return strings.HasPrefix(file, ".github/") || slices.Contains([]string{".md", ".rst"}, path.Ext(base)) ||
		slices.Contains([]string{"license", ".gitignore", "codeowners"}, base)
}

// Match tells whether a glob means a file: by its whole name, or by a folder that it is
// in. ** stands for any number of folders.
func Match(glob, file string) bool {
	patterns := strings.Split(strings.TrimSuffix(path.Clean(glob), "/"), "/")
	parts := strings.Split(file, "/")
	// reach[j]: the patterns so far can stand for the first j parts.
	reach := make([]bool, len(parts)+1)
	reach[0] = true
	for _, p := range patterns {
		next := make([]bool, len(parts)+1)
		for j, ok := range reach {
			switch {
			case p == "**":
				next[j] = ok || j > 0 && next[j-1]
			case !ok:
			case p == ".":
				next[j] = true
			case j < len(parts):
				if hit, err := path.Match(p, parts[j]); hit || err != nil { // a glob nobody can read leaves us unsure
					next[j+1] = true
				}
			}
		}
		reach = next
	}
	return slices.Contains(reach, true)
}
