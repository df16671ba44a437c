package ledger

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/shell"
	"github.com/goatnote-inc/pawl/ratchet"
)

// repository runs git in a folder.
type repository struct{ dir string }

// safe prevents a repository's own settings from running programs, from collecting garbage during
// our work, and from leaving a ledger only in the page cache.
var safe = []string{
	"--no-replace-objects", "--literal-pathspecs", "--no-pager",
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "protocol.ext.allow=never",
	"-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.fsync=loose-object,pack,reference",
	"-c", "push.gpgSign=false", "-c", "push.followTags=false",
	"-c", "i18n.commitEncoding=UTF-8", "-c", "i18n.logOutputEncoding=UTF-8",
}

func (r repository) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", slices.Concat(safe, args)...)
	cmd.Dir = r.dir
	cmd.Env = append(shell.Environ(), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	cmd.WaitDelay = shell.Grace // child processes of git may hold the pipes open
	return cmd
}

// gitError is a failed git command with its output.
type gitError struct {
	command, text string
	code          int // exit code; -1 if git did not exit by itself
}

func (e *gitError) Error() string { return fmt.Sprintf("git %s: %s", e.command, e.text) }

// exitCode returns git's exit code, if err is a gitError.
func exitCode(err error) int {
	if e, ok := errors.AsType[*gitError](err); ok {
		return e.code
	}
	return -1
}

// run returns the exact output of a git command.
func (r repository) run(ctx context.Context, stdin []byte, env []string, args ...string) ([]byte, error) {
	cmd := r.command(ctx, args...)
	cmd.Env = append(cmd.Env, env...)
	out, said := &bounded{max: ratchet.MaxLedger + ratchet.MaxLine}, &bounded{max: 64 << 10}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), out, said
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("git %s: %w", args[0], ctx.Err())
	}
	if err != nil {
		failed := &gitError{command: args[0], text: strings.TrimSpace(said.String()), code: -1}
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			failed.code = exit.ExitCode()
		}
		if failed.text == "" {
			failed.text = err.Error()
		}
		return nil, failed
	}
	return out.Bytes(), nil
}

// line returns the single line that a git command prints.
func (r repository) line(ctx context.Context, args ...string) (string, error) {
	out, err := r.run(ctx, nil, nil, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// bounded is a buffer that fails writes beyond its limit.
type bounded struct {
	bytes.Buffer
	max int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.max {
		return 0, fmt.Errorf("the output is larger than %d bytes", b.max)
	}
	return b.Buffer.Write(p)
}

// blobs reads many objects through one git process.
type blobs struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (r repository) blobs(ctx context.Context) (*blobs, error) {
	b := &blobs{cmd: r.command(ctx, "cat-file", "--batch")}
	in, inErr := b.cmd.StdinPipe()
	out, outErr := b.cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr); err != nil {
		return nil, err
	}
	b.in, b.out = in, bufio.NewReader(out)
	return b, b.cmd.Start()
}

func (b *blobs) close() {
	_ = b.in.Close()
	_, _ = io.Copy(io.Discard, b.out)
	_ = b.cmd.Wait() // its exit status adds nothing
}

// get returns the content of a blob.
func (b *blobs) get(name string) ([]byte, error) {
	data, err := b.ask(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read version %.12s of the ledger: %w", name, err)
	}
	return data, nil
}

func (b *blobs) ask(name string) ([]byte, error) {
	if _, err := fmt.Fprintln(b.in, name); err != nil {
		return nil, err
	}
	head, err := b.out.ReadString('\n')
	if err != nil {
		return nil, err
	}
	var size int64
	fields := strings.Fields(head)
	if len(fields) != 3 || fields[1] != "blob" {
		return nil, fmt.Errorf("unexpected git output %q", strings.TrimSpace(head))
	}
	if _, err := fmt.Sscan(fields[2], &size); err != nil {
		return nil, err
	}
	if size > ratchet.MaxLedger+ratchet.MaxLine {
		return nil, fmt.Errorf("%d bytes is larger than a ledger can be", size)
	}
	data := make([]byte, size+1) // plus a newline
	if _, err := io.ReadFull(b.out, data); err != nil {
		return nil, err
	}
	return data[:size], nil
}
