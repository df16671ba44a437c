package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/shell"
)

// program is an installed tool with its version and help. Options differ between releases: pawl
// passes only those that the help lists.
type program struct {
	path    string
	version string // 2024.1.1.0
	help    string
}

var versionNumber = lazyregexp.New(`\b(20\d\d(?:\.\d+){1,4})`)

// openProgram reads the version and the help of a tool.
func openProgram(ctx context.Context, path string, help ...string) (program, error) {
	p := program{path: path}
	said, err := p.output(ctx, 0, "--version")
	if err != nil {
		return program{}, fmt.Errorf("cannot get the version of %s: %w: is it an NVIDIA tool that runs on this machine?", path, err)
	}
	m := versionNumber.FindSubmatch(said)
	if m == nil {
		return program{}, fmt.Errorf("cannot get the version of %s: it says %.80q: is it an NVIDIA tool?", path, bytes.TrimSpace(said))
	}
	p.version = string(m[1])
	if said, err = p.output(ctx, 0, help...); err != nil {
		return program{}, fmt.Errorf("cannot get the options of %s: %w", path, err)
	}
	p.help = string(said)
	return p, nil
}

// supports reports whether the tool's help lists an option.
func (p program) supports(option string) bool {
	for rest := p.help; ; {
		i := strings.Index(rest, option)
		if i < 0 {
			return false
		}
		rest = rest[i+len(option):]
		if rest == "" || !strings.ContainsAny(rest[:1], "-abcdefghijklmnopqrstuvwxyz0123456789") {
			return true // not just the prefix of a longer one
		}
	}
}

const (
	// maxOutput is the max output of a tool in bytes: a report of a thousand kernels is a hundred
	// megabytes of CSV, of which the readers accept 64.
	maxOutput = 80 << 20
	// toolTimeout is the timeout of a tool that runs no kernel.
	toolTimeout = 2 * time.Minute
)

// ncuEnv is ncu's environment. It keeps ncu from copying its sections into the user's home and from
// reading edited copies there.
var ncuEnv = []string{"NV_COMPUTE_PROFILER_DISABLE_STOCK_FILE_DEPLOYMENT=1"}

// output runs the tool without a harness and returns its stdout. Tools print errors to stdout or
// stderr; the error contains both.
func (p program) output(ctx context.Context, most int, args ...string) ([]byte, error) {
	if most <= 0 {
		most = 4 << 20
	}
	ctx, cancel := context.WithTimeout(ctx, toolTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.path, args...)
	cmd.Env = append(shell.Environ(), ncuEnv...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return shell.Kill(cmd) }
	cmd.WaitDelay = shell.Grace
	out, complaints := &shell.Head{Max: most}, &shell.Head{Max: 64 << 10}
	cmd.Stdout, cmd.Stderr = out, complaints
	err := cmd.Run()
	switch {
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return nil, fmt.Errorf("no answer after %v", toolTimeout)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case out.Over:
		return nil, fmt.Errorf("it printed more than %d MB", most>>20)
	case err != nil:
		return out.Bytes(), &outputError{err, string(slices.Concat(tail(out), []byte("\n"), complaints.Bytes()))}
	}
	return out.Bytes(), nil
}

// outputError is a failure with everything the tool printed.
type outputError struct {
	err  error
	text string
}

func (s *outputError) Error() string {
	if why, _, found := findComplaint(s.text); found {
		return why
	}
	return fmt.Sprintf("%v: %.200s", s.err, strings.Join(strings.Fields(s.text), " "))
}

func (s *outputError) Unwrap() error { return s.err }

// outputOf returns what a tool printed when it failed; empty for any other error.
func outputOf(err error) string {
	if s, ok := errors.AsType[*outputError](err); ok {
		return s.text
	}
	return ""
}

// tail returns the end of the output, where errors are.
func tail(h *shell.Head) []byte { return h.Bytes()[max(0, h.Len()-(64<<10)):] }
