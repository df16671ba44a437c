// Package parcel knows how files come from one machine to another when the sender is not
// believed: an archive that a job of a stranger's change left, or the folder it was
// unpacked into. It lets through the files that were asked for, each below its limit, and
// refuses the parcel whole where any entry is one that no honest sender makes. It must not
// know what the files say.
package parcel

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

// Want is a file that is asked for: a name at the top of the parcel, and the most bytes
// it may have.
type Want struct {
	Name string
	Most int64
}

// Limits bound what a parcel may cost whoever opens it.
type Limits struct {
	Want      []Want
	Entries   int   // of all names, also of files nobody asked for
	Directory int64 // bytes of an archive's list of names
	Total     int64 // bytes of all files that are let through
}

// The bounds of names and of how well honest text can be packed. Samples shrink to a
// tenth; a bomb to a thousandth.
const (
	nameMost  = 512
	depthMost = 16
	ratioMost = 250
	ratioFrom = 1 << 20 // bytes up to which a file may be packed as well as it can
)

// Manifest is what was let through.
type Manifest struct {
	Files   map[string]int64 // bytes, by name
	Ignored int              // files that nobody asked for
}

// Has tells whether a file is there.
func (m Manifest) Has(name string) bool { _, ok := m.Files[name]; return ok }

// ErrPoisoned is wrapped by the error of a parcel that no honest sender makes.
var ErrPoisoned = errors.New("the parcel is refused")

func poisoned(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrPoisoned, fmt.Errorf(format, args...))
}

// Unpack takes the wanted files out of an archive. Nothing is written before every
// entry was looked at.
func Unpack(archive io.ReaderAt, size int64, into *os.Root, l Limits) (Manifest, error) {
	list := &fuse{from: archive, left: l.Directory + endOfArchive}
	z, err := zip.NewReader(list, size)
	if err != nil {
		return Manifest{}, poisoned("its list of files cannot be read: %w", err)
	}
	list.left = -1 // the list is read; what follows is bounded file by file
	if len(z.File) > l.Entries {
		return Manifest{}, poisoned("it has %d entries, the limit is %d", len(z.File), l.Entries)
	}
	names := newNames(l.Want)
	for _, f := range z.File {
		if err := names.add(f.Name, f.Mode()); err != nil {
			return Manifest{}, err
		}
		if err := sound(f); err != nil {
			return Manifest{}, err
		}
	}
	if err := apart(z.File, size); err != nil {
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
			return Manifest{}, poisoned("%s: %w", want.Name, err)
		}
		err = errors.Join(m.take(content, into, want, l.Total), content.Close())
		if err != nil {
			return Manifest{}, err
		}
	}
	return m, nil
}

// Open takes the wanted files out of a folder that somebody unpacked. Links are not
// followed, not even inside the folder.
func Open(dir string, into *os.Root, l Limits) (Manifest, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Manifest{}, fmt.Errorf("open results: %w", err)
	}
	defer root.Close()
	m := Manifest{Files: map[string]int64{}}
	for _, want := range l.Want {
		info, err := root.Lstat(want.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Manifest{}, fmt.Errorf("open results: %w", err)
		}
		if !info.Mode().IsRegular() {
			return Manifest{}, poisoned("%s is no regular file (%s)", want.Name, info.Mode().Type())
		}
		content, err := root.Open(want.Name)
		if err != nil {
			return Manifest{}, fmt.Errorf("open results: %w", err)
		}
		if now, err := content.Stat(); err != nil || !os.SameFile(info, now) {
			content.Close()
			return Manifest{}, poisoned("%s became another file while it was opened", want.Name)
		}
		if err := errors.Join(m.take(content, into, want, l.Total), content.Close()); err != nil {
			return Manifest{}, err
		}
	}
	return m, nil
}

func (l Limits) want(name string) (Want, bool) {
	i := slices.IndexFunc(l.Want, func(w Want) bool { return w.Name == name })
	if i < 0 {
		return Want{}, false
	}
	return l.Want[i], true
}

// take copies one file. Sizes that are written in an archive are claims: what comes out
// is counted.
func (m *Manifest) take(content io.Reader, into *os.Root, want Want, total int64) error {
	out, err := into.OpenFile(want.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("keep %s: %w", want.Name, err)
	}
	n, err := io.Copy(out, io.LimitReader(content, want.Most+1))
	if err := out.Close(); err != nil {
		return fmt.Errorf("keep %s: %w", want.Name, err)
	}
	for _, size := range m.Files {
		total -= size
	}
	switch {
	case n > want.Most:
		return poisoned("%s has more than %d bytes", want.Name, want.Most)
	case n > total:
		return poisoned("its files together are too large (%s is where it ends)", want.Name)
	case err != nil:
		return poisoned("%s: %w", want.Name, err)
	}
	m.Files[want.Name] = n
	return nil
}

// Text is the beginning of a small file as one line of printable text: what a stranger
// wrote into it may go to a log.
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
