// Package archive receives files from an untrusted sender: an archive that a job of an
// untrusted change left, or the folder it was unpacked into. It extracts only the requested
// files, each within its limit. It rejects the whole archive if any entry is one that no
// honest sender makes. It must not know what the files contain.
package archive

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// WantedFile is a requested file: a name at the top of the archive, and its max size in bytes.
type WantedFile struct {
	Name string
	Most int64
}

// Limits limits the cost of opening an archive.
type Limits struct {
	Want      []WantedFile
	Entries   int   // of all files, requested or not
	Directory int64 // bytes of an archive's directory
	Total     int64 // bytes of all extracted files
}

// Limits of names and of the compression ratio of honest text. Samples compress to a tenth,
// a zip bomb to a thousandth.
const (
	maxName   = 512
	maxDepth  = 16
	maxRatio  = 250
	ratioFrom = 1 << 20 // bytes up to which the ratio is not limited
)

// Manifest lists the extracted files.
type Manifest struct {
	Files   map[string]int64 // bytes, by name
	Ignored int              // files that were not requested
}

// Has reports whether a file was extracted.
func (m Manifest) Has(name string) bool { _, ok := m.Files[name]; return ok }

// ErrRejected is wrapped by the error for an archive that no honest sender makes.
var ErrRejected = errors.New("the archive is rejected")

func reject(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrRejected, fmt.Errorf(format, args...))
}

// Unpack extracts the requested files from an archive. It checks every entry before it
// writes anything.
func Unpack(archive io.ReaderAt, size int64, into *os.Root, l Limits) (Manifest, error) {
	list := &limitedReaderAt{from: archive, left: l.Directory + endOfArchive}
	z, err := zip.NewReader(list, size)
	if err != nil {
		return Manifest{}, reject("cannot read its list of files: %w", err)
	}
	list.left = -1 // the directory is read; from here on each file has its own limit
	if len(z.File) > l.Entries {
		return Manifest{}, reject("it has %d entries, the limit is %d", len(z.File), l.Entries)
	}
	names := newNames(l.Want)
	for _, f := range z.File {
		if err := names.add(f.Name, f.Mode()); err != nil {
			return Manifest{}, err
		}
		if err := checkEntry(f); err != nil {
			return Manifest{}, err
		}
	}
	if err := checkOverlap(z.File, size); err != nil {
		return Manifest{}, err
	}
	m := Manifest{Files: map[string]int64{}}
	for _, f := range z.File {
		want, ok := l.want(f.Name)
		if !ok {
			m.Ignored++
			continue
		}
		content, err := f.Open()
		if err != nil {
			return Manifest{}, reject("%s: %w", want.Name, err)
		}
		err = errors.Join(m.copyFile(content, into, want, l.Total), content.Close())
		if err != nil {
			return Manifest{}, err
		}
	}
	return m, nil
}

// Open copies the requested files from an unpacked folder. It does not follow links, not
// even inside the folder.
func Open(dir string, into *os.Root, l Limits) (Manifest, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Manifest{}, fmt.Errorf("cannot open results: %w", err)
	}
	defer root.Close()
	m := Manifest{Files: map[string]int64{}}
	for _, want := range l.Want {
		info, err := root.Lstat(want.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Manifest{}, fmt.Errorf("cannot open results: %w", err)
		}
		if !info.Mode().IsRegular() {
			return Manifest{}, reject("%s is not a regular file (%s)", want.Name, info.Mode().Type())
		}
		content, err := root.Open(want.Name)
		if err != nil {
			return Manifest{}, fmt.Errorf("cannot open results: %w", err)
		}
		if now, err := content.Stat(); err != nil || !os.SameFile(info, now) {
			content.Close()
			return Manifest{}, reject("%s was replaced while it was opened", want.Name)
		}
		if err := errors.Join(m.copyFile(content, into, want, l.Total), content.Close()); err != nil {
			return Manifest{}, err
		}
	}
	return m, nil
}

func (l Limits) want(name string) (WantedFile, bool) {
	i := slices.IndexFunc(l.Want, func(w WantedFile) bool { return w.Name == name })
	if i < 0 {
		return WantedFile{}, false
	}
	return l.Want[i], true
}

// copyFile copies one file. Sizes in an archive are untrusted, so it counts the actual bytes.
func (m *Manifest) copyFile(content io.Reader, into *os.Root, want WantedFile, total int64) error {
	out, err := into.OpenFile(want.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("cannot store %s: %w", want.Name, err)
	}
	n, err := io.Copy(out, io.LimitReader(content, want.Most+1))
	if err := out.Close(); err != nil {
		return fmt.Errorf("cannot store %s: %w", want.Name, err)
	}
	for _, size := range m.Files {
		total -= size
	}
	switch {
	case n > want.Most:
		return reject("%s has more than %d bytes", want.Name, want.Most)
	case n > total:
		return reject("its files together are too large (the limit is reached at %s)", want.Name)
	case err != nil:
		return reject("%s: %w", want.Name, err)
	}
	m.Files[want.Name] = n
	return nil
}

// Text returns the start of a small file as one line of printable ASCII, so that untrusted
// content is safe to log.
func Text(root *os.Root, name string, most int) string {
	f, err := root.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, int64(most)))
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, string(b))
}
