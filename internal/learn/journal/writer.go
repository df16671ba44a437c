package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/disk"
)

// Writer adds to the journal of an open session. Several processes may write at once.
type Writer struct {
	folder  Folder
	path    string
	session *Session
	at      end
}

func (f Folder) writer(path string) (*Writer, error) {
	text, err := disk.ReadRegular(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	s, at, err := read(bytes.NewReader(text))
	if err != nil {
		return nil, broken(path, err)
	}
	s.Path = path
	return &Writer{folder: f, path: path, session: s, at: at}, nil
}

// Session returns all entries so far.
func (w *Writer) Session() *Session { return w.session }

// Append adds an entry durably. It sets the time if there is none and the digest of the line
// before, and removes what looks like a secret.
func (w *Writer) Append(e Entry) error {
	file, err := w.lock()
	if err != nil {
		return fmt.Errorf("add to the journal of session %s: %w", w.session.ID, err)
	}
	defer file.Close()
	if w.session.Ended != nil {
		return fmt.Errorf("add to the journal: session %s has ended: %w", w.session.ID, ErrNoSession)
	}
	if err := w.add(file, e); err != nil {
		return fmt.Errorf("add to the journal of session %s: %w", w.session.ID, err)
	}
	return nil
}

// End closes the session and moves its journal to where git sees it: Session().Path afterwards.
func (w *Writer) End(e Ended, by Actor) error {
	if err := w.Append(Entry{Actor: by, Kind: KindEnded, Ended: &e}); err != nil {
		return err
	}
	return w.publish()
}

// lock opens the journal for one line, reads what other processes added, and removes an
// unfinished line.
func (w *Writer) lock() (*os.File, error) {
	file, err := os.OpenFile(w.path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoSession
	}
	if err != nil {
		return nil, err
	}
	if err := w.refresh(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func (w *Writer) refresh(file *os.File) error {
	if err := flock(file); err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	// The last holder of the lock may have ended the session: a line added now would be lost.
	if now, err := os.Stat(w.path); err != nil || !os.SameFile(info, now) {
		return ErrNoSession
	}
	if info.Size() < w.at.size {
		return broken(w.path, &BrokenError{Line: len(w.session.Entries), Why: "the journal is shorter than it was: lines were removed"})
	}
	if info.Size() > maxFile-maxLine {
		return fmt.Errorf("the journal has grown to %d bytes: run `pawl session end`", info.Size())
	}
	if err := w.session.extend(io.NewSectionReader(file, w.at.size, info.Size()-w.at.size), &w.at); err != nil {
		return broken(w.path, err)
	}
	if info.Size() > w.at.size {
		return file.Truncate(w.at.size)
	}
	return nil
}

func (w *Writer) add(file *os.File, e Entry) error {
	if e.Time.IsZero() {
		e.Time = w.folder.now()
	}
	e = clean(e)
	e.Time, e.Before = e.Time.UTC().Truncate(time.Millisecond), w.at.digest
	line, err := encode(e)
	if err != nil {
		return err
	}
	if err := w.session.follows(e, w.at.digest); err != nil {
		return err
	}
	if _, err := file.WriteAt(append(line, '\n'), w.at.size); err != nil {
		return errors.Join(err, file.Truncate(w.at.size))
	}
	if err := file.Sync(); err != nil {
		return errors.Join(err, file.Truncate(w.at.size))
	}
	w.session.add(e)
	w.at = end{w.at.size + int64(len(line)) + 1, Digest(line)}
	return nil
}

// publish moves an ended journal to where git sees it. After a crash, the next look for an open
// session does it.
func (w *Writer) publish() error {
	to := filepath.Join(w.folder.dir(), filepath.Base(w.path))
	err := os.Rename(w.path, to)
	if errors.Is(err, fs.ErrNotExist) { // another process did
		_, err = os.Stat(to)
	}
	if err != nil {
		return fmt.Errorf("move the journal of session %s to where git sees it: %w", w.session.ID, err)
	}
	w.session.Path = to
	return errors.Join(disk.SyncDir(w.folder.dir()), disk.SyncDir(w.folder.openDir()), os.RemoveAll(w.copies()))
}

// copies returns the folder with the sources of the last measurement.
func (w *Writer) copies() string { return strings.TrimSuffix(w.path, ".jsonl") }

// encode returns the line of an entry, and an error for one that could not be read back.
func encode(e Entry) ([]byte, error) {
	line, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encode an entry: %w", err)
	}
	if len(line) >= maxLine {
		return nil, fmt.Errorf("the entry has %d bytes: the limit is %d", len(line), maxLine)
	}
	return line, e.check()
}

// broken adds the file to an error.
func broken(path string, err error) error {
	if b, ok := errors.AsType[*BrokenError](err); ok {
		b.Path = path
	}
	return err
}
