package device

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// LockDirVar is the environment variable that overrides the default lock folders.
const LockDirVar = "PAWL_LOCK_DIR"

// defaultLockDirs are tried in this order. The first is the machine's folder for locks.
// Like GPU settings, it is cleared at boot. If only root may create it and it does not
// exist, the second is used.
var defaultLockDirs = []string{"/run/lock/pawl", "/var/tmp/pawl-locks"}

// lockDir is an open folder of locks. All access goes through the open folder, so
// that it cannot be replaced by another one meanwhile.
type lockDir struct {
	*os.Root
	path string
}

// openLockDir opens the folder, and creates it if needed, for all users. It is sticky,
// so that users cannot remove each other's files.
func openLockDir(path string) (*lockDir, error) {
	err := os.Mkdir(path, 0o777)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(path, 0o777)
	}
	switch {
	case err == nil:
		// Mkdir applies the umask of the process that creates the folder.
		if err := os.Chmod(path, os.ModeSticky|0o777); err != nil {
			return nil, fmt.Errorf("cannot make the lock folder %s writable for all users: %w", path, err)
		}
	case !errors.Is(err, fs.ErrExist):
		return nil, fmt.Errorf("cannot create the lock folder: %w", err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the lock folder: %w", err)
	}
	// A symlink may point anywhere, and its owner may change it meanwhile.
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

// lockDirs returns the folders to try, preferred first.
func lockDirs(opts LockOptions) []string {
	if opts.Dir != "" {
		return []string{opts.Dir}
	}
	if dir := os.Getenv(LockDirVar); dir != "" {
		return []string{dir}
	}
	return defaultLockDirs
}

// fileName turns a lock's name into a file name. A UUID comes from a driver, whose
// output is untrusted like any other input.
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

// openLockFile opens the file to lock, and creates it if needed. It accepts only a
// regular file with one name: with a symbolic or hard link, another user could make
// pawl write elsewhere.
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
		// Without O_CREATE: kernels refuse that for files of other users in shared
		// folders, even for root.
		f, err := d.OpenFile(name, os.O_RDWR|nonBlocking, 0)
		if errors.Is(err, fs.ErrPermission) {
			// Its creator died before making it writable for all. Read access is enough to lock it.
			f, err = d.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
		f, err = d.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue // another process was faster
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
	return nil, fmt.Errorf("cannot open or create the lock file %s/%s; remove it", d.path, name)
}

// openAttempts bounds the retries for a file that appears and disappears: another user may
// be interfering, or it may be a dangling link.
const openAttempts = 100

// check returns an error if an open file cannot be trusted or is no longer the file called name.
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
		return errors.New("it is not a regular file")
	case !os.SameFile(open, named):
		return errReplaced
	case links(open) > 1:
		return errors.New("it has more than one hard link")
	}
	return nil
}

// errReplaced means that a file was removed and created again since it was opened, as
// programs that clean up temporary folders do.
var errReplaced = errors.New("it was just replaced")
