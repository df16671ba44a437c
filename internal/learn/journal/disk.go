package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// patience is how long to wait for the lock of a journal. Its holder writes one line: one that
// takes longer is suspended, and a command must not wait for it.
const patience = 10 * time.Second

// flock locks a file. The lock ends with the process.
func flock(f *os.File) error {
	var waited time.Duration
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, syscall.EINTR):
			continue
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return &fs.PathError{Op: "flock", Path: f.Name(), Err: err}
		case waited >= patience:
			return fmt.Errorf("%s: another process holds the lock for %s", f.Name(), patience)
		}
		time.Sleep(wait)
		waited += wait
	}
}
