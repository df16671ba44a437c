package shell

import (
	"context"
	"os/exec"
)

// GitOutput runs git in a folder and returns what it prints.
func GitOutput(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append(Environ(), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	cmd.WaitDelay = Grace
	out, err := cmd.Output()
	return string(out), err
}
