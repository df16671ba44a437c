package shell

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
)

// untrustedConfig switches off everything that a repository can make git run: hooks, filters such as LFS, monitors, submodules, transports.
var untrustedConfig = []string{
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "submodule.recurse=false", "-c", "protocol.allow=never",
	"-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.autocrlf=false", "-c", "advice.detachedHead=false",
}

const untrustedTimeout = 10 * time.Minute

// GitUntrusted runs git on a repository that others wrote, and returns the end of what it prints. It sees nothing of the machine's
// configuration and environment but env, and home as its home. Options before the command override the safe ones.
func GitUntrusted(ctx context.Context, home string, env []string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, untrustedTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append(append([]string{}, untrustedConfig...), args...)...)
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LC_ALL=C", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_LFS_SKIP_SMUDGE=1", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(home),
	}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	out, problems := &Tail{Max: 4 << 10}, &Tail{Max: 1000}
	cmd.Stdout, cmd.Stderr = out, problems
	err := cmd.Run()
	if exit, ended := errors.AsType[*exec.ExitError](err); ended {
		for len(args) > 2 && (args[0] == "-C" || args[0] == "-c") {
			args = args[2:]
		}
		return "", fmt.Errorf("git %s: %w: %s", args[0], exit, strings.ToValidUTF8(strings.TrimSpace(string(problems.Bytes())), "?"))
	}
	return string(out.Bytes()), err
}
