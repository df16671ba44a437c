package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
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
	l := &loader{fsys: fsys, Problems: &strictyaml.Problems{}}
	tree := l.load(name, shown, nil, data)
	if tree == nil {
		return nil, failure(l.Problems)
	}
	tree = strictyaml.Merge(defaults(), tree)
	doc := decodeFile(tree, l.Problems)
	return resolve(tree, doc, nil, nil, l.Problems)
}

// Repository returns the innermost folder at or above dir that contains .git, or else dir.
func Repository(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// maxFileSize is the maximum size of a suite file in bytes.
const maxFileSize = 4 << 20

var fileFormat = strictyaml.Format{Name: "a suite", MaxBytes: maxFileSize, NoMerge: "repeat the keys, or put them in a file and extend it"}

// readYAML parses one file. It reports mistakes to p, and returns nil if there is nothing to decode.
func readYAML(name string, data []byte, p *strictyaml.Problems) *strictyaml.Node {
	before := p.Found
	root := strictyaml.Read(name, data, fileFormat, p)
	if root == nil && p.Found == before {
		p.AddAt(strictyaml.Position{File: name, Line: 1, Col: 1}, `start with "version: 1"`, "the file is empty")
	}
	return root
}

// decodeFile decodes a tree into a fileDoc.
func decodeFile(root *strictyaml.Node, p *strictyaml.Problems) *fileDoc {
	doc := &fileDoc{}
	d := &strictyaml.Decoder{Problems: p}
	if root.IsNull() {
		d.Add(root, `start with "version: 1"`, "the file is empty")
		return doc
	}
	d.Decode(root, reflect.ValueOf(doc).Elem(), strictyaml.Field{Key: "suite"})
	return doc
}

// Errors holds all mistakes in a suite, sorted by file and position.
type Errors []*strictyaml.Error

func (e Errors) Error() string { return strictyaml.Errors(e).Error() }

// Unwrap returns the individual mistakes, for errors.As.
func (e Errors) Unwrap() []error { return strictyaml.Errors(e).Unwrap() }

// failure returns the mistakes as Errors; nil if there are none.
func failure(p *strictyaml.Problems) error {
	if list := p.All(); len(list) > 0 {
		return Errors(list)
	}
	return nil
}
