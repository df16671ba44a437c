// Package shell runs a user's command line, such as a build or a harness. Each command has its
// own process group, which is killed as a whole, and an environment that cannot point git to
// the wrong repository. The package knows processes, but not their purpose.
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

// Grace is how long to wait for a command's output after the command has ended. A process
// that it started may hold its output open forever.
const Grace = 5 * time.Second

// Command prepares a command line for sh, for Start or Run. When ctx ends, the whole process
// group is killed. If pawl dies, the kernel kills the command itself; its children must notice
// their closed pipes. The command has a session of its own. A process cannot join pawl's
// session, so orphans of the command are distinct from processes that pawl starts for itself.
func Command(ctx context.Context, line, dir string, env []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", direct(line))
	cmd.Dir = dir
	cmd.Env = append(Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return Kill(cmd) }
	cmd.WaitDelay = Grace
	return cmd
}

// direct prefixes a plain command with exec, so that a signal sent to the shell reaches the
// program. Lines that need a shell stay as they are.
func direct(line string) string {
	if strings.ContainsAny(line, ";&|<>()$`\n*?[]#~={}!") || strings.HasPrefix(strings.TrimSpace(line), "exec ") {
		return line
	}
	first, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch first {
	case "", "cd", "exit", "export", "set", "unset", "ulimit", "umask", "eval", ".", "source", "if", "for", "while", "case", "true", "false", ":", "test":
		return line // a shell builtin or keyword
	}
	return "exec " + line
}

// Kill kills the process group of a started command.
func Kill(cmd *exec.Cmd) error {
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("cannot kill %s: %w", cmd.Path, err)
	}
	return nil
}

// gitLocal lists the variables that tell a child of git which repository it is in, as
// printed by git rev-parse --local-env-vars. They are set in a hook that runs pawl, where
// they would make every git command work on the wrong tree.
var gitLocal = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_OBJECT_DIRECTORY",
	"GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_INDEX_FILE", "GIT_NO_REPLACE_OBJECTS",
	"GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_COMMON_DIR", "GIT_INTERNAL_SUPER_PREFIX",
}

// Environ returns pawl's own environment without the variables in gitLocal.
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

// Quote returns a word as one literal word of a command line.
func Quote(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:%@") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
