package preflight

import (
	"fmt"
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

// sources holds the files of a suite in which a function may be declared.
type sources struct {
	dir   string
	files []string // read once, when first needed
	read  bool
}

func newSources(dir string) *sources { return &sources{dir: dir} }

// location is the location of a function.
type location struct {
	file    string // relative to the suite; empty if not found
	line    int
	defined bool // with its body
}

func (s location) place() string { return fmt.Sprintf("%s:%d", s.file, s.line) }

func (s location) as() string {
	if s.defined {
		return "defined"
	}
	return "declared"
}

var sourceEndings = []string{".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl"}

// find finds the definition of a function, or else its declaration.
func (s *sources) find(name string) location {
	if name == "" {
		return location{}
	}
	declaration, err := regexp.Compile(`^\s*(?:[\w:<>,*&\[\]()]+[\s*&]+)+` + regexp.QuoteMeta(name) + `\s*\(`)
	if err != nil {
		return location{}
	}
	var best location
	for _, file := range s.list() {
		text, err := os.ReadFile(filepath.Join(s.dir, file))
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

func (s *sources) list() []string {
	if s.read {
		return s.files
	}
	s.read = true
	_ = filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be read explains nothing
		}
		if d.IsDir() {
			if name := d.Name(); path != s.dir && (strings.HasPrefix(name, ".") || name == "results" || name == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err == nil && info.Mode().IsRegular() && info.Size() <= maxSourceSize && slices.Contains(sourceEndings, filepath.Ext(path)) {
			if rel, err := filepath.Rel(s.dir, path); err == nil {
				s.files = append(s.files, rel)
			}
		}
		if len(s.files) == maxSources {
			return fs.SkipAll
		}
		return nil
	})
	return s.files
}
