//go:build unix

package device

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// nonBlocking keeps an open from hanging if a pipe replaced the file.
const nonBlocking = syscall.O_NONBLOCK

// tryLock locks an open file, or returns false if another process has the lock.
func tryLock(f *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case errors.Is(err, syscall.EINTR):
			continue
		default:
			return false, &fs.PathError{Op: "flock", Path: f.Name(), Err: err}
		}
	}
}

// links returns the number of names a file has.
func links(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink) //nolint:unconvert // its type differs by system
	}
	return 1
}

// ownedByUserOrRoot reports whether a file belongs to this user or to root.
func ownedByUserOrRoot(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && (st.Uid == 0 || int(st.Uid) == os.Getuid())
}
