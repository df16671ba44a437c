package tool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goatnote-inc/pawl/internal/profile"
)

// forget removes what an earlier run of a tool left: it must not be taken for this one's.
func forget(files ...string) error {
	for _, file := range files {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove an earlier profile: %w", err)
		}
	}
	return nil
}

// begunWith lists the files whose path begins so. The folder is the user's, and its name
// may mean something to a glob.
func begunWith(start string) []string {
	dir, name := filepath.Split(start)
	entries, _ := os.ReadDir(filepath.Clean(dir)) // what is not there was not left
	var files []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), name) {
			files = append(files, dir+e.Name())
		}
	}
	return files
}

// percents keeps a tool from reading %p and the like in a path that it is given.
func percents(path string) string { return strings.ReplaceAll(path, "%", "%%") }

// readFile reads a profile that a tool left.
func readFile(file string, read func(io.Reader) (*profile.Profile, error)) (*profile.Profile, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read what the tool left: %w", err)
	}
	defer f.Close()
	p, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}

// readSome is the beginning of a file, for messages; nothing where there is none.
func readSome(file string, most int64) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, most)) // what could be read is better than nothing
	return string(text)
}
