package journal

import (
	"bytes"
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
	"time"
)

// What a snapshot holds at most. Beyond it a file is known by its digest alone, and files
// beyond the last are not looked at.
const (
	maxSources = 2000
	maxSource  = 1 << 20  // bytes of one text
	maxSaved   = 64 << 20 // bytes of all of them
	maxHashed  = 64 << 20 // bytes of a file that is hashed; a larger one is known by size and time
)

// Snapshot is the source of a kernel at one moment.
type Snapshot struct {
	Files map[string]Source `json:"files"` // by path from the top of the repository, with slashes
	// Parameters are the defaults of what can be tuned, Flags those of the build, as the
	// suite has them.
	Parameters map[string]string `json:"parameters,omitempty"`
	Flags      map[string]string `json:"flags,omitempty"`
	Taken      time.Time         `json:"taken"`
}

// Source is one file of it.
type Source struct {
	Digest string    `json:"digest"`
	Size   int64     `json:"size"`
	Time   time.Time `json:"time"` // of its last change
	Binary bool      `json:"binary,omitempty"`
	Text   string    `json:"-"` // empty for what is binary or too large, and for what is not needed
}

// TextSource is a file that is given and not read.
func TextSource(text string) Source {
	return Source{Digest: hexDigest([]byte(text)), Size: int64(len(text)), Text: text}
}

// Take looks at files below a folder. Those that have size and time of the known snapshot
// are not read again, and have no text: nothing changed in them.
func Take(top string, paths []string, known Snapshot, now time.Time) (Snapshot, error) {
	s := Snapshot{Files: map[string]Source{}, Taken: now.UTC()}
	room := int64(maxSaved)
	for _, path := range paths[:min(len(paths), maxSources)] {
		f, err := take(filepath.Join(top, filepath.FromSlash(path)), known.Files[path], known.Taken, room)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return s, fmt.Errorf("look at %s: %w", path, err)
		}
		room -= int64(len(f.Text))
		s.Files[path] = f
	}
	return s, nil
}

// racy is how long after its last change a file may change again without a new time: file
// systems count in steps.
const racy = 2 * time.Second

func take(name string, known Source, taken time.Time, room int64) (Source, error) {
	info, err := os.Stat(name)
	if err != nil {
		return Source{}, err
	}
	f := Source{Size: info.Size(), Time: info.ModTime().UTC()}
	switch {
	case !info.Mode().IsRegular():
		return f, fs.ErrNotExist
	case known.Digest != "" && known.Size == f.Size && known.Time.Equal(f.Time) && f.Time.Before(taken.Add(-racy)):
		return known, nil
	case f.Size > maxHashed:
		f.Binary, f.Digest = true, hexDigest(fmt.Appendf(nil, "%d %s", f.Size, f.Time))
		return f, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return f, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxHashed))
	if err != nil {
		return f, err
	}
	f.Digest = hexDigest(text)
	if f.Binary = len(text) > maxSource || int64(len(text)) > room || bytes.IndexByte(text, 0) >= 0; !f.Binary {
		f.Text = string(text)
	}
	return f, nil
}

// Digest is one for all of it: equal for sources from which the same kernel is built.
func (s Snapshot) Digest() string {
	if len(s.Files)+len(s.Parameters)+len(s.Flags) == 0 {
		return ""
	}
	h := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(s.Files)) {
		fmt.Fprintf(h, "file %q %s\n", path, s.Files[path].Digest)
	}
	for i, set := range []map[string]string{s.Parameters, s.Flags} {
		for _, name := range slices.Sorted(maps.Keys(set)) {
			fmt.Fprintf(h, "%d %q %q\n", i, name, set[name])
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func hexDigest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}
