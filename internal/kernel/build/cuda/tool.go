package cuda

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/shell"
)

// ErrNoTool reports that a program of the CUDA toolkit is not installed.
var ErrNoTool = errors.New("not found")

// Tool returns the path of a program of the toolkit: on the PATH, in CUDA_HOME or CUDA_PATH, or in
// the usual location.
func Tool(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, home := range []string{os.Getenv("CUDA_HOME"), os.Getenv("CUDA_PATH"), "/usr/local/cuda"} {
		path := filepath.Join(home, "bin", name)
		info, err := os.Stat(path) //nolint:gosec // the user names the toolkit by CUDA_HOME
		if home != "" && err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: %w: it is part of the CUDA toolkit; add the toolkit's bin folder to PATH, or set CUDA_HOME to the toolkit", name, ErrNoTool)
}

// Limits on the output and the run time of a tool.
const (
	maxOutput   = 512 << 20
	toolTimeout = 2 * time.Minute
)

// run runs a tool with the input stdin and returns its output.
func run(ctx context.Context, dir, stdin, tool string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, toolTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(stdin)
	out, errs := shell.Head{Max: maxOutput}, shell.Head{Max: maxOutput}
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		said := strings.TrimSpace(errs.String() + "\n" + out.String())
		return "", fmt.Errorf("%s %s: %w: %.400s", filepath.Base(tool), strings.Join(args, " "), err, said)
	}
	if out.Over {
		return "", fmt.Errorf("%s %s printed more than %d MB", filepath.Base(tool), strings.Join(args, " "), maxOutput>>20)
	}
	return out.String(), nil
}

// Output runs a tool that reads compiled files and returns its output, within the limits of this
// package.
func Output(ctx context.Context, tool string, args ...string) (string, error) {
	return run(ctx, "", "", tool, args...)
}
