package disk

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// Errors of this package, besides those of os.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrTooLarge   = errors.New("too large")
)

// OpenRegular opens a regular file for reading, also through a link. It refuses devices and named pipes, and never waits
// for a writer. Stdin and other open descriptors may be pipes.
func OpenRegular(path string) (*os.File, error) {
	if path == "/dev/stdin" || strings.HasPrefix(path, "/dev/fd/") {
		return os.Open(path)
	}
	return openRegular(path, os.O_RDONLY)
}

// OpenNoLink opens a regular file in a folder that others may write to: it follows no link, and waits for no pipe.
func OpenNoLink(path string, flag int) (*os.File, error) {
	return openRegular(path, flag|syscall.O_NOFOLLOW)
}

func openRegular(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", path, ErrNotRegular)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ReadRegular reads a regular file of at most limit bytes. It refuses links, devices and pipes,
// and never waits for a writer.
func ReadRegular(path string, limit int64) ([]byte, error) {
	named, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !named.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w: links, devices and pipes are refused", path, ErrNotRegular)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(named, opened) { // it was replaced after the check
		return nil, fmt.Errorf("%s: %w: it changed while it was opened", path, ErrNotRegular)
	}
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("%s: %w: more than %d bytes", path, ErrTooLarge, limit)
	}
	return text, err
}
