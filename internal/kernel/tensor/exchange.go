package tensor

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Tensors are exchanged through folders that untrusted processes can write to. Any file in them may
// be a link to elsewhere, an endless pipe, or of any size.

// openNoFollow opens a file without following links: neither the file nor its folder may be one.
func openNoFollow(path string, flags int) (*os.File, error) {
	dir, err := unix.Open(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: filepath.Dir(path), Err: err}
	}
	defer func() { _ = unix.Close(dir) }()
	name := filepath.Base(path)
	if flags&unix.O_CREAT != 0 {
		if err := unix.Unlinkat(dir, name, 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, &fs.PathError{Op: "replace", Path: path, Err: err}
		}
		flags |= unix.O_EXCL
	}
	fd, err := unix.Openat(dir, name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600)
	if errors.Is(err, unix.ELOOP) {
		err = errors.New("it is a link, not a file")
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// create creates a new file. It replaces an existing file of that name.
func create(path string) (*os.File, error) { return openNoFollow(path, unix.O_CREAT|unix.O_WRONLY) }

// read returns the content of a regular file of up to limit bytes.
func read(path string, limit int64) ([]byte, error) {
	f, err := openNoFollow(path, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	case info.Size() > limit:
		return nil, fmt.Errorf("the file has %d bytes, the limit is %d", info.Size(), limit)
	}
	data := make([]byte, info.Size())
	_, err = io.ReadFull(f, data)
	return data, err
}
