package ledger

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/goatnote-inc/pawl/ratchet"
)

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
