package keep

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Folder is a folder of files of which something is made: a T each.
//
// A file counts as the same while its size and the time of its last change are. Not even
// those are looked at while the folder has the files that it had, as git, editors and
// pawl make a new file of whatever they change: see Stamp.
type Folder[T any] struct {
	Dir   string                      // where the files are
	File  string                      // where what is made of them is kept; its folder is made
	Form  string                      // a line that changes whenever Read or Pack do
	Names func() ([]string, error)    // of the files, sorted
	Read  func(path string) (T, bool) // false for what is not to be kept: it is read each time
	Pack  func(*Pack, *T)
	// Unpack need not check: what is left or lacking is seen.
	Unpack func(*Unpack, *T)
}

// Made is what was made of a file.
type Made[T any] struct {
	Name  string
	Value T
}

// All is what is made of all files, by their names.
func (f *Folder[T]) All() ([]Made[T], error) {
	stamp := Stamp(f.Dir) // before it is listed: what comes later changes it
	known, when := f.remembered()
	if stamp != 0 && stamp == when {
		if list, ok := f.unpackAll(known); ok {
			return list, nil
		}
	}
	names, err := f.Names()
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", f.Dir, err)
	}
	return f.readAll(names, known, stamp, when), nil
}

// Stamp changes whenever a file comes into a folder or goes. It is 0 where that was only just
// now: one more could still come in the same tick of the clock of files, which is the
// system's own.
func Stamp(dir string) int64 {
	info, err := os.Stat(dir)
	if err != nil {
		return 0
	}
	return stampOf(info.ModTime(), time.Now())
}

func stampOf(changed, now time.Time) int64 {
	if now.Sub(changed) < time.Second {
		return 0
	}
	return changed.UnixNano()
}

// unpackAll takes everything from what is kept; false where that is not whole.
func (f *Folder[T]) unpackAll(known []kept) ([]Made[T], bool) {
	list := make([]Made[T], len(known))
	var bad atomic.Bool
	Share(len(known), func(i int) {
		list[i].Name = known[i].name
		if !f.unpack(known[i], &list[i].Value) {
			bad.Store(true)
		}
	})
	return list, !bad.Load()
}

func (f *Folder[T]) unpack(k kept, into *T) bool {
	u := Unpack{s: k.packed}
	f.Unpack(&u, into)
	return u.err() == nil
}

// readAll looks at every file, and keeps what is new.
func (f *Folder[T]) readAll(names []string, known []kept, stamp, when int64) []Made[T] {
	list := make([]Made[T], len(names))
	now := make([]kept, len(names))
	var changed, loose atomic.Bool
	Share(len(names), func(i int) {
		// Both are sorted, and mostly the same.
		j, ok := slices.BinarySearchFunc(known, names[i], func(k kept, name string) int { return strings.Compare(k.name, name) })
		if ok {
			now[i] = known[j]
		}
		switch fresh := f.look(names[i], &list[i], &now[i]); {
		case now[i].name == "":
			loose.Store(true)
		case fresh:
			changed.Store(true)
		}
	})
	if loose.Load() {
		stamp = 0 // what is not kept has to be looked for each time
	}
	now = slices.DeleteFunc(now, func(k kept) bool { return k.name == "" })
	if changed.Load() || len(now) != len(known) || stamp != when && stamp != 0 {
		f.remember(now, stamp)
	}
	return slices.DeleteFunc(list, func(m Made[T]) bool { return m.Name == "" })
}

// look makes the thing of a file, by what is kept of it or else by the file; true where it is
// new. A file that went meanwhile leaves both empty.
func (f *Folder[T]) look(name string, m *Made[T], k *kept) bool {
	path := filepath.Join(f.Dir, name)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		*k = kept{}
		return true
	}
	m.Name = name
	same := err == nil && k.name == name && k.size == info.Size() && k.time == info.ModTime().UnixNano()
	if same && f.unpack(*k, &m.Value) {
		return false
	}
	value, keep := f.Read(path)
	m.Value, *k = value, kept{}
	if keep && err == nil {
		var p Pack
		f.Pack(&p, &value)
		*k = kept{name: name, size: info.Size(), time: info.ModTime().UnixNano(), packed: string(p)}
	}
	return true
}
