package runner

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/base/failpoint"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
)

// A run that is resumed believes a file in the results folder. That folder is part of the working tree, so the
// harness of the change can write to it. Nothing there can prove what pawl wrote: a key that pawl can read
// without a password, the harness can read too, since it runs as the same user. So the proof is a list of
// digests in pawl's cache, which is read-only for the sides of a run. Each line of the journal is listed
// before it is written. A line that is not in the list is not pawl's; only the last listed line may be
// missing or incomplete, because pawl may have been killed before it was written.

// seal is the list of the lines of a journal, one per line: offset and digest. Its first line is the question of
// the run. A line at an offset that is listed again replaces the earlier one, which was never complete.
type seal struct {
	file     *os.File
	question question
	lines    []sealedLine
}

type sealedLine struct {
	offset int64
	digest [sha256.Size]byte
}

// question holds digests of what a run depends on and its record does not contain.
type question struct {
	tree  string // how the working tree differs from its commit
	terms string // policy of the gate, and the baselines it compares with
}

// maxSeal bounds how much of a seal is read: a million lines.
const maxSeal = 100 << 20

// sealPath returns where the seal of a journal is kept.
func sealPath(journal string) (string, error) {
	dir, err := build.CacheDir()
	if err != nil {
		return "", err
	}
	if journal, err = filepath.Abs(journal); err != nil {
		return "", fmt.Errorf("cannot find the seal of the journal: %w", err)
	}
	return filepath.Join(dir, "journals", fmt.Sprintf("%x", sha256.Sum256([]byte(journal)))), nil
}

// createSeal starts the seal of a new journal. It replaces that of an earlier one.
func createSeal(journal string, q question) (*seal, error) {
	path, err := sealPath(journal)
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
	s := &seal{file: f, question: q}
	if err := errors.Join(s.write(q.tree+" "+q.terms), disk.SyncDir(filepath.Dir(path))); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return s, nil
}

// openSeal reads the seal of a journal, and drops a last line that is incomplete.
func openSeal(journal string) (*seal, error) {
	path, err := sealPath(journal)
	if err != nil {
		return nil, err
	}
	text, err := disk.ReadRegular(path, maxSeal)
	if err != nil {
		return nil, err
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	s, err := parseSeal(string(text))
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

func parseSeal(text string) (*seal, error) {
	s := &seal{}
	first, rest, _ := strings.Cut(text, "\n")
	s.question.tree, s.question.terms, _ = strings.Cut(first, " ")
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

// add lists a line of the journal before it is written.
func (s *seal) add(offset int64, line []byte) error {
	l := sealedLine{offset, sha256.Sum256(line)}
	if err := s.write(fmt.Sprintf("%d %s", offset, hex.EncodeToString(l.digest[:]))); err != nil {
		return err
	}
	s.lines = append(s.lines, l)
	failpoint.At("run.sealed")
	return nil
}

func (s *seal) write(line string) error {
	_, err := s.file.WriteString(line + "\n")
	if err == nil {
		err = s.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("cannot seal the journal: %w", err)
	}
	return nil
}

// errNotSealed means that a journal is not as pawl wrote it.
var errNotSealed = errors.New("the journal was changed after pawl wrote it")

// verify returns the size of the whole lines of a journal, and whether the last listed line is among them. It
// returns an error if they are not the lines that pawl wrote.
func (s *seal) verify(journal io.Reader) (size int64, whole bool, err error) {
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
			return 0, false, fmt.Errorf("%w: it ends after line %d, and more lines were written", errNotSealed, n-1)
		case errors.Is(err, io.EOF) && size > last && length > 0:
			return 0, false, fmt.Errorf("%w: something follows line %d", errNotSealed, n-1)
		case errors.Is(err, io.EOF):
			return size, size > last, nil
		case err != nil:
			return 0, false, fmt.Errorf("cannot read the journal: %w", err)
		case !ok || listed != digest:
			return 0, false, fmt.Errorf("%w: line %d", errNotSealed, n)
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

// removeSeal removes the seal of a journal that is gone.
func removeSeal(journal string) error {
	path, err := sealPath(journal)
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("cannot remove the seal of the journal: %w", err)
	}
	return nil
}
