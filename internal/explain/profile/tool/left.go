package tool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// removeStale removes files of an earlier run of a tool, which would be mistaken for this one's.
func removeStale(files ...string) error {
	for _, file := range files {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot remove an earlier profile: %w", err)
		}
	}
	return nil
}

// filesWithPrefix lists the files whose path starts with start. It does not use a glob, because the
// user's folder may contain special characters.
func filesWithPrefix(start string) []string {
	dir, name := filepath.Split(start)
	entries, _ := os.ReadDir(filepath.Clean(dir)) // a missing folder has no files
	var files []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), name) {
			files = append(files, dir+e.Name())
		}
	}
	return files
}

// escapePercent escapes a path for tools that expand %p and the like.
func escapePercent(path string) string { return strings.ReplaceAll(path, "%", "%%") }

// readFile reads a profile that a tool wrote.
func readFile(file string, read func(io.Reader) (*profile.Profile, error)) (*profile.Profile, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read the tool's output: %w", err)
	}
	defer f.Close()
	p, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}

// readHead returns the start of a file, for messages; empty if there is none.
func readHead(file string, most int64) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, most)) // partial text is better than none
	return string(text)
}
