package tune

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/goatnote-inc/pawl/internal/base/disk"
)

// Limits on a journal, which may be untrusted.
const (
	maxLine        = 4 << 20
	maxEvaluations = 1_000_000
)

// Journal keeps every evaluation once, and writes each to disk before the next is known.
// Only one process may write it at a time.
type Journal struct {
	path string
	file *os.File
	seen map[string]bool
	next int
	err  error // after a failed write the tail is unknown, so nothing more is added
}

// ErrInUse reports that another process is writing the journal.
var ErrInUse = errors.New("another pawl process is writing it")

// Create starts a journal. If the file exists, the error wraps fs.ErrExist.
func Create(path string, h Header) (*Journal, error) {
	h.Format = Format
	if err := h.check(); err != nil {
		return nil, fmt.Errorf("cannot create the journal %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("cannot create the journal %s: %w", path, err)
	}
	// Create the file atomically: a journal killed in its first line could be neither resumed
	// nor replaced.
	temporary, err := os.CreateTemp(filepath.Dir(path), ".journal-*")
	if err != nil {
		return nil, fmt.Errorf("cannot create the journal %s: %w", path, err)
	}
	defer os.Remove(temporary.Name())
	j := &Journal{path: path, file: temporary, seen: map[string]bool{}}
	err = lock(temporary)
	if err == nil {
		err = j.add(h)
	}
	if err == nil {
		err = os.Link(temporary.Name(), path) // unlike a rename it replaces nothing
	}
	if err == nil {
		err = disk.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot create the journal %s: %w", path, err), temporary.Close())
	}
	return j, nil
}

// Resume continues a journal of the same search and returns its evaluations.
func Resume(path string, h Header) (*Journal, []Evaluation, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("resume: %w", err)
	}
	j, list, err := resume(path, f, h)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return j, list, nil
}

func resume(path string, f *os.File, h Header) (*Journal, []Evaluation, error) {
	if err := lock(f); err != nil {
		return nil, nil, fmt.Errorf("cannot resume %s: %w", path, err)
	}
	was, list, good, err := read(f)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot resume %s: %w", path, err)
	}
	if err := was.checkResumable(path, h); err != nil {
		return nil, nil, err
	}
	// Discard the line that was being written when the last pawl was killed.
	if err := f.Truncate(good); err != nil {
		return nil, nil, fmt.Errorf("cannot resume %s: remove its incomplete last line: %w", path, err)
	}
	if _, err := f.Seek(good, io.SeekStart); err != nil {
		return nil, nil, fmt.Errorf("cannot resume %s: %w", path, err)
	}
	j := &Journal{path: path, file: f, seen: map[string]bool{}, next: len(list)}
	for _, e := range list {
		j.seen[Key(e.Point)] = true
	}
	return j, list, nil
}

// Append numbers an evaluation and adds it. It returns after the data is on disk.
func (j *Journal) Append(e *Evaluation) error {
	e.N = j.next
	if err := e.check(); err != nil {
		return fmt.Errorf("journal %s: %w", j.path, err)
	}
	key := Key(e.Point)
	if j.seen[key] {
		return fmt.Errorf("journal %s: point %s is already recorded: every point is evaluated once", j.path, key)
	}
	if err := j.add(e); err != nil {
		return fmt.Errorf("journal %s: %w", j.path, err)
	}
	j.seen[key] = true
	j.next++
	return nil
}

// Close releases the journal.
func (j *Journal) Close() error { return j.file.Close() }

func (j *Journal) add(record any) error {
	if j.err != nil {
		return j.err
	}
	line, err := json.Marshal(record)
	if err != nil {
		return err
	}
	if _, err = j.file.Write(append(line, '\n')); err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		j.err = fmt.Errorf("the last evaluation may be lost: %w", err)
	}
	return j.err
}

// Load reads a search: a journal, even one being written, or any format that Import
// accepts.
func Load(path string) (Header, []Evaluation, error) {
	f, err := os.Open(path)
	if err != nil {
		return Header{}, nil, fmt.Errorf("cannot read the search: %w", err)
	}
	defer f.Close()
	h, list, err := Import(f)
	if err != nil {
		return h, nil, fmt.Errorf("cannot read the search %s: %w", path, err)
	}
	return h, list, nil
}

// Read reads a journal from a stream. It ignores an incomplete last line.
func Read(r io.Reader) (Header, []Evaluation, error) {
	h, list, _, err := read(r)
	return h, list, err
}

// read also returns the number of bytes in complete lines.
func read(r io.Reader) (h Header, list []Evaluation, good int64, err error) {
	in := bufio.NewReaderSize(r, 1<<16)
	seen := map[string]bool{}
	for n := 0; ; n++ {
		line, err := wholeLine(in)
		if errors.Is(err, io.EOF) {
			if n == 0 {
				return h, nil, 0, errors.New("it is not a tuning journal: it has no complete line")
			}
			return h, list, good, nil
		}
		if err == nil && n == 0 {
			if err = decode(line, &h); err == nil {
				err = h.check()
			}
		} else if err == nil {
			var e Evaluation
			if e, err = evaluation(line, n-1, seen); err == nil {
				list = append(list, e)
			}
		}
		if err != nil {
			return h, nil, 0, fmt.Errorf("line %d: %w", n+1, err)
		}
		good += int64(len(line)) + 1
	}
}

func evaluation(line []byte, n int, seen map[string]bool) (e Evaluation, err error) {
	if err := decode(line, &e); err != nil {
		return e, err
	}
	if err := e.check(); err != nil {
		return e, err
	}
	key := Key(e.Point)
	switch {
	case e.N != n:
		return e, fmt.Errorf("got evaluation %d, expected %d: lines are missing or duplicated", e.N, n)
	case seen[key]:
		return e, fmt.Errorf("point %s is recorded twice", key)
	case n == maxEvaluations:
		return e, fmt.Errorf("more than %d evaluations", maxEvaluations)
	}
	seen[key] = true
	return e, nil
}

// wholeLine returns the next line without its newline; io.EOF also for an incomplete line.
func wholeLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			return nil, fmt.Errorf("longer than %d bytes", maxLine)
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

func decode(line []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("not a valid journal line: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	return nil
}

// lock ensures that no other process writes the file. The lock ends with the process.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrInUse
	}
	return err
}

// Exists reports whether there is a journal to resume.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
