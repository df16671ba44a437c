package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Load reads a suite file and everything it extends. Extended files have to lie in
// the same repository or, outside of one, in the folder of the suite or below it.
// Mistakes in a file are Errors; anything else says why the file cannot be read.
func Load(path string) (*Suite, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("read suite %s: %w", path, err)
	}
	folder := repository(filepath.Dir(abs))
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("read suite %s: %w", path, err)
	}
	defer root.Close()
	name, err := filepath.Rel(folder, abs)
	if err != nil {
		return nil, fmt.Errorf("read suite %s: %w", path, err)
	}
	name = filepath.ToSlash(name)
	data, err := readFile(root.FS(), name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read suite %s: %w (pawl init writes one)", path, cause(err))
	case err != nil:
		return nil, fmt.Errorf("read suite %s: %w", path, cause(err))
	}
	return load(root.FS(), name, filepath.ToSlash(path), data)
}

// Parse reads a suite from memory; name stands in messages. It cannot extend.
func Parse(name string, data []byte) (*Suite, error) {
	return load(alone{}, "pawl.yaml", name, data)
}

// alone is a folder in which no other file can be read.
type alone struct{}

func (alone) Open(string) (fs.File, error) {
	return nil, errors.New("there are no other files here")
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

// repository is the innermost folder at or above dir that holds .git, or else dir.
func repository(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}
