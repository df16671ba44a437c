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
	Now   func() time.Time
	// Sleep waits between attempts. It must return early when the context ends.
	Sleep func(context.Context, time.Duration) error
	// Patience is how long to keep trying an unreachable server. Zero means 5 minutes.
	Patience time.Duration
	// Say receives progress messages, one line each. It may be nil.
	Say func(string)
}

// ErrUnavailable is wrapped by the error for a server that did not answer, or could not. The same request may
// succeed later.
var ErrUnavailable = errors.New("the server does not take it now")

// Push sends a report and retries until the server has acknowledged it: first the blobs that the server
// lacks, then the report, always with the same key. The server stores the report once, however often Push
// is called.
//
// An error that wraps *ProblemError and not ErrUnavailable is final. An error that wraps ErrUnavailable is not.
func (c *Client) Push(ctx context.Context, p *Spooled) (Receipt, error) {
	receipt, err := c.push(ctx, p)
	if err != nil {
		return Receipt{}, fmt.Errorf("send the report of run %s: %w", p.Run, err)
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
		err = errors.New("what answers is no pawl server: its receipt is not of this run")
	}
	failpoint.At("push.answered")
	return receipt, err
}

func (c *Client) say(format string, args ...any) {
	if c.Say != nil {
		c.Say(fmt.Sprintf(format, args...))
	}
}
