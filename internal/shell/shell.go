// Package shell runs a user's command line, the way builds and harnesses are
// started: in a process group of its own that is killed as a whole, with an environment
// that does not lead git astray. It knows processes, not what they are for.
package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Grace is how long a command's output is waited for after it has ended: a
// process that it started may hold it open for ever.
const Grace = 5 * time.Second

// Command prepares a command line for sh, to be started with Start or Run. When ctx ends,
// the whole process group is killed. When pawl dies without a word, the kernel kills the
// command itself; what that started must notice by its closed pipes. The command has a
// session of its own: a process cannot leave its session for pawl's, so that orphans of
// the command are told from what pawl starts for itself.
func Command(ctx context.Context, line, dir string, env []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", direct(line))
	cmd.Dir = dir
	cmd.Env = append(Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return Kill(cmd) }
	cmd.WaitDelay = Grace
	return cmd
}

// direct lets a plain command take the shell's place, so that a signal for the
// shell reaches the program. What only a shell understands is left alone.
func direct(line string) string {
	if strings.ContainsAny(line, ";&|<>()$`\n*?[]#~={}!") || strings.HasPrefix(strings.TrimSpace(line), "exec ") {
		return line
	}
	first, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch first {
	case "", "cd", "exit", "export", "set", "unset", "ulimit", "umask", "eval", ".", "source", "if", "for", "while", "case", "true", "false", ":", "test":
		return line // a word of the shell's own
	}
	return "exec " + line
}

// Kill ends the process group of a started command.
func Kill(cmd *exec.Cmd) error {
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("kill %s: %w", cmd.Path, err)
	}
	return nil
}

// gitLocal are the variables by which git tells its children which repository
// they are in, as git rev-parse --local-env-vars lists them. A hook that runs pawl has
// them set, and they would make every git command work on the wrong tree.
var gitLocal = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_OBJECT_DIRECTORY",
	"GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_INDEX_FILE", "GIT_NO_REPLACE_OBJECTS",
	"GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_COMMON_DIR", "GIT_INTERNAL_SUPER_PREFIX",
}

// Environ is pawl's own environment without what would lead git astray.
func Environ() []string {
	var env []string
next:
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		for _, local := range gitLocal {
			if name == local {
				continue next
			}
		}
		env = append(env, kv)
	}
	return env
}
