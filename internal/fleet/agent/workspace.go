package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/base/shell"
)

// prepare makes the workspace of a lease: a new repository with the two commits, and nothing of the machine's or the bundle's
// configuration. A workspace that an earlier attempt finished is used again.
func (a *Agent) prepare(ctx context.Context, d *leaseDir) error {
	ready := d.file("ready")
	if _, err := os.Stat(ready); err == nil {
		return nil
	}
	if err := removeAll(d.file("work")); err != nil {
		return fmt.Errorf("cannot clear a workspace: %w", err)
	}
	if err := a.fetch(ctx, d); err != nil {
		return err
	}
	if err := a.checkout(ctx, d); err != nil {
		return err
	}
	if err := os.Remove(d.file("bundle")); err != nil {
		return fmt.Errorf("cannot remove a bundle: %w", err)
	}
	if err := disk.WriteAtomic(ready, nil); err != nil {
		return fmt.Errorf("cannot prepare a workspace: %w", err)
	}
	return nil
}

// checkout unpacks the bundle and checks out the head. Errors of git are those of the bundle, and stay.
func (a *Agent) checkout(ctx context.Context, d *leaseDir) error {
	work := d.file("work")
	format := "sha1"
	if len(d.lease.Base) == 64 {
		format = "sha256"
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--template=", "--object-format=" + format, work},
		{"-C", work, "bundle", "unbundle", d.file("bundle")},
		{"-C", work, "cat-file", "-e", d.lease.Base + "^{commit}"},
		{"-C", work, "cat-file", "-e", d.lease.Head + "^{commit}"},
		{"-C", work, "update-ref", "refs/pawl/base", d.lease.Base}, // keeps it from being collected
		{"-C", work, "checkout", "--quiet", "--detach", "--no-recurse-submodules", d.lease.Head},
	} {
		if err := git(ctx, d.path, args); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return permanent(fmt.Errorf("cannot check out the commits of the lease: %w", err))
		}
	}
	return nil
}

// gitConfig switches off everything that a repository can make git run: hooks, filters such as LFS, monitors, submodules, transports.
var gitConfig = []string{
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "submodule.recurse=false", "-c", "protocol.allow=never",
	"-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.autocrlf=false", "-c", "advice.detachedHead=false",
}

const gitTimeout = 10 * time.Minute

func git(ctx context.Context, home string, args []string) error {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append(append([]string{}, gitConfig...), args...)...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LC_ALL=C", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_LFS_SKIP_SMUDGE=1", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(home),
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	out := &shell.Tail{Max: 1000}
	cmd.Stderr = out
	err := cmd.Run()
	if exit, ended := errors.AsType[*exec.ExitError](err); ended {
		command := args[0]
		if command == "-C" {
			command = args[2]
		}
		return fmt.Errorf("git %s: %w: %s", command, exit, strings.ToValidUTF8(strings.TrimSpace(string(out.Bytes())), "?"))
	}
	return err
}
