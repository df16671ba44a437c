package conformance

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Harness is a command that speaks the protocol.
type Harness struct {
	Command []string
	Dir     string
	Env     []string      // in addition to the environment of this process
	Timeout time.Duration // for one reply; 0 means two minutes
	Grace   time.Duration // for the exit after its input is closed; 0 means Timeout
}

// process is a running harness.
type process struct {
	cmd      *exec.Cmd
	requests *os.File // nil once closed
	replies  *bufio.Reader
	pipe     *os.File
	stderr   tail
	timeout  time.Duration
	grace    time.Duration
	ended    chan struct{}
}

// start runs a harness as pawl does: with two pipes on inherited descriptors, and in its own process group.
// The order of the descriptors differs from that of the variables, to detect a harness that assumes fixed
// numbers.
func start(ctx context.Context, h Harness) (*process, error) {
	requestReader, requestWriter, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting %q: %w", h.Command, err)
	}
	replyReader, replyWriter, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting %q: %w", h.Command, err), requestReader.Close(), requestWriter.Close())
	}
	p := &process{requests: requestWriter, pipe: replyReader, replies: bufio.NewReaderSize(replyReader, 1<<16), ended: make(chan struct{})}
	p.timeout = cmp.Or(h.Timeout, 2*time.Minute)
	p.grace = cmp.Or(h.Grace, p.timeout)
	p.cmd = exec.CommandContext(ctx, h.Command[0], h.Command[1:]...)
	p.cmd.Dir = h.Dir
	p.cmd.Env = append(append(os.Environ(), h.Env...), "PAWL_PROTOCOL=1", "PAWL_IN=4", "PAWL_OUT=3")
	p.cmd.ExtraFiles = []*os.File{replyWriter, requestReader}
	p.cmd.Stdout, p.cmd.Stderr = io.Discard, &p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Cancel = func() error { return syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }
	p.cmd.WaitDelay = 5 * time.Second
	err = p.cmd.Start()
	err = errors.Join(err, requestReader.Close(), replyWriter.Close())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting %q: %w", h.Command, err), requestWriter.Close(), replyReader.Close())
	}
	go func() {
		_ = p.cmd.Wait() // the status is in cmd.ProcessState
		close(p.ended)
	}()
	return p, nil
}

// stop kills the harness and everything it started.
func (p *process) stop() {
	p.close()
	select {
	case <-p.ended:
	default:
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // it may exit at the same moment
		<-p.ended
	}
	_ = p.pipe.Close()
}

func (p *process) close() {
	if p.requests != nil {
		_ = p.requests.Close()
		p.requests = nil
	}
}

func (p *process) send(line string) error {
	if p.requests == nil {
		return errors.New("cannot send after close")
	}
	if err := p.requests.SetWriteDeadline(time.Now().Add(p.timeout)); err != nil {
		return err
	}
	_, err := io.WriteString(p.requests, line+"\n")
	return err
}

// message reads the next message of the harness.
func (p *process) message() (map[string]any, error) {
	if err := p.pipe.SetReadDeadline(time.Now().Add(p.timeout)); err != nil {
		return nil, err
	}
	line, err := p.replies.ReadBytes('\n')
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fmt.Errorf("no reply within %v", p.timeout)
	case err != nil:
		<-p.afterEnd()
		return nil, fmt.Errorf("no reply: the harness closed its pipe (%s)", p.statusText())
	}
	var m map[string]any
	if err := json.Unmarshal(line, &m); err != nil || m == nil {
		return nil, fmt.Errorf("the reply is not a JSON object: %.200q", line)
	}
	return m, nil
}

// exit waits for the harness to exit and returns its status, or -1 for a signal.
func (p *process) exit() (int, error) {
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode(), nil
	case <-time.After(p.grace):
		return 0, fmt.Errorf("the harness did not exit within %v", p.grace)
	}
}

// afterEnd returns a channel that is closed when the harness exits, or after a minute: it may keep running
// without its pipe.
func (p *process) afterEnd() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-p.ended:
		case <-time.After(time.Minute):
		}
	}()
	return done
}

func (p *process) statusText() string {
	select {
	case <-p.ended:
		return p.cmd.ProcessState.String()
	default:
		return "still running"
	}
}

// tail keeps the last bytes written to it.
type tail struct {
	mu    sync.Mutex
	bytes []byte
}

const tailBytes = 4096

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes = append(t.bytes, b...)
	if extra := len(t.bytes) - tailBytes; extra > 0 {
		t.bytes = t.bytes[extra:]
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.bytes))
}
