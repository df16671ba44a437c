package smi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/shell"
)

const (
	callTimeout = 30 * time.Second // the first call may have to load the driver
	maxOutput   = 1 << 20
)

// Exit codes of nvidia-smi, which are NVML's return codes.
const (
	exitNotSupported    = 3
	exitNoPermission    = 4
	exitDriverNotLoaded = 9
	exitNoLibrary       = 12
)

// run runs nvidia-smi and returns its output.
func (t *Tool) run(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	out := shell.Head{Max: maxOutput}
	cmd := exec.CommandContext(ctx, t.path, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Second // a child of a wrapper script may hold the pipe
	err := cmd.Run()
	text := out.String()
	switch {
	case err == nil && strings.Contains(text, "Treating as warning"):
		// It reports a setting that it could not make, yet exits with code 0.
		return text, fmt.Errorf("%s: %s: %w", t.call(args), firstLine(text), errors.ErrUnsupported)
	case err == nil:
		return text, nil
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s: %w", t.call(args), ctx.Err())
	}
	return text, fmt.Errorf("%s: %s: %w", t.call(args), firstLine(text), classify(err))
}

func (t *Tool) call(args []string) string { return t.path + " " + strings.Join(args, " ") }

// classify maps an exit code to the error that callers test for.
func classify(err error) error {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return err
	}
	switch exit.ExitCode() {
	case exitNoPermission:
		return fs.ErrPermission
	case exitNotSupported:
		return errors.ErrUnsupported
	default:
		return err
	}
}

func exitCode(err error) int {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	return -1
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if len(line) > 300 {
		line = line[:300] + "..."
	}
	if line == "" {
		return "no message"
	}
	return strings.ToValidUTF8(strings.TrimSpace(line), "?")
}
