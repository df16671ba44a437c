package lesson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/goatnote-inc/pawl/internal/base/disk"
)

// Dir is where the lessons of a repository are, from the folder of its suite.
const Dir = ".pawl/lessons"

const (
	reviewDir  = "reviews"
	maxLessons = 10000
	maxReviews = 50000
	maxReview  = 16 << 10 // bytes
)

// Folder is the lessons of a repository, each in a file that is written once.
type Folder struct {
	Root  string // folder of the suite
	Cache string // folder where what was read is kept to be faster; empty for none
}

// Read gives a book of the lessons that pawl comes with and those of the folder. What cannot
// be read is left out and told in the error, which comes with the book.
func (f Folder) Read() (*Book, error) {
	c := openCache(f.Cache, f.Root)
	defer c.close()
	starters, _ := readStarters(c) // a test reads them all
	b := newBook(starters)
	dir := filepath.Join(f.Root, Dir)
	files, err := names(dir, ".md", maxLessons)
	if err != nil {
		return b, fmt.Errorf("read lessons: %w", err)
	}
	read := each(files, func(file string) (*entry, error) { return readLesson(c, filepath.Join(dir, file)) })
	var problems []error
	for _, r := range read {
		if r.err == nil {
			r.err = b.addEntry(r.value)
		}
		problems = append(problems, r.err)
	}
	reviews := filepath.Join(dir, reviewDir)
	if files, err = names(reviews, ".json", maxReviews); err != nil {
		return b, errors.Join(append(problems, fmt.Errorf("read reviews of lessons: %w", err))...)
	}
	for _, r := range each(files, func(file string) (*Review, error) { return readReview(filepath.Join(reviews, file)) }) {
		if problems = append(problems, r.err); r.err == nil {
			b.Review(*r.value)
		}
	}
	return b, errors.Join(problems...)
}

// names lists the files of a folder in order. A folder that is not there has none; what
// begins with a dot, a README and what is no plain file are passed over.
func names(dir, suffix string, most int) ([]string, error) {
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range list {
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), suffix) && e.Name()[0] != '.' && e.Name() != "README.md" {
			files = append(files, e.Name())
		}
	}
	if len(files) > most {
		return nil, fmt.Errorf("%s has %d files, more than %d", dir, len(files), most)
	}
	return files, nil
}

type result[T any] struct {
	value *T
	err   error
}

// each reads files side by side, and gives what came of them in their order.
func each[T any](files []string, read func(string) (*T, error)) []result[T] {
	out := make([]result[T], len(files))
	var all sync.WaitGroup
	for part := range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for i := part; i < len(files); i += runtime.GOMAXPROCS(0) {
				out[i].value, out[i].err = read(files[i])
			}
		})
	}
	all.Wait()
	return out
}

func readLesson(c *cache, path string) (*entry, error) {
	text, err := readBounded(path, MaxFile)
	if err != nil {
		return nil, fmt.Errorf("read a lesson: %w", err)
	}
	l, err := c.parse(filepath.ToSlash(path), text)
	if err != nil {
		return nil, err
	}
	l.Name = strings.TrimSuffix(filepath.Base(path), ".md")
	return &entry{lesson: l, edited: edited(l.Name, text)}, nil
}

func readReview(path string) (*Review, error) {
	text, err := readBounded(path, maxReview)
	if err != nil {
		return nil, fmt.Errorf("read a review of a lesson: %w", err)
	}
	r, err := ParseReview(text)
	if err != nil {
		return nil, fmt.Errorf("read a review of a lesson: %s: %w", path, err)
	}
	return r, nil
}

// readBounded reads no more of a file than shows that it is too large.
func readBounded(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most+1))
}

// ParseReview reads the text of a review's file.
func ParseReview(text []byte) (*Review, error) {
	if len(text) > maxReview {
		return nil, fmt.Errorf("it has more than %d bytes", maxReview)
	}
	var r Review
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is something behind it")
	}
	return &r, r.check()
}

func (r *Review) check() error {
	switch {
	case !nameForm.MatchString(r.Lesson):
		return fmt.Errorf("%.80q is no name of a lesson", r.Lesson)
	case !slices.Contains(states, string(r.State)):
		return fmt.Errorf("%.40q is no state of a lesson: %s", r.State, strings.Join(states, ", "))
	case strings.TrimSpace(r.Reason) == "":
		return errors.New("a review gives its reason")
	case strings.TrimSpace(r.By) == "":
		return errors.New("a review says whose it is")
	case len(r.Reason) > maxText || len(r.By) > maxText:
		return fmt.Errorf("a review has no more than %d bytes of text", maxText)
	case r.Time.IsZero():
		return errors.New("a review says when it was made")
	}
	return nil
}

// Add writes a lesson and gives it its name.
func (f Folder) Add(l *Lesson) (path string, err error) {
	text, err := Write(l)
	if err != nil {
		return "", err
	}
	l.Name = Name(l.Title, text)
	path = filepath.Join(f.Root, Dir, l.Name+".md")
	if err := writeOnce(path, text); err != nil {
		return "", fmt.Errorf("write lesson %s: %w", l.Name, err)
	}
	return path, nil
}

// Review writes a review down.
func (f Folder) Review(r Review) (path string, err error) {
	if err := r.check(); err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return "", fmt.Errorf("write a review of lesson %s: %w", r.Lesson, err)
	}
	text = append(text, '\n')
	path = filepath.Join(f.Root, Dir, reviewDir, r.Lesson+"-"+digest(text, 8)+".json")
	if err := writeOnce(path, text); err != nil {
		return "", fmt.Errorf("write a review of lesson %s: %w", r.Lesson, err)
	}
	return path, nil
}

// writeOnce makes a file whole or not at all. Its name is made from its content: one that is
// there already is the same.
func writeOnce(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if old, err := readBounded(path, MaxFile); err == nil && bytes.Equal(old, text) {
		return nil
	}
	return disk.WriteAtomic(path, text)
}
