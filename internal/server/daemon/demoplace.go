package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// demoPrefix is the prefix of every demo folder.
const demoPrefix = "pawld-demo-"

// demoDir is the folder of a demo. A second process, the guard, notices when this one ends, for whatever
// reason; it then stops PostgreSQL and removes the folder. There is no other cleanup, so that this one is
// exercised every time.
type demoDir struct {
	dir   string
	guard *exec.Cmd
	alive io.Closer // closed when this process ends, by the process or by the kernel
}

func newDemoPlace() (*demoDir, error) {
	sweepDemos(os.TempDir())
	dir, err := os.MkdirTemp("", demoPrefix)
	if err != nil {
		return nil, fmt.Errorf("cannot create a folder for the demo: %w", err)
	}
	p := &demoDir{dir: dir}
	self, err := os.Executable()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot find this program, to clean up after the demo: %w", err), os.RemoveAll(dir))
	}
	p.guard = exec.CommandContext(context.Background(), self, "guard", dir) // it must outlive every context here
	p.guard.SysProcAttr = &syscall.SysProcAttr{Setsid: true}                // keeps the terminal's interrupt from it
	in, err := p.guard.StdinPipe()
	if err == nil {
		p.alive = in
		err = p.guard.Start()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot start the process that cleans up after the demo: %w", err), os.RemoveAll(dir))
	}
	return p, nil
}

// close starts the guard's cleanup and waits for it.
func (p *demoDir) close() {
	_ = p.alive.Close()
	_ = p.guard.Wait()
}

// newGuard returns the hidden command of the guard process.
func newGuard(*globals) *cobra.Command {
	return &cobra.Command{
		Use:    "guard FOLDER",
		Short:  "Remove the folder of a demo when its process ends",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := args[0]
			if !strings.HasPrefix(filepath.Base(dir), demoPrefix) {
				return usageError{fmt.Errorf("%s is not a demo folder", dir)}
			}
			lock, err := lockDemo(dir)
			if err != nil {
				return err
			}
			defer lock.Close()
			_, _ = io.Copy(io.Discard, os.Stdin)
			return removeDemo(dir)
		},
	}
}

// lockDemo marks a folder as guarded. The kernel releases the lock if the guard dies too.
func lockDemo(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "guard"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// sweepDemos removes the folders of demos whose guard was killed too. A folder younger than a minute may
// belong to a demo that is just starting.
func sweepDemos(tmp string) {
	found, _ := filepath.Glob(filepath.Join(tmp, demoPrefix+"*"))
	for _, dir := range found {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < time.Minute || !ownedByUser(dir, info) {
			continue
		}
		lock, err := lockDemo(dir)
		if err != nil {
			continue
		}
		_ = removeDemo(dir)
		_ = lock.Close()
	}
}

// ownedByUser reports whether the current user created a folder: the user owns the guard's file in it, or there is
// none and the user owns the folder. Any user can create a folder with that name, and root must not trust it.
func ownedByUser(dir string, info os.FileInfo) bool {
	if guard, err := os.Lstat(filepath.Join(dir, "guard")); err == nil {
		info = guard
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}

// removeDemo stops the PostgreSQL in a folder and removes the folder.
func removeDemo(dir string) error {
	pidFile := filepath.Join(dir, "data", "postmaster.pid")
	if text, err := os.ReadFile(pidFile); err == nil {
		line, _, _ := strings.Cut(string(text), "\n")
		if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && isPostgres(pid, dir) {
			_ = syscall.Kill(pid, syscall.SIGQUIT) // immediate shutdown: no data is kept
			for range 500 {
				if !isPostgres(pid, dir) {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
		}
	}
	var err error
	for range 20 { // its children may still write
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// isPostgres reports whether a process is the PostgreSQL of this folder. Process ids are reused, and no other
// process must be killed.
func isPostgres(pid int, dir string) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && strings.Contains(string(text), filepath.Join(dir, "data"))
}
