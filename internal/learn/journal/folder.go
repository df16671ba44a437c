package journal

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/disk"
)

// Folder holds the journals of a repository: one file per session, with a unique name, so that
// merges never conflict. Git does not see the folder with the open one.
type Folder struct {
	Root string           // the folder of the suite
	Now  func() time.Time // nil for the real clock
	Rand io.Reader        // nil for the real one
}

// Dir is the folder of ended journals, from Root.
const Dir = ".pawl/sessions"

// maxSessions is the most journals that a folder may have.
const maxSessions = 100_000

func (f Folder) dir() string     { return filepath.Join(f.Root, filepath.FromSlash(Dir)) }
func (f Folder) openDir() string { return filepath.Join(f.dir(), "open") }

func (f Folder) now() time.Time {
	if f.Now == nil {
		return time.Now()
	}
	return f.Now()
}

// Start opens a session; a working tree has at most one. It sets the ID.
func (f Folder) Start(s Started, by Actor) (*Writer, error) {
	release, err := f.prepare()
	if err != nil {
		return nil, fmt.Errorf("start a session: %w", err)
	}
	defer release()
	switch w, err := f.open(); {
	case err == nil:
		return nil, &OpenError{ID: w.session.ID, Began: w.session.Began}
	case !errors.Is(err, ErrNoSession):
		return nil, err
	}
	now := f.now().UTC().Truncate(time.Millisecond)
	if s.ID, err = f.newID(now); err != nil {
		return nil, fmt.Errorf("start a session: %w", err)
	}
	e := clean(Entry{Time: now, Actor: by, Kind: KindStarted, Started: &s})
	line, err := encode(e)
	if err != nil {
		return nil, fmt.Errorf("start a session: %w", err)
	}
	path := filepath.Join(f.openDir(), s.ID+".jsonl")
	if err := disk.WriteAtomic(path, append(line, '\n')); err != nil {
		return nil, fmt.Errorf("start a session: %w", err)
	}
	return f.writer(path)
}

// OpenError says that a session is already open here.
type OpenError struct {
	ID    string
	Began time.Time
}

func (e *OpenError) Error() string {
	return fmt.Sprintf("session %s, started %s, is open here: run `pawl session end`", e.ID, e.Began.Format("2006-01-02 15:04 MST"))
}

// prepare creates the folders, hides the open one from git, and locks out other starts.
func (f Folder) prepare() (release func(), err error) {
	if err := os.MkdirAll(f.openDir(), 0o755); err != nil {
		return nil, err
	}
	ignore := filepath.Join(f.dir(), ".gitignore")
	if _, err := os.Stat(ignore); errors.Is(err, fs.ErrNotExist) {
		if err := disk.WriteAtomic(ignore, []byte("/open/\n")); err != nil {
			return nil, err
		}
	}
	lock, err := os.OpenFile(filepath.Join(f.openDir(), "lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := flock(lock); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return func() { lock.Close() }, nil
}

// newID returns a unique name that sorts by time.
func (f Folder) newID(now time.Time) (string, error) {
	random := f.Rand
	if random == nil {
		random = rand.Reader
	}
	var b [3]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", err
	}
	return now.Format("20060102T150405Z") + "-" + hex.EncodeToString(b[:]), nil
}

// Open returns the open session; ErrNoSession if there is none.
func (f Folder) Open() (*Writer, error) { return f.open() }

func (f Folder) open() (*Writer, error) {
	names, err := journalsIn(f.openDir())
	if err != nil {
		return nil, fmt.Errorf("look for an open session: %w", err)
	}
	for _, name := range slices.Backward(names) {
		w, err := f.writer(filepath.Join(f.openDir(), name))
		switch {
		case errors.Is(err, fs.ErrNotExist): // it ended meanwhile
			continue
		case err != nil:
			return nil, err
		case w.session.Ended != nil: // a crash came between the last line and the move
			if err := w.publish(); err != nil {
				return nil, err
			}
			continue
		}
		return w, nil
	}
	return nil, ErrNoSession
}

// Sessions returns all sessions, by their start. What cannot be read is left out and is in the
// error, which comes together with the others.
func (f Folder) Sessions() ([]*Session, error) {
	paths, err := f.Paths()
	if err != nil {
		return nil, err
	}
	var (
		list []*Session
		errs []error
	)
	for _, path := range paths {
		s, err := ReadFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist): // ended meanwhile, and moved
		case err != nil:
			errs = append(errs, err)
		default:
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b *Session) int { return cmp.Or(a.Began.Compare(b.Began), strings.Compare(a.ID, b.ID)) })
	return list, errors.Join(errs...)
}

// Find returns the path of the session with an id, or of the only one whose id starts or ends so.
// For an empty id it is the open one, or else the last.
func (f Folder) Find(id string) (string, error) {
	paths, err := f.Paths()
	if err != nil {
		return "", err
	}
	if id == "" {
		if len(paths) == 0 {
			return "", errors.New("there is no session here: run `pawl session start`")
		}
		return paths[len(paths)-1], nil // the open one comes last
	}
	var found []string
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		if name == id {
			return path, nil
		}
		if strings.HasPrefix(name, id) || strings.HasSuffix(name, "-"+id) {
			found = append(found, path)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("there is no session %q here: see `pawl session list`", id)
	case 1:
		return found[0], nil
	default:
		return "", fmt.Errorf("%d sessions match %q: write more of the id", len(found), id)
	}
}

// Paths returns the journals: the ended ones, then the open one.
func (f Folder) Paths() ([]string, error) {
	var list []string
	for _, dir := range []string{f.dir(), f.openDir()} {
		names, err := journalsIn(dir)
		if err != nil {
			return nil, fmt.Errorf("list sessions: %w", err)
		}
		for _, name := range names {
			list = append(list, filepath.Join(dir, name))
		}
	}
	return list, nil
}

// journalsIn returns the names of the journals in a folder, sorted.
func journalsIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".jsonl")
		if ok && idForm.MatchString(id) && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	if len(names) > maxSessions {
		return nil, fmt.Errorf("%d journals in %s: the limit is %d", len(names), dir, maxSessions)
	}
	return names, nil
}
