package measure

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/goatnote-inc/pawl/internal/base/disk"
)

// ErrDigest is wrapped by the error for a document that was changed after pawl wrote it.
var ErrDigest = errors.New("the record was changed after it was written (to use it anyway, remove its \"digest\")")

const (
	// compressAbove is the journal size above which the document is compressed.
	compressAbove = 64 << 20
	// zstdWindow limits the memory that a hostile file can make the reader allocate.
	zstdWindow = 8 << 20
)

// JournalPath returns the path of the journal for a run that will be written to path.
func JournalPath(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(path, ".zst"), ".json") + ".journal"
}

// Load reads the run at path into memory. It accepts a document, plain or compressed, or a journal. If
// the file is missing, it looks for the same alternatives as ScanFile.
func Load(path string) (*Run, error) {
	return collect(func(each eachRound) (*Run, error) { return scanFile(path, each) })
}

// Read reads a run, document or journal, into memory. It does not check the digest of a document.
func Read(r io.Reader) (*Run, error) {
	return collect(func(each eachRound) (*Run, error) { return newScanner(r, each).scan() })
}

// collect adds the rounds of a scan to their cases.
func collect(scan func(eachRound) (*Run, error)) (*Run, error) {
	var rounds [][]CaseRound
	run, err := scan(func(_ *Run, number int, r CaseRound) error {
		for len(rounds) <= number {
			rounds = append(rounds, nil)
		}
		rounds[number] = append(rounds[number], r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range rounds {
		run.Cases[i].Rounds = rounds[i]
	}
	return run, nil
}

// ScanFile calls Scan on the file at path and checks the document's digest. If the file does not exist,
// it reads the compressed form or the journal instead, so that a crashed run can be opened by its
// intended name.
func ScanFile(path string, each func(*Case, CaseRound) error) (*Run, error) {
	return scanFile(path, perCase(each))
}

func scanFile(path string, each eachRound) (*Run, error) {
	f, err := openAny(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the run record: %w", err)
	}
	defer f.Close()
	var r io.Reader = bufio.NewReaderSize(f, 1<<18)
	if strings.HasSuffix(f.Name(), ".zst") {
		z, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		defer z.Close()
		r = z
	}
	digest := newDigestReader(r)
	run, err := newScanner(digest, each).scan()
	if err != nil {
		_, _ = digest.check("") // stops the hashing
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	ok, err := digest.check(run.Digest)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	if !ok && run.Digest != "" { // a journal has no digest
		run.Warnings = append(run.Warnings, Warning{
			Code: "digest_unchecked", Message: "the file was reformatted after pawl wrote it, so its digest cannot be checked",
		})
	}
	return run, nil
}

// openAny opens the document, its compressed form or its journal, whichever exists first.
func openAny(path string) (*os.File, error) {
	f, err := disk.OpenRegular(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	for _, other := range []string{path + ".zst", JournalPath(path)} {
		if f, otherErr := disk.OpenRegular(other); otherErr == nil {
			return f, nil
		}
	}
	return nil, err
}

// Save writes a run to path, compressed if the name ends in .zst. The write is atomic.
func Save(path string, run *Run) error {
	return replaceFile(path, func(w io.Writer) error { return Write(w, run) })
}

// Finish writes the document of a journal to path and removes the journal. It compresses large documents
// and returns the resulting path.
func Finish(journal, path string) (string, *Run, error) {
	path, run, err := Convert(journal, path)
	if err != nil {
		return "", nil, err
	}
	if err := os.Remove(journal); err != nil {
		return "", nil, fmt.Errorf("cannot finish the run record: %w", err)
	}
	return path, run, nil
}

// Convert does the same as Finish, but keeps the journal.
func Convert(journal, path string) (string, *Run, error) {
	f, err := os.Open(journal)
	if err != nil {
		return "", nil, fmt.Errorf("cannot finish the run record: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", nil, fmt.Errorf("cannot finish the run record: %w", err)
	}
	if info.Size() > compressAbove && !strings.HasSuffix(path, ".zst") {
		path += ".zst"
	}
	var run *Run
	err = replaceFile(path, func(w io.Writer) (err error) {
		run, err = WriteJournal(w, f)
		return err
	})
	if err != nil {
		return "", nil, fmt.Errorf("cannot finish the run record %s: %w", path, err)
	}
	return path, run, nil
}

// replaceFile writes a record atomically, compressed if its name says so.
func replaceFile(path string, write func(io.Writer) error) error {
	err := disk.Replace(path, 0o644, func(w io.Writer) error { return writeTo(w, path, write) })
	if err != nil {
		return fmt.Errorf("cannot write the run record: %w", err)
	}
	return nil
}

func writeTo(f io.Writer, path string, write func(io.Writer) error) error {
	if !strings.HasSuffix(path, ".zst") {
		return write(f)
	}
	z, err := zstd.NewWriter(f, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<20))
	if err != nil {
		return fmt.Errorf("cannot compress the run record: %w", err)
	}
	return errors.Join(write(z), z.Close())
}
