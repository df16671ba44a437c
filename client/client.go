package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/failpoint"
)

// Client talks to one project of a server.
type Client struct {
	URL     string // base URL of the server
	Project string
	// Token returns the bearer token for one attempt. digest is the SHA-256, in hex, of the content to upload,
	// because a CI token is valid for one upload; it is empty for reads. It is called before every attempt. A nil
	// Token, or the result "", means an anonymous request.
	Token func(ctx context.Context, digest string) (string, error)
	HTTP  *http.Client // nil for the default client
	Agent string       // "pawl/1.2.3"
	// Now is time.Now if nil.
	Now func() time.Time
	// Sleep waits between attempts, and returns early when the context ends. Nil waits on a timer.
	Sleep func(context.Context, time.Duration) error
	// Patience is how long to keep trying an unreachable server. Zero means 5 minutes.
	Patience time.Duration
	// Say receives progress messages, one line each. It may be nil.
	Say func(string)
}

func (c *Client) now() time.Time { return timeBy(c.Now) }

// timeBy returns the time by a clock; nil is time.Now.
func timeBy(clock func() time.Time) time.Time {
	if clock == nil {
		return time.Now()
	}
	return clock()
}

func (c *Client) sleep(ctx context.Context, d time.Duration) error {
	if c.Sleep != nil {
		return c.Sleep(ctx, d)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// ErrUnavailable is wrapped by the error for a server that did not answer, or could not. The same request may
// succeed later.
var ErrUnavailable = errors.New("the server is not available now")

// Push sends a report and retries until the server has acknowledged it: first the blobs that the server
// lacks, then the report, always with the same key. The server stores the report once, however often Push
// is called.
//
// An error that wraps *ProblemError and not ErrUnavailable is final. An error that wraps ErrUnavailable is not.
func (c *Client) Push(ctx context.Context, p *Spooled) (Receipt, error) {
	receipt, err := c.push(ctx, p)
	if err != nil {
		return Receipt{}, fmt.Errorf("cannot send the report of run %s: %w", p.Run, err)
	}
	return receipt, nil
}

func (c *Client) push(ctx context.Context, p *Spooled) (Receipt, error) {
	if err := c.sendBlobs(ctx, p, p.Blobs); err != nil {
		return Receipt{}, err
	}
	receipt, err := c.sendReport(ctx, p)
	if problem, ok := errors.AsType[*ProblemError](err); ok && len(problem.Missing) > 0 { // garbage-collected while the others were sent
		lacking := slices.DeleteFunc(slices.Clone(p.Blobs), func(b Blob) bool { return !slices.Contains(problem.Missing, b.Digest) })
		if err := c.sendBlobs(ctx, p, lacking); err != nil {
			return Receipt{}, err
		}
		receipt, err = c.sendReport(ctx, p)
	}
	return receipt, err
}

func (c *Client) sendBlobs(ctx context.Context, p *Spooled, blobs []Blob) error {
	for _, b := range blobs {
		there, err := c.has(ctx, b)
		if err != nil {
			return err
		}
		if there {
			continue
		}
		c.say("sending %s (%s, %d bytes)", b.Name, b.Kind, b.Size)
		err = c.send(ctx, request{
			method: http.MethodPost, path: "blobs/" + b.Digest, digest: b.Digest, size: b.Size, media: "application/octet-stream",
			body: func() (io.ReadCloser, error) { return p.Open(b) },
		}, nil)
		if err != nil {
			return fmt.Errorf("send %s: %w", b.Name, err)
		}
		failpoint.At("push.blob-sent")
	}
	return nil
}

func (c *Client) has(ctx context.Context, b Blob) (bool, error) {
	err := c.send(ctx, request{method: http.MethodHead, path: "blobs/" + b.Digest, digest: b.Digest}, nil)
	if problem, ok := errors.AsType[*ProblemError](err); ok && problem.Status == http.StatusNotFound {
		return false, nil
	}
	return err == nil, err
}

func (c *Client) sendReport(ctx context.Context, p *Spooled) (Receipt, error) {
	var receipt Receipt
	err := c.send(ctx, request{
		method: http.MethodPost, path: "reports", digest: digestText(p.Body), key: p.Key, size: int64(len(p.Body)), media: "application/json",
		body: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(p.Body)), nil },
	}, &receipt)
	if err == nil && receipt.Run != p.Run {
		err = errors.New("not a pawl server: its receipt is not for this run")
	}
	failpoint.At("push.answered")
	return receipt, err
}

func (c *Client) say(format string, args ...any) {
	if c.Say != nil {
		c.Say(fmt.Sprintf(format, args...))
	}
}
