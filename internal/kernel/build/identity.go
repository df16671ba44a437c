package build

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/measure"
)

// Digests hashes every file below dir that matches one of the globs, sorted by path. A glob that
// names a folder includes everything in it.
func Digests(dir string, globs []string) ([]measure.FileDigest, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot hash files: %w", err)
	}
	defer root.Close()
	var paths []string
	for _, glob := range globs {
		matches, err := fs.Glob(root.FS(), filepath.ToSlash(filepath.Clean(glob)))
		if err != nil {
			return nil, fmt.Errorf("cannot hash files %q: %w", glob, err)
		}
		for _, m := range matches {
			err := fs.WalkDir(root.FS(), m, func(path string, e fs.DirEntry, err error) error {
				if err == nil && !e.IsDir() {
					paths = append(paths, path)
				}
				return err
			})
			if err != nil {
				return nil, fmt.Errorf("cannot hash files %q: %w", glob, err)
			}
		}
	}
	slices.Sort(paths)
	var digests []measure.FileDigest
	for _, path := range slices.Compact(paths) {
		digest, err := fileDigest(root, path)
		if err != nil {
			return nil, err
		}
		digests = append(digests, measure.FileDigest{Path: path, Digest: digest})
	}
	return digests, nil
}

// Changed returns the first file below dir, by path, whose digest is not one of those in want; empty if
// there is none. A missing file has changed.
func Changed(dir string, want map[string][]string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", fmt.Errorf("cannot hash files: %w", err)
	}
	defer root.Close()
	for _, path := range slices.Sorted(maps.Keys(want)) {
		digest, err := fileDigest(root, path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if !slices.Contains(want[path], digest) {
			return path, nil
		}
	}
	return "", nil
}

func fileDigest(root *os.Root, path string) (string, error) {
	f, err := root.Open(path)
	if err != nil {
		return "", fmt.Errorf("hash %s: %w", path, err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("hash %s: %w", path, err)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}

// Programs returns the words of a command line that are files below dir: the harness itself, and
// a script passed to an interpreter.
func Programs(dir, command string) []string {
	var files []string
	for word := range strings.FieldsSeq(command) {
		word = strings.Trim(word, `"'`)
		path, err := filepath.Localize(strings.TrimPrefix(word, "./"))
		if err != nil || path == "." {
			continue
		}
		if info, err := os.Stat(filepath.Join(dir, path)); err == nil && info.Mode().IsRegular() {
			files = append(files, path)
		}
	}
	return files
}

// Combine returns one digest of an implementation. It covers everything that could make two of
// them differ: build outputs, harness files, the suite, and how the harnesses are started.
func Combine(suite string, impl measure.Implementation, starts []string) string {
	sum := sha256.New()
	field := func(parts ...string) {
		for _, p := range parts {
			fmt.Fprintf(sum, "%d:%s", len(p), p)
		}
		sum.Write([]byte{'\n'})
	}
	field("suite", suite)
	for _, s := range starts {
		field("start", s)
	}
	for _, f := range impl.Build.Outputs {
		field("output", f.Path, f.Digest)
	}
	for _, f := range impl.Harness.Files {
		field("file", f.Path, f.Digest)
	}
	for _, t := range impl.Toolchain {
		if slices.Contains(interpreters, t.Name) { // the outputs reflect a compiler, but not an interpreter
			field("tool", t.Name, t.Version)
		}
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}
