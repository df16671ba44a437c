package lesson

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/disk"
)

// Dir is the folder of the lessons of a repository, from the folder of its suite.
const Dir = ".pawl/lessons"

const (
	reviewDir = "reviews"
	maxFiles  = 10_000
	maxReview = 16 << 10 // bytes
)

//go:embed starter/*.md
var starterFiles embed.FS

// Folder holds the lessons of a repository, each in a file that is written once.
type Folder struct{ Root string } // folder of the suite

// Read returns the lessons that pawl comes with and those of the folder. What cannot be read is left
// out and is in the error, which comes together with the book.
func (f Folder) Read() (*Book, error) {
	b := &Book{byName: map[string]*entry{}}
	starters, err := starterFiles.ReadDir("starter")
	problems := []error{err}
	for _, file := range starters {
		text, err := starterFiles.ReadFile("starter/" + file.Name())
		if err == nil {
			err = b.read("starter/"+file.Name(), text, true)
		}
		problems = append(problems, err)
	}
	problems = append(problems, eachFile(filepath.Join(f.Root, Dir), ".md", MaxFile, func(path string, text []byte) error {
		return b.read(path, text, false)
	}))
	problems = append(problems, eachFile(filepath.Join(f.Root, Dir, reviewDir), ".json", maxReview, func(path string, text []byte) error {
		r, err := ParseReview(text)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		b.Review(*r)
		return nil
	}))
	return b, errors.Join(problems...)
}

func (b *Book) read(path string, text []byte, starter bool) error {
	l, err := Parse(path, text)
	if err != nil {
		return err
	}
	l.Name = strings.TrimSuffix(filepath.Base(path), ".md")
	return b.add(&entry{lesson: l, starter: starter, edited: !starter && edited(l.Name, text), sessions: map[string]bool{}})
}

// eachFile reads the regular files of a folder in order, and reports links, pipes and devices. A folder
// that does not exist has none.
func eachFile(dir, suffix string, limit int64, read func(path string, text []byte) error) error {
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	problems := []error{err}
	for i, e := range list {
		if i == maxFiles {
			problems = append(problems, fmt.Errorf("%s has more than %d files: the rest is ignored", dir, maxFiles))
			break
		}
		if e.IsDir() || !strings.HasSuffix(e.Name(), suffix) || e.Name()[0] == '.' || e.Name() == "README.md" {
			continue
		}
		path := filepath.ToSlash(filepath.Join(dir, e.Name()))
		text, err := disk.ReadRegular(path, limit)
		if err == nil {
			err = read(path, text)
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// ParseReview reads the text of a review.
func ParseReview(text []byte) (*Review, error) {
	var r Review
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text after the review")
	}
	return &r, r.check()
}

func (r *Review) check() error {
	switch {
	case !nameForm.MatchString(r.Lesson):
		return fmt.Errorf("%.80q is not the name of a lesson", r.Lesson)
	case !slices.Contains([]State{Proposed, Confirmed, Refuted}, r.State):
		return fmt.Errorf("%.40q is not a state: use proposed, confirmed or refuted", r.State)
	case strings.TrimSpace(r.Reason) == "" || strings.TrimSpace(r.By) == "" || r.Time.IsZero():
		return errors.New("a review needs a reason, an author and a time")
	case len(r.Reason) > maxText || len(r.By) > maxText:
		return fmt.Errorf("a review has at most %d bytes of text", maxText)
	}
	return nil
}

// Add writes a lesson and sets its name.
func (f Folder) Add(l *Lesson) (path string, err error) {
	text, err := Write(l)
	if err != nil {
		return "", err
	}
	l.Name = Name(l.Title, text)
	path = filepath.Join(f.Root, Dir, l.Name+".md")
	if err := writeNew(path, text); err != nil {
		return "", fmt.Errorf("write lesson %s: %w", l.Name, err)
	}
	return path, nil
}

// Review writes a review.
func (f Folder) Review(r Review) (path string, err error) {
	if err := r.check(); err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		text = append(text, '\n')
		path = filepath.Join(f.Root, Dir, reviewDir, r.Lesson+"-"+digest(text, 8)+".json")
		err = writeNew(path, text)
	}
	if err != nil {
		return "", fmt.Errorf("write a review of lesson %s: %w", r.Lesson, err)
	}
	return path, nil
}

func writeNew(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return disk.WriteAtomic(path, text)
}
