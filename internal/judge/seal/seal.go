package seal

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/base/failpoint"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/measure"
)

// Seal is the list of the lines of a journal, one per line: offset and digest. Its first line is the question of
// the run. A line at an offset that is listed again replaces the earlier one, which was never complete.
type Seal struct {
	file *os.File
	Question
	lines []sealedLine
}

type sealedLine struct {
	offset int64
	digest [sha256.Size]byte
}

// Question holds digests of what a run depends on and its record does not contain.
type Question struct {
	Tree  string // how the working tree differs from its commit
	Terms string // policy of the gate, and the baselines it compares with
}

// maxSize bounds how much of a seal is read: a million lines.
const maxSize = 100 << 20

// pathOf returns where the seal of a journal is kept.
func pathOf(journal string) (string, error) {
	dir, err := build.CacheDir()
	if err != nil {
		return "", err
	}
	if journal, err = filepath.Abs(journal); err != nil {
		return "", fmt.Errorf("cannot find the seal of the journal: %w", err)
	}
	return filepath.Join(dir, "journals", fmt.Sprintf("%x", sha256.Sum256([]byte(journal)))), nil
}

// Create starts the seal of a new journal. It replaces that of an earlier one.
func Create(journal string, q Question) (*Seal, error) {
	path, err := pathOf(journal)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("cannot seal the journal: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot seal the journal: %w", err)
	}
	s := &Seal{file: f, Question: q}
	if err := errors.Join(s.write(q.Tree+" "+q.Terms), disk.SyncDir(filepath.Dir(path))); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return s, nil
}

// open reads the seal of a journal, and drops a last line that is incomplete.
func open(journal string) (*Seal, error) {
	path, err := pathOf(journal)
	if err != nil {
		return nil, err
	}
	text, err := disk.ReadRegular(path, maxSize)
	if err != nil {
		return nil, err
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	s, err := parse(string(text))
	if err != nil {
		return nil, err
	}
	if s.file, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0); err != nil {
		return nil, err
	}
	if err := s.file.Truncate(int64(len(text))); err != nil {
		return nil, errors.Join(err, s.file.Close())
	}
	return s, nil
}

func parse(text string) (*Seal, error) {
	s := &Seal{}
	first, rest, _ := strings.Cut(text, "\n")
	s.Tree, s.Terms, _ = strings.Cut(first, " ")
	for line := range strings.Lines(rest) {
		line = strings.TrimSuffix(line, "\n")
		var l sealedLine
		var digest []byte
		if n, err := fmt.Sscanf(line, "%d %x", &l.offset, &digest); err != nil || n != 2 || len(digest) != len(l.digest) {
			return nil, fmt.Errorf("%.100q is not a line of a seal", line)
		}
		l.digest = [sha256.Size]byte(digest)
		s.lines = append(s.lines, l)
	}
	if len(s.lines) == 0 {
		return nil, errors.New("the seal is empty")
	}
	return s, nil
}

// Add lists a line of the journal before it is written.
func (s *Seal) Add(offset int64, line []byte) error {
	l := sealedLine{offset, sha256.Sum256(line)}
	if err := s.write(fmt.Sprintf("%d %s", offset, hex.EncodeToString(l.digest[:]))); err != nil {
		return err
	}
	s.lines = append(s.lines, l)
	failpoint.At("run.sealed")
	return nil
}

// Close closes the list.
func (s *Seal) Close() error { return s.file.Close() }

func (s *Seal) write(line string) error {
	_, err := s.file.WriteString(line + "\n")
	if err == nil {
		err = s.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("cannot seal the journal: %w", err)
	}
	return nil
}

// ErrChanged means that a journal is not as pawl wrote it.
var ErrChanged = errors.New("the journal was changed after pawl wrote it")

// Verify returns the size of the whole lines of a journal, and whether the last listed line is among them. It
// returns an error if they are not the lines that pawl wrote.
func (s *Seal) Verify(journal io.Reader) (size int64, whole bool, err error) {
	want := map[int64][sha256.Size]byte{}
	for _, l := range s.lines {
		want[l.offset] = l.digest
	}
	last := s.lines[len(s.lines)-1].offset
	r := bufio.NewReaderSize(journal, 1<<16)
	for n := 1; ; n++ {
		digest, length, err := digestLine(r)
		switch listed, ok := want[size]; {
		case errors.Is(err, io.EOF) && size < last:
			return 0, false, fmt.Errorf("%w: it ends after line %d, and more lines were written", ErrChanged, n-1)
		case errors.Is(err, io.EOF) && size > last && length > 0:
			return 0, false, fmt.Errorf("%w: something follows line %d", ErrChanged, n-1)
		case errors.Is(err, io.EOF):
			return size, size > last, nil
		case err != nil:
			return 0, false, fmt.Errorf("cannot read the journal: %w", err)
		case !ok || listed != digest:
			return 0, false, fmt.Errorf("%w: line %d", ErrChanged, n)
		}
		size += length
	}
}

// digestLine hashes the next line of a file whose lines may have any length. The error is io.EOF if the
// line has no end.
func digestLine(r *bufio.Reader) (digest [sha256.Size]byte, length int64, err error) {
	sum := sha256.New()
	for {
		part, err := r.ReadSlice('\n')
		sum.Write(part)
		length += int64(len(part))
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		sum.Sum(digest[:0])
		return digest, length, err
	}
}

// Remove removes the seal of a journal that is gone.
func Remove(journal string) error {
	path, err := pathOf(journal)
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("cannot remove the seal of the journal: %w", err)
	}
	return nil
}

// Past is an unfinished run, as its journal has it.
type Past struct {
	*measure.Run
	File *os.File // the journal: the file that was verified, whatever has its name now
	Size int64    // of its whole lines
	Seal *Seal
}

// Close closes the journal and its seal.
func (p *Past) Close() error { return errors.Join(p.File.Close(), p.Seal.Close()) }

// ReadPast reads a journal as far as its seal confirms it. The error wraps fs.ErrNotExist if there is no journal.
func ReadPast(journal string) (*Past, error) {
	f, err := disk.OpenNoLink(journal, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return nil, err
	}
	s, err := open(journal)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(ErrNone, f.Close())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot read the seal of its journal: %v", err), f.Close()) //nolint:errorlint // must not look like a missing journal
	}
	past := &Past{File: f, Seal: s, Run: &measure.Run{}}
	if past.Size, _, err = s.Verify(f); err == nil && past.Size > 0 {
		past.Run, err = measure.Read(io.NewSectionReader(f, 0, past.Size))
	}
	if err != nil {
		return nil, errors.Join(err, past.Close())
	}
	return past, nil
}

// ErrNone means that no seal confirms a journal. Other commands do not seal theirs.
var ErrNone = errors.New("no seal confirms its journal: it was not of pawl run, or pawl's cache was emptied")
