package build

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// exportOutputs copies the declared outputs from the room to the sources. It copies only regular files,
// follows no links, and changes no source: the files at the declared paths are untrusted.
func (r *workspace) exportOutputs(globs []string, most int64) error {
	inside, err := filepath.Rel(r.root, r.dir)
	if err != nil {
		return err
	}
	from, err := os.OpenRoot(r.at("tree"))
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenRoot(r.root)
	if err != nil {
		return err
	}
	defer to.Close()
	outputs, err := allDeclared(from.FS(), inside, globs)
	if err != nil {
		return fmt.Errorf("cannot copy out of the sandbox: %w", err)
	}
	for _, name := range outputs {
		n, err := r.exportOutput(from, to, name, most)
		if err != nil {
			return fmt.Errorf("cannot copy the output %s out of the sandbox: %w", name, err)
		}
		if most -= n; most < 0 {
			return fmt.Errorf("cannot copy the output %s out of the sandbox: the total size of all outputs is too large", name)
		}
	}
	return nil
}

// maxOutputs is the maximum number of output files of a glob.
const maxOutputs = 100_000

// allDeclared returns the files that match the output globs of a build in the folder inside of a tree.
func allDeclared(tree fs.FS, inside string, globs []string) ([]string, error) {
	var files []string
	for _, glob := range globs {
		found, err := declared(tree, path.Join(filepath.ToSlash(inside), filepath.ToSlash(glob)))
		if err != nil {
			return nil, fmt.Errorf("cannot find the outputs %q: %w", glob, err)
		}
		files = append(files, found...)
	}
	return files, nil
}

// declared returns the files that a glob matches, including those in matched folders.
func declared(tree fs.FS, glob string) ([]string, error) {
	if !filepath.IsLocal(filepath.FromSlash(glob)) {
		return nil, errors.New("the path is outside the sources")
	}
	matches, err := fs.Glob(tree, glob)
	if err != nil {
		return nil, err
	}
	if _, err := fs.Lstat(tree, glob); err == nil && len(matches) == 0 {
		matches = []string{glob} // a link that is dangling or leads outside: it must be reported
	}
	var files []string
	for _, m := range matches {
		if info, err := fs.Lstat(tree, m); err == nil && !info.IsDir() {
			files = append(files, m) // includes links, which WalkDir would follow
			continue
		}
		err := fs.WalkDir(tree, m, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			if files = append(files, path); len(files) > maxOutputs {
				return fmt.Errorf("there are more than %d files", maxOutputs)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// exportOutput copies one output atomically.
func (r *workspace) exportOutput(from, to *os.Root, name string, most int64) (int64, error) {
	if gitOwn(name) {
		return 0, errors.New("it is in a .git folder")
	}
	if err := checkNoLinks(from, name); err != nil {
		return 0, err
	}
	info, err := from.Lstat(name)
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, fmt.Errorf("it is %s, but only regular files can be copied out; make the build copy the target of a link (cp -L)", kindOf(info.Mode()))
	}
	if r.sources[name] {
		return 0, r.unchanged(from, to, name)
	}
	if err := checkNoLinks(to, name); err != nil {
		return 0, err
	}
	if err := to.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return 0, err
	}
	fresh := name + ".pawl-new"
	if err := to.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	n, err := copyFile(from, to, name, fresh, most)
	if err == nil {
		err = to.Rename(fresh, name)
	}
	if err != nil {
		return n, errors.Join(err, to.Remove(fresh))
	}
	return n, nil
}

// checkNoLinks checks that the path to a file contains only folders, no links.
func checkNoLinks(root *os.Root, name string) error {
	parts := strings.Split(filepath.ToSlash(filepath.Dir(name)), "/")
	for i := range parts {
		folder := filepath.Join(parts[:i+1]...)
		info, err := root.Lstat(folder)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("its path goes through %s, which is %s", folder, kindOf(info.Mode()))
		}
	}
	return nil
}

// unchanged rejects an output that would change a source.
func (r *workspace) unchanged(from, to *os.Root, name string) error {
	a, err := fileDigest(from, name)
	if err != nil {
		return err
	}
	b, err := fileDigest(to, name)
	if err != nil {
		return err
	}
	if a != b {
		return errors.New("it is one of the sources, which a build in the sandbox cannot change")
	}
	return nil
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	default:
		return "a file"
	}
}
