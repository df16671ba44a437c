package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/goatnote-inc/pawl/internal/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/shell"
)

// program is a tool that is installed, and what it says of itself. Options come and
// go from release to release: what its own help names is passed, nothing else.
type program struct {
	path    string
	version string // 2024.1.1.0
	help    string
}

var versionNumber = lazyregexp.New(`\b(20\d\d(?:\.\d+){1,4})`)

// openProgram asks a tool who it is.
func openProgram(ctx context.Context, path string, help ...string) (program, error) {
	p := program{path: path}
	said, err := p.say(ctx, 0, "--version")
	if err != nil {
		return program{}, fmt.Errorf("ask %s for its version: %w: is it an NVIDIA tool, and does it run here?", path, err)
	}
	m := versionNumber.FindSubmatch(said)
	if m == nil {
		return program{}, fmt.Errorf("ask %s for its version: it says %.80q: is it an NVIDIA tool?", path, bytes.TrimSpace(said))
	}
	p.version = string(m[1])
	if said, err = p.say(ctx, 0, help...); err != nil {
		return program{}, fmt.Errorf("ask %s for its options: %w", path, err)
	}
	p.help = string(said)
	return p, nil
}

// knows tells whether the tool's help names an option.
func (p program) knows(option string) bool {
	for rest := p.help; ; {
		i := strings.Index(rest, option)
		if i < 0 {
			return false
		}
		rest = rest[i+len(option):]
		if rest == "" || !strings.ContainsAny(rest[:1], "-abcdefghijklmnopqrstuvwxyz0123456789") {
			return true // and not only a longer one that begins alike
		}
	}
}

const (
	// mostSaid bounds what a tool may print: a report of a thousand kernels is a
	// hundred megabytes of CSV, of which the readers take 64.
	mostSaid = 80 << 20
	// patience is how long a tool may take that runs no kernel.
	patience = 2 * time.Minute
)

// quiet is what ncu needs in its environment: it would copy its sections into the
// user's home, and read from there what somebody has edited.
var quiet = []string{"NV_COMPUTE_PROFILER_DISABLE_STOCK_FILE_DEPLOYMENT=1"}

// say runs the tool alone, without a harness, and returns what it prints on stdout.
// Its complaints go there or to stderr as it pleases: the error has them all.
func (p program) say(ctx context.Context, most int, args ...string) ([]byte, error) {
	if most <= 0 {
		most = 4 << 20
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.path, args...)
	cmd.Env = append(shell.Environ(), quiet...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return shell.Kill(cmd) }
	cmd.WaitDelay = shell.Grace
	out, complaints := &limited{most: most}, &limited{most: 64 << 10}
	cmd.Stdout, cmd.Stderr = out, complaints
	err := cmd.Run()
	switch {
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return nil, fmt.Errorf("no answer after %v", patience)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case out.over:
		return nil, fmt.Errorf("it printed more than %d MB", most>>20)
	case err != nil:
		return out.Bytes(), &said{err, string(slices.Concat(out.tail(), []byte("\n"), complaints.Bytes()))}
	}
	return out.Bytes(), nil
}

// said is a failure with everything that the tool printed.
type said struct {
	err  error
	text string
}

func (s *said) Error() string {
	if why, _, found := explained(s.text); found {
		return why
	}
	return fmt.Sprintf("%v: %.200s", s.err, strings.Join(strings.Fields(s.text), " "))
}

func (s *said) Unwrap() error { return s.err }

// printed is what a tool said when it failed; empty where it was not the tool.
func printed(err error) string {
	if s, ok := errors.AsType[*said](err); ok {
		return s.text
	}
	return ""
}

// limited keeps what is printed up to a limit.
type limited struct {
	bytes.Buffer
	most int
	over bool
}

func (l *limited) Write(b []byte) (int, error) {
	if l.Len()+len(b) > l.most {
		l.over = true
		return len(b), nil // the tool is not to fail of it
	}
	return l.Buffer.Write(b)
}

// tail is the end of it, where complaints stand.
func (l *limited) tail() []byte { return l.Bytes()[max(0, l.Len()-(64<<10)):] }

var _ io.Writer = (*limited)(nil)
