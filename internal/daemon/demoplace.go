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

// demoPrefix begins the name of every folder of a demo.
const demoPrefix = "pawld-demo-"

// demoPlace is the folder of a demo. A second process watches over it: it notices when
// this one ends, however that was, ends the PostgreSQL and removes the folder. There is
// no other way of cleaning up, so that the one there is is used every time.
type demoPlace struct {
	dir   string
	guard *exec.Cmd
	alive io.Closer // closed when this process ends, by us or by the kernel
}

func newDemoPlace() (*demoPlace, error) {
	sweepDemos(os.TempDir())
	dir, err := os.MkdirTemp("", demoPrefix)
	if err != nil {
		return nil, fmt.Errorf("making a folder for the demo: %w", err)
	}
	p := &demoPlace{dir: dir}
	self, err := os.Executable()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("finding this program, to watch over the demo: %w", err), os.RemoveAll(dir))
	}
	p.guard = exec.CommandContext(context.Background(), self, "guard", dir) // it outlives every context of ours
	p.guard.SysProcAttr = &syscall.SysProcAttr{Setsid: true}                // an interrupt of the terminal is not for it
	in, err := p.guard.StdinPipe()
	if err == nil {
		p.alive = in
		err = p.guard.Start()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting what watches over the demo: %w", err), os.RemoveAll(dir))
	}
	return p, nil
}

// close lets the guard clean up, and waits for it.
func (p *demoPlace) close() {
	_ = p.alive.Close()
	_ = p.guard.Wait()
}

// newGuard is the process that watches over a demo. It is not for people.
func newGuard(*globals) *cobra.Command {
	return &cobra.Command{
		Use:    "guard FOLDER",
		Short:  "Remove the folder of a demo when its process ends",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := args[0]
			if !strings.HasPrefix(filepath.Base(dir), demoPrefix) {
				return usageError{fmt.Errorf("%s is no folder of a demo", dir)}
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

// lockDemo marks a folder as watched over: the kernel lets go of the lock when the guard
// dies too.
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

// sweepDemos removes what demos left behind whose guard was killed as well. A folder
// that is younger than a minute may belong to one that is just starting.
func sweepDemos(tmp string) {
	found, _ := filepath.Glob(filepath.Join(tmp, demoPrefix+"*"))
	for _, dir := range found {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < time.Minute || !mine(dir, info) {
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

// mine tells whether we made a folder: the guard's file in it is ours, or it has none and
// is ours itself. Anybody can make a folder of that name, and root must not trust it.
func mine(dir string, info os.FileInfo) bool {
	if guard, err := os.Lstat(filepath.Join(dir, "guard")); err == nil {
		info = guard
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}

// removeDemo ends the PostgreSQL in a folder, and removes the folder.
func removeDemo(dir string) error {
	pidFile := filepath.Join(dir, "data", "postmaster.pid")
	if text, err := os.ReadFile(pidFile); err == nil {
		line, _, _ := strings.Cut(string(text), "\n")
		if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && isPostgres(pid, dir) {
			_ = syscall.Kill(pid, syscall.SIGQUIT) // at once: nothing of it is kept
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

// isPostgres tells whether a process is the PostgreSQL of this folder: numbers are used
// again, and another process must not be ended in its place.
func isPostgres(pid int, dir string) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && strings.Contains(string(text), filepath.Join(dir, "data"))
}
