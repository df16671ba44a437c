package tool

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/goatnote-inc/pawl/internal/profile"
)

// forget removes what an earlier run of a tool left: it must not be taken for this one's.
func forget(patterns ...string) error {
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil {
			return fmt.Errorf("remove an earlier profile: %w", err)
		}
		for _, file := range files {
			if err := os.Remove(file); err != nil {
				return fmt.Errorf("remove an earlier profile: %w", err)
			}
		}
	}
	return nil
}

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
