package device

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// LockDirVar names a folder for the locks other than the default ones.
const LockDirVar = "PAWL_LOCK_DIR"

// defaultLockDirs are tried in this order. The first is the machine's folder for
// locks and is emptied at boot, as are the settings of GPUs; where only root may
// create it and nobody has, the second serves.
var defaultLockDirs = []string{"/run/lock/pawl", "/var/tmp/pawl-locks"}

// lockDir is an open folder of locks. All access goes through the open folder, so
// that nobody can put another in its place meanwhile.
type lockDir struct {
	*os.Root
	path string
}

// openLockDir opens the folder, and makes it if need be, for all users: sticky,
// so that they cannot remove each other's files.
func openLockDir(path string) (*lockDir, error) {
	err := os.Mkdir(path, 0o777)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(path, 0o777)
	}
	switch {
	case err == nil:
		// Mkdir obeys the umask of whoever came first.
		if err := os.Chmod(path, os.ModeSticky|0o777); err != nil {
			return nil, fmt.Errorf("opening the lock folder %s to all users: %w", path, err)
		}
	case !errors.Is(err, fs.ErrExist):
		return nil, fmt.Errorf("making the lock folder: %w", err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("opening the lock folder: %w", err)
	}
	// A symlink may point anywhere, and its owner may change it while we work.
	named, err := os.Lstat(path)
	if err == nil {
		var open fs.FileInfo
		if open, err = root.Stat("."); err == nil && !os.SameFile(named, open) {
			err = errors.New("it is a symbolic link, or was just replaced")
		}
	}
	if err != nil {
		root.Close()
		return nil, fmt.Errorf("the lock folder %s cannot be trusted: %w; remove it, or set %s to a folder of your own", path, err, LockDirVar)
	}
	return &lockDir{Root: root, path: path}, nil
}

// lockDirs are the folders to try, most wanted first.
func lockDirs(opts LockOptions) []string {
	if opts.Dir != "" {
		return []string{opts.Dir}
	}
	if dir := os.Getenv(LockDirVar); dir != "" {
		return []string{dir}
	}
	return defaultLockDirs
}

// fileName makes a lock's name fit for a file: a UUID comes from a driver, and a
// driver is input like any other.
func fileName(lock string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		default:
			return '_'
		}
	}, lock)
	return clean[:min(len(clean), 100)]
}

// openLockFile opens the file to lock, and makes it if need be. It refuses
// anything but a plain file with one name: a symbolic or hard link placed there
// by another user could make us write elsewhere.
func (d *lockDir) openLockFile(name string) (*os.File, error) {
	f, err := d.openOrCreate(name)
	if err != nil {
		return nil, err
	}
	if err := d.check(f, name); err != nil {
		f.Close()
		return nil, fmt.Errorf("the lock file %s/%s cannot be trusted: %w; remove it", d.path, name, err)
	}
	return f, nil
}

func (d *lockDir) openOrCreate(name string) (*os.File, error) {
	for range openAttempts {
		// Not with O_CREATE: kernels refuse that for files of other users in
		// shared folders, even to root.
		f, err := d.OpenFile(name, os.O_RDWR|nonBlocking, 0)
		if errors.Is(err, fs.ErrPermission) {
			// Its maker died before opening it to all. Reading is enough to lock it.
			f, err = d.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
		f, err = d.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue // someone was faster
		}
		if err != nil {
			return nil, err
		}
		if err := f.Chmod(0o666); err != nil {
			f.Close()
			return nil, err
		}
		return f, nil
	}
	return nil, fmt.Errorf("the lock file %s/%s can be neither opened nor made; remove it", d.path, name)
}

// openAttempts bounds how often a file that comes and goes is tried: someone may
// play with it, or have put a link to nowhere in its place.
const openAttempts = 100

// check says what is wrong with an open file, nil if it is what name still names.
func (d *lockDir) check(f *os.File, name string) error {
	open, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := d.Lstat(name)
	if err != nil {
		return err
	}
	switch {
	case !named.Mode().IsRegular():
		return errors.New("it is not a plain file")
	case !os.SameFile(open, named):
		return errReplaced
	case links(open) > 1:
		return errors.New("it has a second name")
	}
	return nil
}

// errReplaced says that a file was removed and made again since it was opened, as
// programs that clean up temporary folders do.
var errReplaced = errors.New("it was just replaced")
