package suite

import (
	_ "embed"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
)

const (
	maxExtends = 8  // files in a chain
	maxFiles   = 64 // files of a suite
)

//go:embed defaults.yaml
var defaultsYAML []byte

// defaults returns the tree that every suite extends. It is read once and never changed.
var defaults = sync.OnceValue(func() *strictyaml.Node {
	p := &strictyaml.Problems{}
	root := readYAML("defaults.yaml", defaultsYAML, p)
	if err := p.Err(); err != nil {
		panic("suite: " + err.Error()) // the file is embedded and tested
	}
	return root
})

// loader reads a suite file and the files it extends.
type loader struct {
	fsys fs.FS
	*strictyaml.Problems
}

// load reads the file name, which messages call shown, and returns its tree merged over the
// trees it extends. It returns nil if a file cannot be read.
func (l *loader) load(name, shown string, chain []string, data []byte) *strictyaml.Node {
	l.Files = append(l.Files, shown)
	root := readYAML(shown, data, l.Problems)
	if root == nil || !l.version(root) {
		return nil
	}
	if len(chain) > 0 {
		decodeFile(root, l.Problems) // also checks values that another file replaces
	}
	merged, complete := (*strictyaml.Node)(nil), true
	for _, ref := range extended(root) {
		base := l.follow(ref, name, shown, append(slices.Clone(chain), name))
		complete = complete && base != nil
		merged = strictyaml.Merge(merged, base)
	}
	if !complete {
		return nil
	}
	return strictyaml.Merge(merged, root)
}

// version rejects a file of another version as a whole: nothing else in it can be trusted.
func (l *loader) version(root *strictyaml.Node) bool {
	if root.Kind != strictyaml.Map {
		l.Add(root, `start with "version: 1"`, "expected a mapping, got %s", root.Describe())
		return false
	}
	v := root.Get("version")
	switch {
	case v == nil:
		l.Add(root, `start with "version: 1"`, "missing key %q", "version")
		return false
	case !v.IsNumber() || v.Num != 1:
		l.Add(v, "", "version: expected 1, the only version that this pawl supports, got %s", v.Describe())
		return false
	}
	return true
}

// extended returns the files that a file extends. The decoder reports wrong types.
func extended(root *strictyaml.Node) []*strictyaml.Node {
	n := root.Get("extends")
	switch {
	case n == nil:
		return nil
	case n.Kind == strictyaml.List:
		return slices.DeleteFunc(slices.Clone(n.Items), func(i *strictyaml.Node) bool { return !i.IsText() })
	case n.IsText():
		return []*strictyaml.Node{n}
	}
	return nil
}

func (l *loader) follow(ref *strictyaml.Node, from, shown string, chain []string) *strictyaml.Node {
	name := path.Join(path.Dir(from), ref.Text)
	hint := "extend a file in the same repository, by a path relative to this file"
	switch {
	case ref.Text == "" || path.IsAbs(ref.Text) || strings.ContainsAny(ref.Text, ":\\"):
		l.Add(ref, hint, "extends: %q is not a relative path", strictyaml.Shorten(ref.Text))
		return nil
	case !fs.ValidPath(name):
		l.Add(ref, hint, "extends: %q is outside the repository", strictyaml.Shorten(ref.Text))
		return nil
	case slices.Contains(chain, name):
		l.Add(ref, "", "extends: %q forms a cycle", ref.Text)
		return nil
	case len(chain) >= maxExtends:
		l.Add(ref, "", "extends: the chain has more than %d files", maxExtends)
		return nil
	case len(l.Files) >= maxFiles:
		l.Add(ref, "", "extends: the suite has more than %d files", maxFiles)
		return nil
	}
	data, err := readFile(l.fsys, name)
	if err != nil {
		l.Add(ref, "", "extends: cannot read %q: %v", ref.Text, cause(err))
		return nil
	}
	return l.load(name, path.Join(path.Dir(shown), ref.Text), chain, data)
}

// readFile reads a regular file of bounded size. Opening any other kind can block.
func readFile(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// One byte over the limit is enough for readYAML to reject the file.
	return io.ReadAll(io.LimitReader(f, maxFileSize+1))
}

// cause strips the path from an error: the message already contains it, as the user wrote it.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
