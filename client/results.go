package client

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/measure/samplecodec"
	"github.com/goatnote-inc/pawl/ratchet"
)

// maxVerdict is larger than any verdict that pawl writes.
const maxVerdict = 256 << 20

// verdictFile holds the parts of verdict.json that a report needs.
type verdictFile struct {
	ratchet.Result
	Run   string          `json:"run"`
	Gain  *ratchet.Result `json:"gain"` // the candidate against the baseline
	Moved []string        `json:"moved"`
	Whys  json.RawMessage `json:"whys"`

	text []byte // content of the file
}

// readVerdict reads the verdict on a run. It returns nil if there is none, or if it is on another run.
func readVerdict(dir, run string) (*verdictFile, error) {
	v, err := readAnyVerdict(dir)
	if err != nil || v == nil || v.Run != run || run == "" {
		return nil, err
	}
	return v, nil
}

// identical reports whether results have no record because there was nothing to measure.
func identical(dir string) bool {
	v, err := readAnyVerdict(dir)
	return err == nil && v != nil && v.Run == "" && v.Verdict == ratchet.Identical
}

func readAnyVerdict(dir string) (*verdictFile, error) {
	f, err := os.Open(filepath.Join(dir, "verdict.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxVerdict+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", f.Name(), err)
	}
	if len(text) > maxVerdict {
		return nil, fmt.Errorf("cannot read %s: larger than %d MB", f.Name(), maxVerdict>>20)
	}
	v := &verdictFile{text: text}
	if err := json.Unmarshal(text, v); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", f.Name(), err)
	}
	return v, nil
}

type judgement struct {
	verdict  ratchet.Verdict
	baseline float64
	moved    bool
}

func (v *verdictFile) byName() map[string]judgement {
	judged := map[string]judgement{}
	if v == nil {
		return judged
	}
	for _, c := range v.Cases {
		judged[c.Name] = judgement{verdict: c.Verdict}
	}
	if v.Gain != nil {
		for _, c := range v.Gain.Cases {
			if j, ok := judged[c.Name]; ok && c.Facts != nil && finite(c.Facts.Base.Median) {
				j.baseline = c.Facts.Base.Median
				judged[c.Name] = j
			}
		}
	}
	for _, name := range v.Moved {
		j := judged[name]
		j.moved = true
		judged[name] = j
	}
	return judged
}

// RecordFiles returns the record of a run and its samples as files.
func RecordFiles(run *measure.Run) ([]File, error) {
	stripped, data, err := samplecodec.Split(run)
	if err != nil {
		return nil, err
	}
	var document bytes.Buffer
	if err := measure.Write(&document, stripped); err != nil {
		return nil, err
	}
	return []File{
		inMemory(BlobRecord, "current.json.zst", compress(document.Bytes())),
		inMemory(BlobSamples, "samples", data),
	}, nil
}

// gather returns the files of a report: the record and its samples, the verdict, the findings of profiles,
// and the profilers' own files.
func gather(dir string, run *measure.Run, verdict *verdictFile) ([]File, error) {
	files, err := RecordFiles(run)
	if err != nil {
		return nil, err
	}
	if verdict != nil {
		files = append(files, inMemory(BlobVerdict, "verdict.json.zst", compress(verdict.text)))
		if len(verdict.Whys) > 0 && string(verdict.Whys) != "null" {
			files = append(files, inMemory(BlobWhy, "whys.json.zst", compress(verdict.Whys)))
		}
	}
	profiles, err := profiles(dir, MaxBlobs-len(files))
	return distinct(append(files, profiles...)), err
}

// compress compresses deterministically.
func compress(text []byte) []byte {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		panic(err) // impossible: the options are constants
	}
	return z.EncodeAll(text, nil)
}

func inMemory(kind BlobKind, name string, data []byte) File {
	sum := sha256.Sum256(data)
	return File{Blob: Blob{Digest: hex.EncodeToString(sum[:]), Size: int64(len(data)), Kind: kind, Name: name}, Data: data}
}

// profilePatterns match the files that profilers write to the results directory.
var profilePatterns = []string{"profiles/*.ncu-rep", "profiles/*.nsys-rep"}

// profiles returns the profilers' own files. It skips links and files larger than a server accepts.
func profiles(dir string, most int) ([]File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var files []File
	for _, pattern := range profilePatterns {
		names, err := fs.Glob(root.FS(), pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			info, err := root.Lstat(name)
			if err != nil || !info.Mode().IsRegular() || info.Size() == 0 || info.Size() > MaxBlob || len(files) == most {
				continue
			}
			digest, size, err := digestOf(root, name)
			if err != nil {
				return nil, fmt.Errorf("cannot read profile %s: %w", name, err)
			}
			files = append(files, File{
				Blob: Blob{Digest: digest, Size: size, Kind: BlobProfile, Name: line(path.Base(name), 255)},
				Path: filepath.Join(dir, filepath.FromSlash(name)),
			})
		}
	}
	return files, nil
}

func digestOf(root *os.Root, name string) (string, int64, error) {
	f, err := root.Open(name)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(f, MaxBlob+1))
	return hex.EncodeToString(sum.Sum(nil)), n, err
}

// distinct removes files with the same content as an earlier one.
func distinct(files []File) []File {
	seen := map[string]bool{}
	var list []File
	for _, f := range files {
		if !seen[f.Digest] {
			seen[f.Digest] = true
			list = append(list, f)
		}
	}
	return list
}
