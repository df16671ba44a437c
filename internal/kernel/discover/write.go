package discover

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// writer writes into a repository and records the files. It refuses links that lead out of the
// repository.
type writer struct {
	root  *os.Root
	wrote []string
}

func (w *writer) note(name string) {
	if !slices.Contains(w.wrote, name) {
		w.wrote = append(w.wrote, name)
	}
}

// create writes a file if it does not exist yet.
func (w *writer) create(f File) error {
	out, err := w.root.OpenFile(f.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", f.Path, err)
	}
	_, err = out.Write(f.Content)
	if err := errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("write %s: %w", f.Path, err)
	}
	w.note(f.Path)
	return nil
}

// replace writes a file atomically.
func (w *writer) replace(name string, data []byte) error {
	temporary := name + ".new"
	err := w.root.WriteFile(temporary, data, 0o644)
	if err == nil {
		err = w.root.Rename(temporary, name)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	w.note(name)
	return nil
}

const ignoreFile = ".gitignore"

// ignore adds missing paths to .gitignore. Existing lines stay as they are.
func (w *writer) ignore(paths []string) error {
	old, err := w.root.ReadFile(ignoreFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read %s: %w", ignoreFile, err)
	}
	var known []string
	for l := range strings.Lines(string(old)) {
		known = append(known, strings.Trim(strings.TrimSpace(l), "/"))
	}
	var add bytes.Buffer
	if len(old) > 0 && old[len(old)-1] != '\n' {
		add.WriteByte('\n')
	}
	before := add.Len()
	for _, p := range paths {
		bare := strings.Trim(p, "/")
		if !slices.ContainsFunc(known, func(k string) bool { return k == bare || k != "" && strings.HasPrefix(bare, k+"/") }) {
			known = append(known, bare)
			fmt.Fprintln(&add, "/"+p)
		}
	}
	if add.Len() == before {
		return nil
	}
	out, err := w.root.OpenFile(ignoreFile, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("cannot add to %s: %w", ignoreFile, err)
	}
	_, err = out.Write(add.Bytes())
	if err := errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("cannot add to %s: %w", ignoreFile, err)
	}
	w.note(ignoreFile)
	return nil
}
