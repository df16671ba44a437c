package journal

import (
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

// Writer adds to the journal of an open session. Several processes may.
type Writer struct {
	folder  Folder
	path    string
	session *Session
	at      end
}

func (f Folder) writer(path string) (*Writer, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	defer file.Close()
	s, at, err := read(file)
	if err != nil {
		return nil, broken(path, err)
	}
	s.Path = path
	return &Writer{folder: f, path: path, session: s, at: at}, nil
}

// Session is everything so far: what was there when it was opened, and what was seen since.
func (w *Writer) Session() *Session { return w.session }

// Append adds an entry, on disk when it returns. It fills in the time where there is none
// and the digest of the line before, and removes what looks like a secret.
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

// End closes the session and moves its journal to where git sees it. Where it goes is in
// Session().Path afterwards.
func (w *Writer) End(e Ended, by Actor) error {
	if err := w.Append(Entry{Actor: by, Kind: KindEnded, Ended: &e}); err != nil {
		return err
	}
	return w.publish()
}

// lock opens the journal for one line, reads what others added, and cuts off what a crash
// left of a line.
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
	// Whoever held the lock may have ended the session: a line added now would be lost.
	if now, err := os.Stat(w.path); err != nil || !os.SameFile(info, now) {
		return ErrNoSession
	}
	if info.Size() < w.at.size {
		return broken(w.path, &BrokenError{Line: len(w.session.Entries), Why: "the journal is shorter than it was: something was taken out"})
	}
	if info.Size() > maxFile-maxLine {
		return fmt.Errorf("the journal has grown to %d bytes: pawl session end closes it", info.Size())
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
		return errors.Join(err, file.Truncate(w.at.size)) // half a line would be healed by the next to come, too
	}
	if err := file.Sync(); err != nil {
		return errors.Join(err, file.Truncate(w.at.size))
	}
	w.session.add(e)
	w.at = end{w.at.size + int64(len(line)) + 1, digestOf(line)}
	return nil
}

// publish moves a journal that has ended to where git sees it. A crash before it is made
// good by the next that looks for an open session.
func (w *Writer) publish() error {
	to := filepath.Join(w.folder.dir(), filepath.Base(w.path))
	err := os.Rename(w.path, to)
	if errors.Is(err, fs.ErrNotExist) { // somebody else did
		_, err = os.Stat(to)
	}
	if err != nil {
		return fmt.Errorf("move the journal of session %s to where git sees it: %w", w.session.ID, err)
	}
	w.session.Path = to
	return errors.Join(disk.SyncDir(w.folder.dir()), disk.SyncDir(w.folder.openDir()), os.RemoveAll(w.copies()))
}

// copies is the folder with the sources as they were at the last measurement.
func (w *Writer) copies() string { return strings.TrimSuffix(w.path, ".jsonl") }

// encode makes a line of an entry. What could not be read must not be written.
func encode(e Entry) ([]byte, error) {
	line, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encode an entry: %w", err)
	}
	if len(line) >= maxLine {
		return nil, fmt.Errorf("an entry of %d bytes: %d is the most", len(line), maxLine)
	}
	return line, e.check()
}

// broken names the file of a mistake.
func broken(path string, err error) error {
	if b, ok := errors.AsType[*BrokenError](err); ok {
		b.Path = path
	}
	return err
}
