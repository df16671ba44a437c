package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	maxOutput  = 1 << 20                // of what a command answers
	maxLine    = 64 << 10               // of what it says meanwhile
	stderrTail = 16 << 10               // kept of what it says that is no event
	grace      = 700 * time.Millisecond // from the request to end to the end
)

// cancelled is why a command was ended, and what that means.
const (
	cancelled      = "cancelled"
	cancelledMeans = "cancelled; what was done is kept"
)

// outcome is what came of a command.
type outcome struct {
	exit    int
	stdout  []byte
	cut     bool   // stdout was longer than maxOutput
	said    string // on stderr, but for events; its end
	seconds float64
	limit   string // why it was ended: time or cancelled; empty if it ended by itself
}

// run starts pawl with these arguments and waits for it. There is no shell: the arguments
// are words. Everything it started is gone when run returns.
func (s *Server) run(ctx context.Context, actor string, args []string, limit time.Duration, event func(map[string]any)) (outcome, error) {
	var out outcome
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.Command(s.o.Pawl, args...) //nolint:noctx // pawl itself, with words of its own; it is ended by its group
	cmd.Dir, cmd.Env = s.o.Dir, append(slices.Clone(s.o.Environ), "PAWL_ACTOR=agent:"+actor)
	cmd.SysProcAttr = ownSession()
	stdout := &bounded{most: maxOutput}
	cmd.Stdout = stdout
	stderr, w, err := os.Pipe()
	if err != nil {
		return out, err
	}
	cmd.Stderr = w
	// What the command leaves behind may hold its streams; they are closed when it is gone.
	cmd.WaitDelay = 200 * time.Millisecond
	began := time.Now()
	err = cmd.Start()
	w.Close()
	if err != nil {
		stderr.Close()
		return out, err
	}
	said := make(chan string, 1)
	go func() { said <- listen(stderr, event) }()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err = <-done:
	case <-ctx.Done():
		out.limit = cancelled
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			out.limit = "time"
		}
		err = end(cmd.Process.Pid, done)
	}
	sweep(cmd.Process.Pid)
	// Unless something escaped, nobody holds its pipe any more.
	patient, enough := context.WithTimeout(ctx, 5*time.Second)
	defer enough()
	select {
	case out.said = <-said:
	case <-patient.Done(): // at once, where it was cancelled
		time.AfterFunc(100*time.Millisecond, func() { stderr.Close() })
		out.said = <-said
	}
	stderr.Close()
	out.seconds = time.Since(began).Seconds()
	out.stdout, out.cut = stdout.bytes()
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) && cmd.ProcessState == nil {
		return out, err
	}
	out.exit = cmd.ProcessState.ExitCode()
	return out, nil
}

// end asks a command to keep what was done and go, and makes it go.
func end(pid int, done <-chan error) error {
	_ = syscall.Kill(-pid, syscall.SIGINT)
	select {
	case err := <-done:
		return err
	case <-time.After(grace):
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		sweep(pid)
		return <-done
	}
}

// listen hands on the events among the lines, and keeps the end of the others.
func listen(r io.Reader, event func(map[string]any)) string {
	lines := bufio.NewReaderSize(r, maxLine)
	var rest []byte
	for {
		line, err := lines.ReadSlice('\n')
		if e := eventOf(line); e != nil {
			if event != nil {
				event(e)
			}
		} else if rest = append(rest, line...); len(rest) > 2*stderrTail {
			rest = append(rest[:0], rest[len(rest)-stderrTail:]...)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	return strings.ToValidUTF8(string(rest[max(0, len(rest)-stderrTail):]), "\uFFFD")
}

func eventOf(line []byte) map[string]any {
	if !bytes.HasPrefix(line, []byte(`{"event":`)) {
		return nil
	}
	var e map[string]any
	if json.Unmarshal(line, &e) != nil {
		return nil
	}
	return e
}

// bounded keeps the beginning of what is written to it, and takes all of it: a command
// that has much to say must not be stopped by it.
type bounded struct {
	mu   sync.Mutex
	most int
	buf  bytes.Buffer
	cut  bool
}

func (b *bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	room := b.most - b.buf.Len()
	if len(p) > room {
		b.cut = true
		b.buf.Write(p[:max(0, room)])
		return len(p), nil
	}
	return b.buf.Write(p)
}

func (b *bounded) bytes() ([]byte, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.buf.Bytes()), b.cut
}

// passed are the variables that a command gets: what finds programs, libraries, caches and
// devices. Nothing that git, make or a loader takes orders from is among them.
var passed = set(`PATH HOME USER LOGNAME LANG LC_ALL LC_CTYPE TZ TMPDIR TERM
XDG_CACHE_HOME XDG_CONFIG_HOME XDG_RUNTIME_DIR XDG_DATA_HOME XDG_STATE_HOME
CUDA_HOME CUDA_PATH CUDA_VISIBLE_DEVICES NVIDIA_VISIBLE_DEVICES LD_LIBRARY_PATH
CC CXX NVCC CCACHE_DIR VIRTUAL_ENV CONDA_PREFIX OCL_ICD_VENDORS POCL_CACHE_DIR
PAWL_SDK PAWL_CACHE PAWL_CACHE_SIZE PAWL_JOBS PAWL_LOCK_DIR PAWL_NVML_LIBRARY PAWL_NCU PAWL_SANDBOX PAWL_OPENCL`)

// CleanEnviron is what commands are started with: of the environment only what is needed,
// and on the path no folder of the repository, where an agent could put a git of its own.
func CleanEnviron(environ []string, top string) []string {
	var out []string
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if !passed[name] {
			continue
		}
		if name == "PATH" || name == "LD_LIBRARY_PATH" {
			value = outside(value, top)
		}
		out = append(out, name+"="+value)
	}
	return append(out, "GIT_TERMINAL_PROMPT=0", "NO_COLOR=1")
}

// outside are the folders of a list that are absolute and not in the repository.
func outside(list, top string) string {
	var keep []string
	for _, dir := range filepath.SplitList(list) {
		if !filepath.IsAbs(dir) || within(dir, top) {
			continue
		}
		if straight, err := filepath.EvalSymlinks(dir); err == nil && within(straight, top) {
			continue
		}
		keep = append(keep, dir)
	}
	return strings.Join(keep, string(filepath.ListSeparator))
}

func within(dir, top string) bool {
	rel, err := filepath.Rel(top, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
