// Package affected decides which files of a change can affect what a suite measures. It uses their names,
// and answers yes if in doubt: an extra measurement costs minutes, a missing one lets a regression
// through. It must not know how the change was found.
package affected

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// Rules defines which files affect a suite. Paths are relative to the top of the repository, with slashes.
type Rules struct {
	folder string   // of the suite; "." for the top
	whole  bool     // gate.paths is not set: any file outside the folder may matter
	globs  []string // of additional files
	ignore []string // globs of files that neither a build nor a kernel reads
	suite  string   // the suite file
}

// Of returns the rules of a suite in a folder of its repository.
func Of(s *suite.Suite, folder string) Rules {
	r := Rules{folder: path.Clean(folder), whole: len(s.Gate.Paths) == 0, globs: slices.Clone(s.Gate.Paths)}
	for _, glob := range s.Gate.Ignore {
		r.ignore = append(r.ignore, strings.ToLower(glob))
	}
	at := func(names ...string) []string {
		var list []string
		for _, name := range names {
			list = append(list, path.Join(r.folder, name))
		}
		return list
	}
	if len(s.Files) > 0 {
		r.suite = path.Join(r.folder, path.Base(s.Files[0]))
		for _, name := range s.Files[1:] { // extended files can be anywhere
			r.globs = append(r.globs, "**/"+path.Base(name))
		}
	}
	r.globs = append(r.globs, at(s.Definition...)...)
	for _, i := range s.Implementations {
		r.globs = append(r.globs, at(i.Build.Inputs...)...)
		r.globs = append(r.globs, at(i.Build.Sources...)...)
		r.globs = append(r.globs, at(i.Harness.Files...)...)
		r.globs = append(r.globs, at(r.named(i.Build.Command+" "+i.Build.Folder+" "+i.Harness.Command)...)...)
	}
	for _, b := range s.Benchmarks {
		if b.Check != nil {
			r.globs = append(r.globs, at(r.named(b.Check.Oracle)...)...)
		}
	}
	return r
}

// named returns the words of a command line that look like files and would not count otherwise: those
// outside the suite's folder, and those that an ignore glob matches.
func (r Rules) named(command string) []string {
	var list []string
	for _, word := range strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n;&|<>()='\"`$,:", r) }) {
		switch file := strings.TrimPrefix(path.Join(r.folder, word), "./"); {
		case strings.Contains(word, ".."):
			list = append(list, strings.TrimLeft(word, "-IL"))
		case r.ignored(file):
			list = append(list, word)
		}
	}
	return list
}

// File is a file that affects a suite, with the reason.
type File struct{ Path, Why string }

// Mention is a line of a file that contains the name of another file.
type Mention struct{ File, Line string }

// Affecting returns the files of a change that affect the suite. An ignored file counts if a file that
// affects the suite reads it: a source can include a file that is named like documentation. mentions
// returns the lines that contain one of the names.
func (r Rules) Affecting(ctx context.Context, changed []string, mentions func(ctx context.Context, names []string) ([]Mention, error)) ([]File, error) {
	var list []File
	ignored := map[string][]string{} // by base name
	for _, file := range changed {
		if why := r.Why(file); why != "" {
			list = append(list, File{file, why})
		} else if r.ignored(file) {
			ignored[path.Base(file)] = append(ignored[path.Base(file)], file)
		}
	}
	if len(ignored) == 0 {
		return list, nil
	}
	lines, err := mentions(ctx, slices.Sorted(maps.Keys(ignored)))
	if err != nil {
		return nil, err
	}
	for _, m := range lines {
		for name, files := range ignored {
			if len(files) > 0 && r.Why(m.File) != "" && m.reads(name) {
				for _, file := range files {
					list = append(list, File{file, m.File + " names it"})
				}
				ignored[name] = nil
			}
		}
	}
	slices.SortFunc(list, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return list, nil
}

var (
	comment      = lazyregexp.New(`^\s*(//|/?\*|#|;|--|%|\.\.)`)
	metadata     = lazyregexp.New(`(^|/)(pyproject\.toml|setup\.(py|cfg)|MANIFEST\.in|Cargo\.toml|package\.json)$`)
	metadataName = lazyregexp.New(`(?i)^(readme|license|changelog|\.gitignore)`)
)

// reads reports whether a line seems to read a file. A comment does not, unless the name ends a string,
// as in an include. Nor does package metadata that names its README.
func (m Mention) reads(name string) bool {
	_, after, found := strings.Cut(m.Line, name)
	switch {
	case !found, metadataName.MatchString(name) && metadata.MatchString(m.File):
		return false
	case comment.MatchString(m.Line):
		return after != "" && strings.ContainsRune(`"'>`, rune(after[0]))
	default:
		return true
	}
}

// workflowFile matches the workflows that pawl writes, in the folder of any forge.
var workflowFile = lazyregexp.New(`^\.[a-z]+/workflows/pawl-`)

// Why returns why a file affects the suite, judged by its name; empty if it does not.
func (r Rules) Why(file string) string {
	inside := r.folder == "." || strings.HasPrefix(file, r.folder+"/")
	switch {
	case file == r.suite:
		return "the suite"
	case slices.ContainsFunc(r.globs, func(glob string) bool { return Match(glob, file) }):
		return "named by the suite"
	case workflowFile.MatchString(file):
		return "a pawl workflow"
	case r.ignored(file):
		return ""
	case inside:
		return "in the suite's folder"
	case r.whole:
		return "a build or a kernel may read it"
	default:
		return ""
	}
}

// ignored reports whether an ignore glob matches the whole path of a file. It does not match folders: a
// folder named like an ignored file, such as license, can contain sources.
func (r Rules) ignored(file string) bool {
	return slices.ContainsFunc(r.ignore, func(glob string) bool {
		reach := match(glob, strings.ToLower(file))
		return reach[len(reach)-1]
	})
}

// Match reports whether a glob matches a file or a folder that contains it. ** matches any number of
// folders.
func Match(glob, file string) bool { return slices.Contains(match(glob, file), true) }

// match reports, for each number of leading path elements of a file, whether the glob matches these.
func match(glob, file string) []bool {
	patterns := strings.Split(strings.TrimSuffix(path.Clean(glob), "/"), "/")
	parts := strings.Split(file, "/")
	// reach[j]: the patterns so far match the first j parts.
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
				if hit, err := path.Match(p, parts[j]); hit || err != nil { // an invalid glob counts as a match: if in doubt, yes
					next[j+1] = true
				}
			}
		}
		reach = next
	}
	return reach
}
