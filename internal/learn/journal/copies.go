package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/goatnote-inc/pawl/internal/base/disk"
)

// The copies of an open session: the sources as they were at the last measurement, by
// digest, and a list of them. They go with the end of the session.
const copyList = "measured.json"

// Keep remembers a snapshot as that of the last measurement.
func (w *Writer) Keep(s Snapshot) error {
	dir := w.copies()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("keep the sources of session %s: %w", w.session.ID, err)
	}
	for path, f := range s.Files {
		name := filepath.Join(dir, f.Digest)
		if f.Binary || f.Text == "" {
			continue
		}
		if _, err := os.Stat(name); err == nil {
			continue
		}
		if err := os.WriteFile(name, []byte(f.Text), 0o644); err != nil {
			return fmt.Errorf("keep %s: %w", path, err)
		}
	}
	list, err := json.Marshal(s)
	if err == nil {
		err = disk.WriteAtomic(filepath.Join(dir, copyList), list)
	}
	if err != nil {
		return fmt.Errorf("keep the sources of session %s: %w", w.session.ID, err)
	}
	return nil
}

// Kept is the snapshot of the last measurement, without its texts; false where nothing was
// measured yet.
func (w *Writer) Kept() (Snapshot, bool) {
	var s Snapshot
	text, err := os.ReadFile(filepath.Join(w.copies(), copyList))
	if err != nil || json.Unmarshal(text, &s) != nil {
		return Snapshot{}, false // what is not there or not whole is as good as none
	}
	return s, true
}

// Changes is how the source differs from what was kept. Texts that are equal are not read.
func (w *Writer) Changes(kept, now Snapshot) []Change {
	before := kept
	before.Files = map[string]Source{}
	for path, f := range kept.Files {
		if !f.Binary && f.Size > 0 && now.Files[path].Digest != f.Digest {
			text, err := os.ReadFile(filepath.Join(w.copies(), filepath.Base(f.Digest)))
			if f.Text = string(text); errors.Is(err, fs.ErrNotExist) || hexDigest(text) != f.Digest {
				f.Binary = true // known by its digest alone
			}
		}
		before.Files[path] = f
	}
	return Changed(before, now)
}
