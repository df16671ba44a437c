package discover

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// Limits on the search: a repository may be huge, or hostile.
const (
	maxEntries  = 20_000
	maxDepth    = 8
	maxFileSize = 512 << 10 // bytes read per file: the relevant lines are at the top
	maxRead     = 64 << 20
)

// tree holds the files of a repository that may be relevant.
type tree struct {
	files  []file // sorted by path
	suites []string
	odd    int // number of names skipped
	cut    string

	makefiles map[string]*makefile // each parsed once
	cmakes    map[string]*cmakeFile
}

type file struct{ path, text string }

func (f file) dir() string  { return path.Dir(f.path) }
func (f file) base() string { return path.Base(f.path) }
func (f file) ext() string  { return path.Ext(f.path) }
func (f file) stem() string { return strings.TrimSuffix(f.base(), f.ext()) }

// walk reads breadth first, so that a limit cuts off the deepest files.
func walk(fsys fs.FS) (*tree, error) {
	t := &tree{makefiles: map[string]*makefile{}, cmakes: map[string]*cmakeFile{}}
	entries, read := 0, 0
	for level := []string{"."}; len(level) > 0; {
		var next []string
		for _, dir := range level {
			list, err := fs.ReadDir(fsys, dir)
			if err != nil {
				if dir == "." {
					return nil, err
				}
				continue // skip a folder that cannot be read
			}
			if dir != "." && t.foreign(dir, list) {
				continue
			}
			for _, e := range list {
				if entries++; entries > maxEntries || read > maxRead {
					t.cut = fmt.Sprintf("only the first %d files and folders were searched", entries-1)
					return t.sorted(), nil
				}
				name := path.Join(dir, e.Name())
				switch {
				case !safeName.MatchString(name):
					if e.IsDir() || relevant(e.Name()) {
						t.odd++
					}
				case e.IsDir() && !skipped(e.Name()) && strings.Count(name, "/") < maxDepth:
					next = append(next, name)
				case e.Type().IsRegular() && relevant(e.Name()):
					if text, ok := readHead(fsys, name); ok {
						read += len(text)
						t.files = append(t.files, file{name, text})
					}
				}
			}
		}
		level = next
	}
	return t.sorted(), nil
}

func (t *tree) sorted() *tree {
	slices.SortFunc(t.files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	slices.Sort(t.suites)
	return t
}

// foreign reports whether a folder does not belong to this suite: it has its own suite, or is
// another repository.
func (t *tree) foreign(dir string, list []fs.DirEntry) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(list, func(e fs.DirEntry) bool { return e.Name() == name })
	}
	if has("pawl.yaml") {
		t.suites = append(t.suites, dir)
	}
	return has("pawl.yaml") || has(".git")
}

// safeName matches paths that mean the same with and without a shell.
var safeName = lazyregexp.New(`^[A-Za-z0-9_.+@][A-Za-z0-9_.+@,=-]*(/[A-Za-z0-9_.+@][A-Za-z0-9_.+@,=-]*)*$`)

// skipped reports whether a folder contains generated or third-party files.
func skipped(name string) bool {
	switch name {
	case "build", "out", "dist", "target", "results", "testdata", "node_modules", "vendor", "third_party", "third-party",
		"thirdparty", "3rdparty", "external", "extern", "deps", "_deps", "subprojects", "venv", "env", "site-packages", "__pycache__":
		return true
	}
	return name[0] == '.' || strings.HasPrefix(name, "cmake-build") || strings.HasPrefix(name, "bazel-")
}

// relevant reports whether a file may contain kernels or describe how to build them.
func relevant(name string) bool {
	switch name {
	case "Makefile", "makefile", "GNUmakefile", "CMakeLists.txt", "build.ninja", "Cargo.toml", "go.mod",
		"pyproject.toml", "requirements.txt", "requirements-dev.txt", "setup.cfg":
		return true
	}
	switch path.Ext(name) {
	case ".c", ".cc", ".cpp", ".cxx", ".cu", ".hip", ".h", ".hpp", ".cuh", ".cl", ".opencl", ".py", ".ipynb", ".rs":
		return true
	}
	return strings.HasSuffix(name, "_test.go")
}

// readHead reads the start of a text file.
func readHead(fsys fs.FS, name string) (string, bool) {
	f, err := fsys.Open(name)
	if err != nil {
		return "", false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileSize))
	return string(data), err == nil && !bytes.ContainsRune(data, 0)
}

// get returns the file at a path.
func (t *tree) get(name string) (file, bool) {
	i, ok := slices.BinarySearchFunc(t.files, name, func(f file, name string) int { return strings.Compare(f.path, name) })
	if !ok {
		return file{}, false
	}
	return t.files[i], true
}

// filesIn returns the files in a folder, sorted by path.
func (t *tree) filesIn(dir string) []file {
	var list []file
	for _, f := range t.files {
		if f.dir() == dir {
			list = append(list, f)
		}
	}
	return list
}

// memo parses a file on first use.
func memo[T any](known map[string]*T, f file, parse func(string) *T) *T {
	if known[f.path] == nil {
		known[f.path] = parse(f.text)
	}
	return known[f.path]
}

// ancestors returns a folder and those above it, innermost first.
func ancestors(dir string) []string {
	list := []string{dir}
	for dir != "." {
		dir = path.Dir(dir)
		list = append(list, dir)
	}
	return list
}

// line returns the number of the line where a pattern first matches, or 0.
func line(text string, pattern *lazyregexp.Regexp) int {
	at := pattern.FindStringIndex(text)
	if at == nil {
		return 0
	}
	lead := text[at[0]:at[1]]
	start := at[0] + len(lead) - len(strings.TrimLeft(lead, " \t\r\n")) // (?m)^\s* may start lines earlier
	return 1 + strings.Count(text[:start], "\n")
}
