package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Load reads a suite file and everything it extends. Extended files must be in the same
// repository or, without a repository, in the suite's folder or below it. Mistakes in a file
// are returned as Errors; any other error means that the file cannot be read.
func Load(path string) (*Suite, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read suite %s: %w", path, err)
	}
	folder := Repository(filepath.Dir(abs))
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("cannot read suite %s: %w", path, err)
	}
	defer root.Close()
	name, err := filepath.Rel(folder, abs)
	if err != nil {
		return nil, fmt.Errorf("cannot read suite %s: %w", path, err)
	}
	name = filepath.ToSlash(name)
	data, err := readFile(root.FS(), name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("cannot read suite %s: %w (run `pawl init` to create one)", path, cause(err))
	case err != nil:
		return nil, fmt.Errorf("cannot read suite %s: %w", path, cause(err))
	}
	return load(root.FS(), name, filepath.ToSlash(path), data)
}

// Parse reads a suite from memory. Messages call it name. It cannot extend other files.
func Parse(name string, data []byte) (*Suite, error) {
	return load(emptyFS{}, "pawl.yaml", name, data)
}

// emptyFS is a file system without files.
type emptyFS struct{}

func (emptyFS) Open(string) (fs.File, error) {
	return nil, errors.New("other files are not available here")
}

func load(fsys fs.FS, name, shown string, data []byte) (*Suite, error) {
	l := &loader{fsys: fsys, problems: &problems{}}
	tree := l.load(name, shown, nil, data)
	if tree == nil {
		return nil, l.err()
	}
	tree = merge(defaults(), tree)
	doc := decodeFile(tree, l.problems)
	return resolve(tree, doc, nil, nil, l.problems)
}

// Repository returns the innermost folder at or above dir that contains .git, or else dir; in either case its absolute path.
func Repository(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	for at := abs; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return abs
		}
	}
}
