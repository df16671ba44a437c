package harness

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/shell"
)

// Command describes how to start a harness.
type Command struct {
	Line    string // run with sh -c
	Role    Role   // empty for a harness
	Dir     string
	Env     []string      // added to pawl's own environment
	Silence time.Duration // how long it may send nothing before it counts as hung
	Limit   time.Duration // max total time of one request; 0 means a multiple of Silence
	Grace   time.Duration // how long it may take to exit after bye; 0 means a minute
	Most    int           // max samples per request; 0 means millions
	Log     io.Writer     // receives its output; nil discards it
	// Alone is set for a program that runs only one implementation. The program may know it by its
	// own name, or as the candidate if it is built from the same harness.
	Alone bool
	// Loaded is called with every file of code that the process loads, as far as pawl can see:
	// programs, shared libraries, Python modules, launch files. An error ends the session. It may be
	// nil.
	Loaded func(file string) error
	// Confine puts the command into a sandbox before it starts; nil means none. It must keep the file
	// descriptors of the command. The returned function is called once the process has started.
	Confine func(cmd *exec.Cmd) (started func(), err error)
	// Unchanged is called before the process starts, while no other side runs. An error means that
	// the program is not what was built. It may be nil.
	Unchanged func() error
	// Around is called with a function that starts a plain command and waits for its end, to time it. It may be nil.
	Around func(run func() error) error
	// Tree receives the processes of the command, so that they can be stopped while others are timed.
	// It may be nil.
	Tree *Tree
}

// maxLine bounds a message, in bytes. A longer one is a bug or an attack.
const maxLine = 64 << 20

// exitGrace is how long a process may take to exit after its last message. On a busy machine Python takes seconds.
const exitGrace = time.Minute

// process is a running harness and its two pipes.
type process struct {
	cmd   *exec.Cmd
	in    *os.File      // requests are written here
	lines chan []byte   // received messages; closed at the end of the pipe
	fault chan error    // at most one error: a line that was too long
	done  chan struct{} // closed when the process has been waited for
	tail  *tailWriter
	once  sync.Once
	tree  *Tree

	witness *loadRecorder // nil if Command.Loaded is unset
}

func start(ctx context.Context, c Command, extra ...string) (p *process, err error) {
	if err := c.unchanged(); err != nil {
		return nil, err
	}
	witness, env, err := c.witness()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			witness.remove()
		}
	}()
	requestsOut, requestsIn, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("cannot create a pipe to the harness: %w", err)
	}
	repliesOut, repliesIn, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot create a pipe from the harness: %w", err), requestsOut.Close(), requestsIn.Close())
	}
	p = &process{tree: c.Tree, witness: witness, in: requestsIn, lines: make(chan []byte, 16), fault: make(chan error, 1), done: make(chan struct{}), tail: newTail(c.Log)}
	p.cmd = shell.Command(ctx, c.Line, c.Dir, slices.Concat(c.Env, env, extra))
	p.cmd.Stdout, p.cmd.Stderr = p.tail, p.tail
	p.cmd.ExtraFiles = []*os.File{requestsOut, repliesIn} // descriptors 3 and 4
	err = c.confined(p.cmd, func() error { return shell.Start(p.cmd) })
	closeErr := errors.Join(requestsOut.Close(), repliesIn.Close()) // the child has its own copies
	if err = errors.Join(err, closeErr); err != nil {
		return nil, errors.Join(err, requestsIn.Close(), repliesOut.Close())
	}
	if p.tree == nil {
		p.tree = new(Freezer).Tree("")
	}
	p.tree.addRoot(p.cmd.Process.Pid)
	go p.read(repliesOut)
	go func() {
		_ = shell.Wait(p.cmd) // the status is read from ProcessState
		close(p.done)
	}()
	return p, nil
}

// confined starts cmd, in the sandbox of c if one is set.
func (c Command) confined(cmd *exec.Cmd, start func() error) error {
	if c.Confine == nil {
		return start()
	}
	started, err := c.Confine(cmd)
	if err != nil {
		return err
	}
	defer started()
	return start()
}

// unchanged returns an error if the program to start is not what was built.
func (c Command) unchanged() error {
	if c.Unchanged == nil {
		return nil
	}
	if err := c.Unchanged(); err != nil {
		return &Error{
			Kind: Changed, Role: c.Role, Command: c.Line, Detail: printable(err.Error()),
			Hint: "a build or a harness may write only to its own folder, and to its build outputs only while it is built",
		}
	}
	return nil
}

func (p *process) read(replies *os.File) {
	defer replies.Close()
	defer close(p.lines)
	r := bufio.NewReaderSize(replies, 1<<16)
	for {
		line, err := readLine(r)
		if len(line) > 0 {
			p.lines <- line
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				p.fault <- err
			}
			return
		}
	}
}

var errLongLine = fmt.Errorf("a line of more than %d MiB", maxLine>>20)

func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, errLongLine
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		default:
			return bytes.TrimSpace(line), err
		}
	}
}

// kill kills the process and everything it started, and waits until it is gone.
func (p *process) kill() {
	p.once.Do(func() {
		p.tree.kill()
		_ = shell.Kill(p.cmd)
		_ = p.in.Close()
		go func() { // drain lines so that the reader can end
			for range p.lines {
			}
		}()
	})
	<-p.done
	p.witness.remove()
}

// status describes how the process ended.
func (p *process) status() string {
	state := p.cmd.ProcessState
	if state == nil {
		return "it is still running"
	}
	ws, ok := state.Sys().(syscall.WaitStatus)
	if ok && ws.Signaled() {
		return fmt.Sprintf("killed by signal %d (%v)", ws.Signal(), ws.Signal())
	}
	code := state.ExitCode()
	if signal := syscall.Signal(code - signalCodes); signal > 0 && signal < signalCodes/2 {
		return fmt.Sprintf("exit status %d (%v)", code, signal)
	}
	return fmt.Sprintf("exit status %d", code)
}

// signalCodes is the lowest exit code by which a shell or sandbox reports that its program was killed.
const signalCodes = 128

// tailWriter keeps the last lines that a harness prints and passes all output on.
type tailWriter struct {
	shell.Tail
	next io.Writer
}

func newTail(next io.Writer) *tailWriter {
	return &tailWriter{shell.Tail{Max: 4 << 10}, next}
}

func (t *tailWriter) Write(b []byte) (int, error) {
	_, _ = t.Tail.Write(b)
	if t.next != nil {
		_, _ = t.next.Write(b) // a full disk must not stop the measurement
	}
	return len(b), nil
}

// lastLines returns up to n lines, with control characters made visible.
func (t *tailWriter) lastLines(n int) string {
	lines := bytes.Split(bytes.TrimSpace(t.Bytes()), []byte{'\n'})
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return printable(string(bytes.Join(lines, []byte{'\n'})))
}
