package commits

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/goatnote-inc/pawl/internal/base/disk"
)

// Question is what a bisect asks. Steps of another question are not used.
type Question struct {
	Good  string `json:"good"`
	Bad   string `json:"bad"`
	Suite string `json:"suite"`
	Cases string `json:"cases,omitempty"`
	Trust string `json:"trust,omitempty"`
}

// Journal is the file of the steps of a bisect.
type Journal struct {
	path string
	file *os.File
}

// maxJournal is the max size of a journal. A step is a few hundred bytes.
const maxJournal = 16 << 20

// OpenJournal continues the journal at path if it belongs to the question, and returns the steps in it.
// Otherwise it starts a new one.
func OpenJournal(path string, q Question) (*Journal, []Step, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, nil, fmt.Errorf("cannot create the folder for the bisect: %w", err)
	}
	known, size, err := readJournal(path, q)
	if err != nil {
		return nil, nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot keep the steps of the bisect: %w", err)
	}
	j := &Journal{path: path, file: file}
	err = file.Truncate(size) // drops a torn line, or the steps of another question
	if err == nil {
		_, err = file.Seek(size, 0)
	}
	if err == nil && size == 0 {
		err = j.write(q)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return j, known, nil
}

// readJournal returns the steps of a journal and the length of its whole lines; 0 if it belongs to another question.
func readJournal(path string, q Question) (known []Step, size int64, err error) {
	text, err := disk.ReadRegular(path, maxJournal)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("cannot read the steps of an earlier bisect: %w", err)
	}
	for line := range bytes.Lines(text) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		if size == 0 {
			var have Question
			if json.Unmarshal(line, &have) != nil || have != q {
				return nil, 0, nil
			}
		} else {
			var s Step
			if json.Unmarshal(line, &s) != nil || s.Commit == "" {
				break
			}
			known = append(known, s)
		}
		size += int64(len(line))
	}
	return known, size, nil
}

// Add keeps a step.
func (j *Journal) Add(s Step) error { return j.write(s) }

func (j *Journal) write(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("cannot keep a step of the bisect: %w", err)
	}
	return j.file.Sync()
}

// Close keeps the journal for the next start, or removes it if the bisect is done.
func (j *Journal) Close(done bool) error {
	err := j.file.Close()
	if done {
		err = errors.Join(err, os.Remove(j.path))
	}
	return err
}
