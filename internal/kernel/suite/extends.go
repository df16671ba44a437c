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
)

const (
	maxExtends = 8  // files in a chain
	maxFiles   = 64 // files of a suite
)

//go:embed defaults.yaml
var defaultsYAML []byte

// defaults returns the tree that every suite extends. It is read once and never changed.
var defaults = sync.OnceValue(func() *node {
	p := &problems{}
	root := readYAML("defaults.yaml", defaultsYAML, p)
	if err := p.err(); err != nil {
		panic("suite: " + err.Error()) // the file is embedded and tested
	}
	return root
})

// loader reads a suite file and the files it extends.
type loader struct {
	fsys fs.FS
	*problems
}

// load reads the file name, which messages call shown, and returns its tree merged over the
// trees it extends. It returns nil if a file cannot be read.
func (l *loader) load(name, shown string, chain []string, data []byte) *node {
	l.files = append(l.files, shown)
	root := readYAML(shown, data, l.problems)
	if root == nil || !l.version(root) {
		return nil
	}
	if len(chain) > 0 {
		decodeFile(root, l.problems) // also checks values that another file replaces
	}
	merged, complete := (*node)(nil), true
	for _, ref := range extended(root) {
		base := l.follow(ref, name, shown, append(slices.Clone(chain), name))
		complete = complete && base != nil
		merged = merge(merged, base)
	}
	if !complete {
		return nil
	}
	return merge(merged, root)
}

// version rejects a file of another version as a whole: nothing else in it can be trusted.
func (l *loader) version(root *node) bool {
	if root.kind != mapNode {
		l.add(root, `start with "version: 1"`, "expected a mapping, got %s", root.describe())
		return false
	}
	v := root.get("version")
	switch {
	case v == nil:
		l.add(root, `start with "version: 1"`, "missing key %q", "version")
		return false
	case !v.isNumber() || v.num != 1:
		l.add(v, "", "version: expected 1, the only version that this pawl supports, got %s", v.describe())
		return false
	}
	return true
}

// extended returns the files that a file extends. The decoder reports wrong types.
func extended(root *node) []*node {
	n := root.get("extends")
	switch {
	case n == nil:
		return nil
	case n.kind == listNode:
		return slices.DeleteFunc(slices.Clone(n.items), func(i *node) bool { return !i.isText() })
	case n.isText():
		return []*node{n}
	}
	return nil
}

func (l *loader) follow(ref *node, from, shown string, chain []string) *node {
	name := path.Join(path.Dir(from), ref.text)
	hint := "extend a file in the same repository, by a path relative to this file"
	switch {
	case ref.text == "" || path.IsAbs(ref.text) || strings.ContainsAny(ref.text, ":\\"):
		l.add(ref, hint, "extends: %q is not a relative path", shorten(ref.text))
		return nil
	case !fs.ValidPath(name):
		l.add(ref, hint, "extends: %q is outside the repository", shorten(ref.text))
		return nil
	case slices.Contains(chain, name):
		l.add(ref, "", "extends: %q forms a cycle", ref.text)
		return nil
	case len(chain) >= maxExtends:
		l.add(ref, "", "extends: the chain has more than %d files", maxExtends)
		return nil
	case len(l.files) >= maxFiles:
		l.add(ref, "", "extends: the suite has more than %d files", maxFiles)
		return nil
	}
	data, err := readFile(l.fsys, name)
	if err != nil {
		l.add(ref, "", "extends: cannot read %q: %v", ref.text, cause(err))
		return nil
	}
	return l.load(name, path.Join(path.Dir(shown), ref.text), chain, data)
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

// merge overlays one tree on another: mappings merge key by key, everything else is replaced.
// A mapping is not replaced by null.
func merge(base, over *node) *node {
	switch {
	case base == nil:
		return over
	case over == nil, base.kind == mapNode && over.isNull():
		return base
	case base.kind != mapNode || over.kind != mapNode:
		return over
	}
	out := *over
	out.keys, out.items = slices.Clone(base.keys), slices.Clone(base.items)
	out.incomplete = base.incomplete || over.incomplete
	index := make(map[string]int, len(base.keys))
	for i, key := range base.keys {
		index[key.text] = i
	}
	for i, key := range over.keys {
		at, ok := index[key.text]
		if !ok {
			out.keys, out.items = append(out.keys, key), append(out.items, over.items[i])
			continue
		}
		out.keys[at], out.items[at] = key, merge(out.items[at], over.items[i])
	}
	return &out
}
