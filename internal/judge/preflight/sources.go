package preflight

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Limits of the search in sources. The search only helps to explain, and may give up.
const (
	maxSources    = 2000
	maxSourceSize = 1 << 20
)

// location is the location of a function.
type location struct {
	file    string // relative to the suite; empty if not found
	line    int
	defined bool // with its body
}

var sourceEndings = []string{".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl"}

// find finds the definition of a function in files below dir, or else its declaration.
func find(dir string, files []string, name string) location {
	if name == "" {
		return location{}
	}
	declaration, err := regexp.Compile(`^\s*(?:[\w:<>,*&\[\]()]+[\s*&]+)+` + regexp.QuoteMeta(name) + `\s*\(`)
	if err != nil {
		return location{}
	}
	var best location
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			continue
		}
		lines := strings.Split(string(text), "\n")
		for i, line := range lines {
			if !strings.Contains(line, name) || !declaration.MatchString(line) || strings.HasPrefix(strings.TrimSpace(line), "return ") {
				continue
			}
			found := location{file, i + 1, hasBody(lines[i:])}
			if best.file == "" || found.defined && !best.defined {
				best = found
			}
		}
	}
	return best
}

// hasBody reports whether a brace opens before the declaration ends.
func hasBody(lines []string) bool {
	for _, line := range lines[:min(len(lines), 12)] {
		if i := strings.IndexAny(line, "{;"); i >= 0 {
			return line[i] == '{'
		}
	}
	return false
}

// sourceFiles returns the files below dir in which a function may be declared.
func sourceFiles(dir string) (files []string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be read explains nothing
		}
		if d.IsDir() {
			if name := d.Name(); path != dir && (strings.HasPrefix(name, ".") || name == "results" || name == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err == nil && info.Mode().IsRegular() && info.Size() <= maxSourceSize && slices.Contains(sourceEndings, filepath.Ext(path)) {
			if rel, err := filepath.Rel(dir, path); err == nil {
				files = append(files, rel)
			}
		}
		if len(files) == maxSources {
			return fs.SkipAll
		}
		return nil
	})
	return files
}
