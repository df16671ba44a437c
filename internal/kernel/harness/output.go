package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/shell"
)

// maxOutput bounds the bytes that a plain command may print or write to its file.
const maxOutput = 1 << 30

// Output runs a plain command, which does not speak the protocol, and returns its
// stdout. Its stderr goes to the log.
func Output(ctx context.Context, c Command) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := c.unchanged(); err != nil {
		return nil, err
	}
	witness, env, err := c.witness()
	if err != nil {
		return nil, err
	}
	defer witness.remove()
	tail := newTail(c.Log)
	cmd := shell.Command(ctx, c.Line, c.Dir, slices.Concat(c.Env, env))
	out := &boundedBuffer{limit: maxOutput, over: cancel}
	alive := newAlarm(c.Silence, cancel)
	defer alive.stop()
	cmd.Stdout, cmd.Stderr = io.MultiWriter(out, alive), io.MultiWriter(tail, alive)
	err = c.confined(cmd, func() error { return c.around(func() error { return c.runIn(cmd) }) })
	if cmd.Process != nil {
		_ = shell.Kill(cmd) // processes it left running would disturb the next round
	}
	if errors.Is(err, exec.ErrWaitDelay) && cmd.ProcessState.Success() {
		err = nil // it succeeded; a process it left behind held its output open
	}
	failure := &Error{Command: c.Line, Doing: "run", Stderr: tail.lastLines(12)}
	switch {
	case err == nil:
		if e := c.loaded(witness.files()...); e != nil {
			return nil, e
		}
		return out.Bytes(), nil
	case alive.rang(): // also during start
		failure.Kind, failure.Detail, failure.Hint = Hung, hungDetail(c.Silence), "a plain command must print something at least this often: if it needs longer, raise harness.timeout in the suite"
	case cmd.ProcessState == nil:
		failure.Kind, failure.Detail, failure.Hint = NotStarted, err.Error(), "check harness.command and the folder "+c.Dir
	case out.full:
		failure.Kind, failure.Detail = Garbage, fmt.Sprintf("more than %d MiB of output", maxOutput>>20)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("harness %q was stopped: %w", c.Line, context.Cause(ctx))
	default:
		p := process{cmd: cmd}
		failure.Kind, failure.Detail = Crashed, p.status()
	}
	return nil, failure
}

// around calls run, through Command.Around if it is set.
func (c Command) around(run func() error) error {
	if c.Around == nil {
		return run()
	}
	return c.Around(run)
}

// runIn runs the command, as part of Command.Tree if it is set.
func (c Command) runIn(cmd *exec.Cmd) error {
	if err := shell.Start(cmd); err != nil {
		return err
	}
	if c.Tree != nil {
		c.Tree.addRoot(cmd.Process.Pid)
	}
	return shell.Wait(cmd)
}

// RemoveStaleResult removes the result file of a plain command, so that an old file is never
// mistaken for its result.
func RemoveStaleResult(dir, file string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("cannot remove the previous result: %w", err)
	}
	defer root.Close()
	info, err := root.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && info.IsDir():
		err = removeStaleSamples(root, filepath.ToSlash(filepath.Clean(file)))
	case err == nil:
		err = root.Remove(file)
	}
	if err != nil {
		return fmt.Errorf("cannot remove the previous result: %w", err)
	}
	return nil
}

// removeStaleSamples removes the samples of criterion, the only tool whose result is a
// folder. It removes nothing else, because the suite may name any folder by mistake.
func removeStaleSamples(root *os.Root, folder string) error {
	return fs.WalkDir(root.FS(), folder, func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Base(name) != "sample.json" || path.Base(path.Dir(name)) != "new" {
			return err
		}
		return root.Remove(name)
	})
}

type boundedBuffer struct {
	bytes.Buffer
	limit int
	over  func()
	full  bool
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.limit {
		b.full = true
		b.over()
		return len(p), nil
	}
	return b.Buffer.Write(p)
}

// silenceTimer calls ring if nothing is written to it for a given time.
type silenceTimer struct {
	timer   *time.Timer
	silence time.Duration
	fired   chan struct{}
}

func newAlarm(silence time.Duration, ring func()) *silenceTimer {
	if silence <= 0 {
		silence = time.Minute
	}
	a := &silenceTimer{silence: silence, fired: make(chan struct{})}
	a.timer = time.AfterFunc(silence, func() {
		close(a.fired)
		ring()
	})
	return a
}

func (a *silenceTimer) Write(p []byte) (int, error) {
	if a.timer.Stop() { // false if it has fired
		a.timer.Reset(a.silence)
	}
	return len(p), nil
}

func (a *silenceTimer) rang() bool {
	select {
	case <-a.fired:
		return true
	default:
		return false
	}
}

func (a *silenceTimer) stop() { a.timer.Stop() }
