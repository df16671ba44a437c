// Package untrusted judges the results of an untrusted job. The files it sends are claims: they
// are judged again, from their samples, by the rules of the base's suite. The package must
// not know where the files come from, nor where the result is posted.
package untrusted

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/goatnote-inc/pawl/internal/base/archive"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// The files accepted from a job's results.
const (
	Record           = "current.json"
	CompressedRecord = "current.json.zst" // the form of a large record
	Verdict          = "verdict.json"
	Code             = "exit-code"
	Account          = "account.json"
)

// maxRecordBytes is the max size in bytes of a record that is judged. Together with the JSON
// limits it keeps the judging process below 256 MiB.
const maxRecordBytes = 40 << 20

// Limits returns the limits for the results of a job.
func Limits() archive.Limits {
	return archive.Limits{
		Want:    []archive.WantedFile{{Name: Record, Most: maxRecordBytes}, {Name: CompressedRecord, Most: maxRecordBytes}, {Name: Verdict, Most: 16 << 20}, {Name: Code, Most: 16}, {Name: Account, Most: 64 << 10}},
		Entries: 4096, Directory: 1 << 20, Total: maxRecordBytes + 17<<20,
	}
}

// MaxArchiveBytes is the max size in bytes of an archive to download. It also contains reports,
// logs and profiles, which are not read.
const MaxArchiveBytes = 256 << 20

var (
	recordJSON = archive.JSONLimits{
		Bytes: maxRecordBytes, Depth: 24, Lists: 150_000, Strings: 1_500_000, Letters: 16 << 20, Longest: 64 << 10, Numbers: 3_000_000,
	}
	verdictJSON = archive.JSONLimits{
		Bytes: 16 << 20, Depth: 32, Lists: 150_000, Strings: 500_000, Letters: 12 << 20, Longest: 64 << 10, Numbers: 1_000_000,
	}
)

// Exit codes of pawl run that a claim is read by. docs/reference/exit-codes.md explains them.
const (
	ExitOK       = 0
	ExitFailed   = 1
	ExitNoAnswer = 2
)

// Claim is the content of a job's results, as far as they could be read.
type Claim struct {
	Run     *measure.Run    // nil if there is no record
	Verdict ratchet.Verdict // verdict reported by the job; empty if unset
	Code    int             // exit code of pawl run; -1 if unknown
	Stopped *Stopped        // why the run ended before there was a record
	Stages  []Stage         // the steps before measuring
}

// Stopped says where a run ended early, as reported by the job.
type Stopped struct {
	Step string `json:"step"`
	Side string `json:"side"`
	Why  string `json:"why"`
}

// Stage is a step before measuring, as reported by the job.
type Stage struct {
	Name   string   `json:"name"`
	Answer string   `json:"answer"`
	Line   string   `json:"line"`
	Detail []string `json:"detail"`
}

// maxStages is more than any run has.
const maxStages = 16

// Read reads the files that archive extracted to dir.
func Read(dir string) (Claim, error) {
	c := Claim{Code: -1}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return c, fmt.Errorf("cannot read the results: %w", err)
	}
	defer root.Close()
	if n, err := strconv.Atoi(strings.TrimSpace(archive.Text(root, Code, 16))); err == nil && n >= 0 && n <= 255 {
		c.Code = n
	}
	if err := c.readVerdict(root); err != nil {
		return c, fmt.Errorf("%s: %w", Verdict, err)
	}
	c.Run, err = ReadRecord(dir, Record)
	return c, err
}

// ReadRecord reads a record, plain or compressed, that archive extracted to dir; nil if there is
// neither.
func ReadRecord(dir, name string) (*measure.Run, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read the results: %w", err)
	}
	defer root.Close()
	for _, name := range []string{name, name + packed} {
		switch err := checkRecord(root, name); {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		run, err := measure.Load(filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %.300s", archive.ErrRejected, name, strings.ReplaceAll(err.Error(), dir, ""))
		}
		if err := plausible(run); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", archive.ErrRejected, name, err)
		}
		return run, nil
	}
	return nil, nil
}

// packed is the name suffix of a compressed record.
const packed = ".zst"

// checkRecord checks the limits of a record before it is read into memory.
func checkRecord(root *os.Root, name string) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(name, packed) {
		z, err := zstd.NewReader(f, zstd.WithDecoderMaxWindow(8<<20), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
		if err != nil {
			return fmt.Errorf("unpack: %w", err)
		}
		defer z.Close()
		r = z
	}
	return archive.CheckJSON(r, recordJSON)
}

func (c *Claim) readVerdict(root *os.Root) error {
	f, err := root.Open(Verdict)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := archive.CheckJSON(f, verdictJSON); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	var doc struct {
		Verdict ratchet.Verdict `json:"verdict"`
		Stopped *Stopped        `json:"stopped"`
		Stages  []Stage         `json:"stages"`
	}
	if err := json.NewDecoder(f).Decode(&doc); err != nil {
		return fmt.Errorf("%w: %.200s", archive.ErrRejected, err.Error())
	}
	switch v := doc.Verdict; v {
	case ratchet.Regression, ratchet.Improvement, ratchet.Maintained, ratchet.Inconclusive, ratchet.New, ratchet.Missing, ratchet.Broken, ratchet.Identical:
		c.Verdict = v
	}
	c.Stopped, c.Stages = doc.Stopped, doc.Stages[:min(len(doc.Stages), maxStages)]
	return nil
}
